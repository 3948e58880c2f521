import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_FORCED,
  SPLIT_KEY_FRAME,
  SPLIT_REQUIRED,
  SPLIT_UNREADABLE,
} from '../../media/media-index.ts'
import type { SplitPointTable } from '../../media/media-index.ts'
import { planGrowingSegments, planSegments } from './segment-plan.ts'

function splitPointTable(
  startSeconds: number[],
  endSeconds: number,
  flags?: number[],
): SplitPointTable {
  const timescale = 90_000
  return {
    timescale,
    startTicks: Float64Array.from(startSeconds, (seconds) => Math.round(seconds * timescale)),
    endTicks: Math.round(endSeconds * timescale),
    flags: Uint8Array.from(startSeconds, (_, i) => flags?.[i] ?? SPLIT_KEY_FRAME),
  }
}

function ranges(splitPoints: SplitPointTable, segmentSeconds = 6): [number, number][] {
  return planSegments(splitPoints, segmentSeconds).segments.map(({ from, to }) => [from, to])
}

describe('planSegments', () => {
  it('adds GOPs until a segment is long enough', () => {
    expect(ranges(splitPointTable([0, 2, 4, 6, 8, 10, 12], 14))).toEqual([
      [0, 3],
      [3, 6],
      [6, 7],
    ])
  })

  it('tolerates a rounding error in the configured length', () => {
    expect(ranges(splitPointTable([0, 1.9999, 3.9998, 5.9997, 7.9996], 10))).toEqual([
      [0, 3],
      [3, 5],
    ])
  })

  it('plans one long segment if there is no key frame for minutes', () => {
    expect(ranges(splitPointTable([0, 300], 302))).toEqual([
      [0, 1],
      [1, 2],
    ])
  })

  it('starts a segment at a required split, even if it is forced, which is not independent', () => {
    const flags = [SPLIT_KEY_FRAME, SPLIT_FORCED, SPLIT_FORCED | SPLIT_REQUIRED, SPLIT_FORCED]
    const table = splitPointTable([0, 600, 1200, 1800], 2400, flags)
    expect(ranges(table)).toEqual([
      [0, 2],
      [2, 4],
    ])
    expect(planSegments(table, 6).isIndependent).toBe(false)
    const growing = planGrowingSegments(table, {
      segmentSeconds: 6,
      longestSeconds: 5000,
      stableSplitPoints: 4,
    })
    expect(growing.segments.map(({ from, to }) => [from, to])).toEqual([[0, 2]])
  })

  it('plans a gap where nothing is readable, and none where something is', () => {
    const table = splitPointTable([0, 6, 12, 14, 18], 24, [
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME | SPLIT_UNREADABLE,
      SPLIT_KEY_FRAME | SPLIT_UNREADABLE,
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
    ])
    const { segments } = planSegments(table, 6)
    expect(segments.map(({ from, to, isGap }) => [from, to, isGap])).toEqual([
      [0, 1, undefined],
      [1, 2, true],
      [2, 4, undefined],
      [4, 5, undefined],
    ])
  })

  it('starts a segment at a discontinuity, however short the previous one is', () => {
    const plan = planSegments(
      splitPointTable([0, 2, 3, 9], 10, [
        SPLIT_KEY_FRAME,
        SPLIT_KEY_FRAME,
        SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
        SPLIT_KEY_FRAME,
      ]),
      6,
    )
    expect(
      plan.segments.map(({ from, to, followsDiscontinuity }) => [from, to, followsDiscontinuity]),
    ).toEqual([
      [0, 2, false],
      [2, 3, true],
      [3, 4, false],
    ])
  })

  it('extends the previous segment by up to half a minute without video', () => {
    const seconds = Array.from({ length: 50 }, (_, i) => i)
    const flags = seconds.map((second) => (second % 2 === 0 && second < 8 ? SPLIT_KEY_FRAME : 0))
    expect(ranges(splitPointTable(seconds, 50, flags))).toEqual([
      [0, 6],
      [6, 36],
      [36, 42],
      [42, 48],
      [48, 50],
    ])
    const pause = splitPointTable([0, 6, 7, 20, 26], 30, [
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
      0,
      0,
      SPLIT_KEY_FRAME,
    ])
    expect(ranges(pause)).toEqual([
      [0, 1],
      [1, 4],
      [4, 5],
    ])
  })

  it('calls segments independent if each starts with a key frame or has audio only', () => {
    expect(
      planSegments(splitPointTable([0, 6, 12], 13, [SPLIT_KEY_FRAME, SPLIT_KEY_FRAME, 0]), 6)
        .isIndependent,
    ).toBe(true)
    expect(planSegments(splitPointTable([0, 6, 12], 13, [0, 0, 0]), 6).isIndependent).toBe(true)
    expect(
      planSegments(
        splitPointTable([0, 6, 12], 13, [SPLIT_KEY_FRAME, SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME]),
        6,
      ).isIndependent,
    ).toBe(false)
  })

  it('calls no segments independent if video after the last key frame needs earlier frames', () => {
    for (const flags of [SPLIT_DISCONTINUITY, SPLIT_FORCED]) {
      const splitPoints = splitPointTable([0, 6, 45, 51], 60, [SPLIT_KEY_FRAME, flags, 0, 0])
      const plan = planSegments(splitPoints, 6)
      const isBegun = plan.segments.some(({ from }) => from === 1)
      expect(isBegun).toBe(flags === SPLIT_DISCONTINUITY)
      expect(plan.isIndependent).toBe(!isBegun)
    }
  })

  it('starts no segment with audio before video that needs earlier frames', () => {
    const flags = [SPLIT_KEY_FRAME, SPLIT_FORCED, 0, 0, SPLIT_FORCED, SPLIT_KEY_FRAME, 0, 0]
    const splitPoints = splitPointTable([0, 10, 40, 50, 60, 70, 110, 120], 130, flags)
    expect(ranges(splitPoints)).toEqual([
      [0, 5],
      [5, 6],
      [6, 7],
      [7, 8],
    ])
    expect(planSegments(splitPoints, 6).isIndependent).toBe(true)
  })

  it('covers every split point once, without gaps', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 30 }), (milliseconds, segmentSeconds) => {
        const starts = [0]
        for (const gap of milliseconds) starts.push((starts.at(-1) ?? 0) + gap / 1000)
        const end = starts.pop() ?? 0
        const splitPoints = splitPointTable(starts, end)
        const { segments } = planSegments(splitPoints, segmentSeconds)
        expect(segments[0]).toMatchObject({ from: 0, startTicks: 0 })
        expect(segments.at(-1)).toMatchObject({ to: starts.length, endTicks: splitPoints.endTicks })
        segments.slice(1).forEach((segment, i) => {
          expect(segment.from).toBe(segments[i]?.to)
          expect(segment.startTicks).toBe(segments[i]?.endTicks)
        })
      }),
    )
  })
})

describe('planGrowingSegments', () => {
  const growing = (
    splitPoints: SplitPointTable,
    stableSplitPoints: number | undefined,
    segmentSeconds = 6,
  ): [number, number][] =>
    planGrowingSegments(splitPoints, {
      segmentSeconds,
      longestSeconds: 12,
      stableSplitPoints: stableSplitPoints ?? splitPoints.flags.length,
      finishedBytes: stableSplitPoints === undefined ? 1000 : undefined,
    }).segments.map(({ from, to }) => [from, to])

  it('marks the last segments of a finished recording, which would change if it continued', () => {
    const splitPoints = splitPointTable([0, 6, 12, 18], 20)
    const rules = {
      segmentSeconds: 6,
      longestSeconds: 12,
      stableSplitPoints: 3,
      finishedBytes: 1000,
    }
    const { segments } = planGrowingSegments(splitPoints, rules)
    expect(segments.map(({ tailBytes }) => tailBytes)).toEqual([undefined, undefined, 1000, 1000])
  })

  it('lists a segment once the split point that ends it is stable', () => {
    const splitPoints = splitPointTable([0, 2, 4, 6, 8], 9)
    expect(growing(splitPoints, 3)).toEqual([])
    expect(growing(splitPoints, 4)).toEqual([[0, 3]])
    expect(growing(splitPoints, undefined)).toEqual([
      [0, 3],
      [3, 5],
    ])
  })

  it('ends a segment early at a key frame if the next one is too far', () => {
    const splitPoints = splitPointTable([0, 4, 13, 19], 20)
    expect(growing(splitPoints, 2)).toEqual([])
    expect(growing(splitPoints, 3)).toEqual([
      [0, 1],
      [1, 2],
    ])
    expect(growing(splitPoints, undefined)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ])
  })

  it('splits without a key frame if there is none within the target duration', () => {
    const mids = [0, 5, 7, 9, 11, 13, 15, 24]
    const flags = mids.map((seconds) =>
      seconds === 0 || seconds === 24 ? SPLIT_KEY_FRAME : SPLIT_FORCED,
    )
    const splitPoints = splitPointTable(mids, 26, flags)
    expect(growing(splitPoints, 5)).toEqual([])
    expect(growing(splitPoints, 6)).toEqual([[0, 4]])
    expect(growing(splitPoints, undefined)).toEqual([
      [0, 4],
      [4, 6],
      [6, 7],
      [7, 8],
    ])
    // A finished recording that was not listed while growing has no such limit.
    expect(ranges(splitPoints)).toEqual([
      [0, 7],
      [7, 8],
    ])
  })

  it('never changes a listed segment, and covers all in the end', () => {
    const splitPoint = fc.record({
      milliseconds: fc.integer({ min: 1, max: 15_000 }),
      flags: fc.constantFrom(
        SPLIT_KEY_FRAME,
        SPLIT_KEY_FRAME,
        0,
        SPLIT_FORCED,
        SPLIT_DISCONTINUITY,
        SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
      ),
    })
    fc.assert(
      fc.property(
        fc.array(splitPoint, { minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 6 }),
        (later, segmentSeconds) => {
          const starts = [0]
          for (const { milliseconds } of later)
            starts.push((starts.at(-1) ?? 0) + milliseconds / 1000)
          const end = starts.pop() ?? 0
          const flags = [SPLIT_KEY_FRAME, ...later.slice(0, -1).map((each) => each.flags)]
          const splitPoints = splitPointTable(starts, end, flags)
          const all = growing(splitPoints, undefined, segmentSeconds)
          expect(all.flat()[0]).toBe(0)
          expect(all.at(-1)?.[1]).toBe(starts.length)
          all.slice(1).forEach(([from], i) => expect(from).toBe(all[i]?.[1]))
          for (let stable = 0; stable <= starts.length; stable += 1) {
            const listed = growing(splitPoints, stable, segmentSeconds)
            expect(listed).toEqual(all.slice(0, listed.length))
            expect(listed.every(([, to]) => to < stable)).toBe(true)
          }
        },
      ),
    )
  })
})
