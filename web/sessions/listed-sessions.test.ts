import { expect, test } from 'vitest'
import { describeSessions, filterSessions, groupByMonth, listMonths } from './listed-sessions.ts'

const sessions = describeSessions(
  [
    { date: '2026-02-01', sessionId: '1002', duration: '0:04:05' },
    { date: '2026-02-01', sessionId: 'Late Night' },
    { date: '2026-01-31', sessionId: '1001' },
    { date: 'pilot', sessionId: '1' },
    { date: '20260130', sessionId: '7' },
  ],
  [
    {
      date: '2026-02-01',
      sessionId: 'Late Night',
      title: 'Cafe\u0301 run',
      game: 'Go',
      growing: true,
    },
    { date: '2026-01-31', sessionId: '1001', title: 'Speed 1002' },
    { date: '2026-01-31', sessionId: 'gone', title: 'x' },
  ],
)

function find(query: string, month = ''): string[] {
  return filterSessions(sessions, { query, month }).map(({ sessionId }) => sessionId)
}

test('adds title, state and day to each session', () => {
  expect(sessions[1]).toEqual({
    date: '2026-02-01',
    sessionId: 'Late Night',
    title: 'Cafe\u0301 run',
    game: 'Go',
    isGrowing: true,
    day: { isoDate: '2026-02-01', month: '2026-02', weekday: 'Sunday' },
  })
  expect(sessions[0]).toMatchObject({ duration: '0:04:05', isGrowing: false })
  expect(sessions[0]).not.toHaveProperty('title')
  expect(sessions[3]?.day).toBeUndefined()
})

test('finds title, date and id, case-insensitive, in any normal form', () => {
  expect(find(' 1002 ')).toEqual(['1002', '1001'])
  expect(find('LATE')).toEqual(['Late Night'])
  expect(find('caf\u00E9')).toEqual(['Late Night'])
  expect(find('2026-0')).toEqual(['1002', 'Late Night', '1001'])
  expect(find('nothing')).toEqual([])
})

test('finds the words of a day, from their start', () => {
  expect(find('Sunday')).toEqual(['1002', 'Late Night'])
  expect(find('fri')).toEqual(['7'])
  expect(find('january')).toEqual(['1001', '7'])
  expect(find(' saturday  JAN 2026')).toEqual(['1001'])
  expect(find('1 feb')).toEqual(['1002', 'Late Night'])
  expect(find('day')).toEqual([])
  expect(find('sunday january')).toEqual([])
})

test('restricts the search to a month', () => {
  expect(find('', '2026-02')).toEqual(['1002', 'Late Night'])
  expect(find('1002', '2026-01')).toEqual(['1001'])
  expect(find('', 'other')).toEqual(['1'])
})

test('returns the same array without a filter', () => {
  expect(filterSessions(sessions, { query: ' ', month: '' })).toBe(sessions)
})

test('lists each month once, in the order of the sessions', () => {
  expect(listMonths(sessions)).toEqual([
    { value: '2026-02', label: 'February 2026' },
    { value: '2026-01', label: 'January 2026' },
    { value: 'other', label: 'Other dates' },
  ])
})

test('groups consecutive sessions of a month, with unique keys', () => {
  const groups = groupByMonth(sessions)
  expect(groups.map(({ label, start, end }) => [label, start, end])).toEqual([
    ['February 2026', 0, 2],
    ['January 2026', 2, 3],
    ['Other dates', 3, 4],
    ['January 2026', 4, 5],
  ])
  expect(new Set(groups.map(({ key }) => key)).size).toBe(4)
  expect(groupByMonth([])).toEqual([])
})
