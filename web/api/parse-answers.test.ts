import { expect, test } from 'vitest'
import { parseSessions, parseStreamers } from './parse-answers.ts'

test('reads streamers, and no more of them than the page uses', () => {
  const answer = { streamers: [{ name: 'alice', recording_count: 2, path: '/secret' }], total: 1 }
  expect(parseStreamers(answer)).toEqual([{ name: 'alice', recording_count: 2 }])
})

test('reads sessions with and without a duration', () => {
  const answer = [
    { date: '2026-01-31', sessionId: '1', duration: '0:04:05' },
    { date: '2026-01-31', sessionId: '2', duration: null },
    { date: '2026-01-31', sessionId: '3' },
  ]
  expect(parseSessions(answer)).toEqual([
    { date: '2026-01-31', sessionId: '1', duration: '0:04:05' },
    { date: '2026-01-31', sessionId: '2' },
    { date: '2026-01-31', sessionId: '3' },
  ])
})

test.each([null, [], 'no', { streamers: 1 }, { streamers: [null] }, { streamers: [{ name: 1 }] }])(
  'refuses %j as streamers',
  (answer) => {
    expect(() => parseStreamers(answer)).toThrow(TypeError)
  },
)

test.each([null, {}, [1], [{ date: '2026-01-31' }]])('refuses %j as sessions', (answer) => {
  expect(() => parseSessions(answer)).toThrow(TypeError)
})
