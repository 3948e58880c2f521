import { expect, test } from 'vitest'
import { findNearNames } from './near-names.ts'

test.each([
  ['alcie', ['alice', 'bob'], ['alice']],
  ['Alice', ['alicia', 'alice'], ['alice', 'alicia']],
  ['zoe', ['zoé', 'alice'], ['zoé']],
  ['dora', ['alice', 'bob'], []],
  ['2026-01-31/101', ['2026-01-31/1001', '2026-02-01/9'], ['2026-01-31/1001']],
  ['a', [], []],
])('near %s of %j: %j', (wanted, names, near) => {
  expect(findNearNames(wanted, names)).toEqual(near)
})
