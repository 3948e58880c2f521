// The orders of the lists: natural order is total, and ties are broken by code unit.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareNatural, compareSessions, sortStreamers } from './ordering.ts'

test('sorts streamers case-insensitively, then by code unit', () => {
  const sorted = sortStreamers(
    ['bob', 'Alice', 'alice', 'ALICE', 'Zoë', 'zoe'].map((name) => ({ name, recording_count: 1 })),
  )
  expect(sorted.map(({ name }) => name)).toEqual(['ALICE', 'Alice', 'alice', 'bob', 'zoe', 'Zoë'])
})

test('sorts sessions by date, newest first, then by id in natural order, last first', () => {
  const sessions = [
    '2026-01-30 10',
    '2026-01-31 9',
    '2026-01-31 10',
    '2026-01-31 part2',
    '20260131 1',
  ]
    .map((text) => text.split(' '))
    .map(([date = '', sessionId = '']) => ({ date, sessionId }))
  expect(sessions.toSorted(compareSessions).map((s) => `${s.date} ${s.sessionId}`)).toEqual([
    '20260131 1',
    '2026-01-31 part2',
    '2026-01-31 10',
    '2026-01-31 9',
    '2026-01-30 10',
  ])
})

test('compares runs of digits of any length as numbers', () => {
  const ids = [
    'a10',
    'a9',
    'a09',
    'a1',
    'a',
    'a99999999999999999999999',
    'a100000000000000000000000',
    'b',
  ]
  expect(ids.toSorted(compareNatural)).toEqual([
    'a',
    'a1',
    'a09',
    'a9',
    'a10',
    'a99999999999999999999999',
    'a100000000000000000000000',
    'b',
  ])
})

test('natural order is total: antisymmetric, transitive, 0 only for equal strings', () => {
  const id = fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', '-', 'é'), maxLength: 8 })
  fc.assert(
    fc.property(id, id, id, (a, b, c) => {
      expect(Math.sign(compareNatural(a, b))).toBe(-Math.sign(compareNatural(b, a)) || 0)
      expect(compareNatural(a, b) === 0).toBe(a === b)
      const [first = '', middle = '', last = ''] = [a, b, c].toSorted(compareNatural)
      expect(compareNatural(first, middle)).toBeLessThanOrEqual(0)
      expect(compareNatural(middle, last)).toBeLessThanOrEqual(0)
      expect(compareNatural(first, last)).toBeLessThanOrEqual(0)
    }),
    { numRuns: 2000 },
  )
})
