import { expect, test } from 'vitest'
import { describeGrowth } from './growth.ts'

test('a recording is identified by at most 64 KiB of its first segment, if that is final', () => {
  const rangeOf = (stableSplitPoints: number, from: number, to: number) => {
    const { stableRange, ...rest } = describeGrowth(stableSplitPoints, { from, to })
    expect(rest).toEqual({ stableSplitPoints })
    return [stableRange.offset, stableRange.length]
  }
  expect(rangeOf(1, 100, 300)).toEqual([0, 0])
  expect(rangeOf(2, 100, 300)).toEqual([100, 200])
  expect(rangeOf(9, 1, 65_536)).toEqual([1, 65_535])
  expect(rangeOf(9, 1, 99_999)).toEqual([1, 65_536])
})
