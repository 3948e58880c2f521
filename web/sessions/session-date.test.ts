import { expect, test } from 'vitest'
import { formatMonth, parseSessionDay } from './session-date.ts'

test.each([
  '2026-01-31',
  '20260131',
  '2026_01_31',
  '2026.01.31',
  '2026-01-31_20-15-00',
  '2026-01-31T20:15:00Z',
  '20260131-201500',
])('%s is Saturday, 31 January 2026', (date) => {
  expect(parseSessionDay(date)).toEqual({
    isoDate: '2026-01-31',
    month: '2026-01',
    weekday: 'Saturday',
  })
})

test.each([
  '',
  'late night',
  '2026-02-30',
  '2026-13-01',
  '2026-01-3',
  '2026-01_31',
  '202601311',
  '1769890500000',
  ' 2026-01-31',
])('%j is not a day', (date) => {
  expect(parseSessionDay(date)).toBeUndefined()
})

test('reads leap days', () => {
  expect(parseSessionDay('2024-02-29')?.weekday).toBe('Thursday')
  expect(parseSessionDay('2025-02-29')).toBeUndefined()
})

test('formats a month in words', () => {
  expect(formatMonth('2026-02')).toBe('February 2026')
})
