import { describe, expect, it } from 'vitest'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_FORCED,
  SPLIT_KEY_FRAME,
  SPLIT_REQUIRED,
} from '../media-index.ts'
import {
  MAX_SECTIONS,
  MAX_SPLIT_POINTS,
  checkSections,
  checkSplitPoints,
  describeGrowth,
  findSection,
  firstOf,
  isStartOpen,
  moveLastStart,
  secondsAt,
  sectionOf,
  tableOf,
} from './split-points.ts'

describe('limits', () => {
  it.each([
    ['split-points', MAX_SPLIT_POINTS, checkSplitPoints],
    ['discontinuities', MAX_SECTIONS, checkSections],
  ] as const)('%s: the list may have as many, and no more', (limit, max, check) => {
    expect(() => check(max - 1)).not.toThrow()
    const reason = { code: 'limit-exceeded', limit, max }
    expect(() => check(max)).toThrow(expect.objectContaining({ reason }))
  })
})

describe('isStartOpen()', () => {
  it('lets frames be shown before a frame that is no key frame', () => {
    expect(isStartOpen(SPLIT_FORCED, 9, 5)).toBe(true)
    // A scan that continues has the flags of the index, with those of the limits.
    expect(isStartOpen(SPLIT_FORCED | SPLIT_REQUIRED, 9, 5)).toBe(true)
    expect(isStartOpen(0, 5, 5)).toBe(false)
    expect(isStartOpen(undefined, 5, 5)).toBe(false)
  })

  it('lets leading frames follow a key frame, until a later frame is shown', () => {
    expect(isStartOpen(SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY, 5, 5)).toBe(true)
    expect(isStartOpen(SPLIT_KEY_FRAME, 6, 5)).toBe(false)
  })
})

describe('moveLastStart()', () => {
  it.each([
    ['back to the frame', { starts: [0, 10], ticks: 7, moved: 7 }],
    ['not past the split point before it', { starts: [0, 5, 10], ticks: 3, moved: 6 }],
    ['not forward', { starts: [0, 10], ticks: 12, moved: 10 }],
    ['not before the session', { starts: [10], ticks: -5, moved: 0 }],
  ])('moves the start %s', (_, { starts, ticks, moved }) => {
    expect(moveLastStart(starts, ticks)).toBe(moved)
    expect(starts.at(-1)).toBe(moved)
  })

  it('has no lowest time on the clock of the recording', () => {
    expect(moveLastStart([10], -5, -Infinity)).toBe(-5)
  })
})

it('a split point is in the last section that begins at it or before it', () => {
  const sections = [{ firstSplitPoint: 1 }, { firstSplitPoint: 4 }]
  expect([1, 3, 4, 9].map((at) => findSection(sections, at)?.firstSplitPoint)).toEqual([1, 1, 4, 4])
  expect(sectionOf({ sections }, 4)).toBe(sections[1])
  expect(findSection(sections, 0)).toBeUndefined()
  expect(() => sectionOf({ sections }, 0)).toThrow('the index is corrupt')
})

it('a position is in the last split point before it', () => {
  const splitPoints = { offsets: [100, 200], startTicks: [0, 90], timescale: 30 }
  expect([0, 100, 199, 200, 999].map((at) => secondsAt(at, splitPoints))).toEqual([0, 0, 0, 3, 3])
})

it('a table ends after its last split point', () => {
  const lists = { startTicks: [0, 90], flags: [SPLIT_KEY_FRAME, SPLIT_FORCED] }
  expect(tableOf(lists, { timescale: 30, endTicks: 80 })).toEqual({
    timescale: 30,
    startTicks: Float64Array.of(0, 90),
    endTicks: 91,
    flags: Uint8Array.of(SPLIT_KEY_FRAME, SPLIT_FORCED),
  })
  expect(tableOf(lists, { timescale: 30, endTicks: 120 }).endTicks).toBe(120)
})

it('a scan continues with the first entries of a stored list', () => {
  expect(firstOf(Float64Array.of(1, 2, 3), 2)).toEqual([1, 2])
})

it('a recording is identified by at most 64 KiB of its first segment, if that is final', () => {
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
