// The orders of the lists: natural order is total, and ties are broken by code unit.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  compareNatural,
  compareSessions,
  compareStreamers,
  compareText,
  findSorted,
  sortStreamers,
} from './ordering.ts'

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

/** The same by runs: numbers without leading zeros, and single code units. */
function modelNatural(a: string, b: string): number {
  const runs = (text: string) => text.match(/\d+|\D/g) ?? []
  const [runsA, runsB] = [runs(a), runs(b)]
  for (const [i, run] of runsA.entries()) {
    const other = runsB[i]
    if (other === undefined) return 1
    const areNumbers = /\d/.test(run) && /\d/.test(other)
    const [left, right] = areNumbers ? [BigInt(run), BigInt(other)] : [run[0] ?? '', other[0] ?? '']
    if (left !== right) return left < right ? -1 : 1
  }
  if (runsA.length < runsB.length) return -1
  return a === b ? 0 : a < b ? -1 : 1
}

test('natural order compares numbers and code units', () => {
  const id = fc.string({ unit: fc.constantFrom('0', '0', '1', '9', '/', ':', 'a'), maxLength: 6 })
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(Math.sign(compareNatural(a, b)), `${a} ${b}`).toBe(modelNatural(a, b))
    }),
    { numRuns: 1000 },
  )
})

test('finds a name in any sorted list, or its place', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'B', 'b', '_', 'D', 'e'), { maxLength: 6 })
  fc.assert(
    fc.property(names, fc.constantFrom('A', 'a', 'b', 'C', 'd', 'e', 'f'), (all, name) => {
      const list = sortStreamers(all.map((each) => ({ name: each, recording_count: 1 })))
      const { at, found } = findSorted(list, { name }, compareStreamers)
      expect(found).toEqual(list.find((item) => item.name === name))
      expect(at).toBe(list.filter((item) => compareStreamers(item, { name }) < 0).length)
      expect(list).toEqual(list.toSorted(compareStreamers))
    }),
  )
})

test('compares text by code unit', () => {
  expect([compareText('a', 'b'), compareText('b', 'a'), compareText('a', 'a')]).toEqual([-1, 1, 0])
})
