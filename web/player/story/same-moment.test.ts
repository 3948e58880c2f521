import { expect, test } from 'vitest'
import { momentIn, sharedTime } from './same-moment.ts'

test.each([
  ['begins later', { offsetSeconds: 30.5, durationSeconds: 100 }, { from: 30.5, to: 120 }],
  ['began before', { offsetSeconds: -50, durationSeconds: 100 }, { from: 0, to: 50 }],
])('a session that %s shares a part', (_, other, shared) => {
  expect(sharedTime(other, 120)).toEqual(shared)
})

test.each([
  [0, 0],
  [30, 0],
  [60, 29],
  [119, 88],
  [120, 88],
])('at %d s, a session that begins at 30.5 s is at %d s', (seconds, moment) => {
  const other = { offsetSeconds: 30.5, durationSeconds: 100 }
  expect(momentIn(other, sharedTime(other, 120), seconds)).toBe(moment)
})

test('a session that has ended is at its last second', () => {
  const other = { offsetSeconds: -50, durationSeconds: 100 }
  expect(momentIn(other, sharedTime(other, 120), 90)).toBe(99)
})
