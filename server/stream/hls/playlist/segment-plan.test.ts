import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_FORCED,
  SPLIT_KEY_FRAME,
  SPLIT_REQUIRED,
  SPLIT_UNREADABLE,
} from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import { longestGrowingSeconds, planGrowingSegments, planSegments } from './segment-plan.ts'
import type { GrowthRules, PlannedSegment, SegmentDurations } from './segment-plan.ts'

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

function ranges(
  splitPoints: SplitPointTable,
  segmentSeconds = 6,
  startSegmentSeconds?: number,
): [number, number][] {
  const { segments } = planSegments(splitPoints, { segmentSeconds, startSegmentSeconds })
  return segments.map(({ from, to }) => [from, to])
}

const hasAny = (flags: number, wanted: number) => (flags & wanted) !== 0
const KEY_OR_JUMP = SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY

/** Tables with any flags, in milliseconds, often at the limits of the rules. */
const anyTable: fc.Arbitrary<SplitPointTable> = fc
  .array(
    fc.record({
      gapMs: fc.oneof(
        fc.integer({ min: 1, max: 9000 }),
        fc.integer({ min: 1, max: 12 }).map((seconds) => seconds * 1000),
        fc.constantFrom(500, 900, 1900, 5900, 15_000, 30_000),
      ),
      flags: fc.oneof(
        fc.constantFrom(SPLIT_KEY_FRAME, 0, SPLIT_FORCED, SPLIT_KEY_FRAME | SPLIT_UNREADABLE),
        fc.integer({ min: 0, max: 31 }),
      ),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((points) => {
    const ends: number[] = []
    for (const { gapMs } of points) ends.push((ends.at(-1) ?? 0) + gapMs)
    return {
      timescale: 1000,
      startTicks: Float64Array.from([0, ...ends.slice(0, -1)]),
      endTicks: ends.at(-1) ?? 0,
      flags: Uint8Array.from(points, ({ flags }) => flags),
    }
  })

const anyDurations: fc.Arbitrary<SegmentDurations> = fc.record(
  {
    segmentSeconds: fc.integer({ min: 1, max: 12 }),
    startSegmentSeconds: fc.integer({ min: 1, max: 12 }),
  },
  { requiredKeys: ['segmentSeconds'] },
)

/** The segments between starts, from the definition of each field. */
function segmentsBetween(table: SplitPointTable, starts: readonly number[], end: number) {
  const flags = [...table.flags]
  const ticks = [...table.startTicks, table.endTicks]
  return starts.map((from, i): PlannedSegment => {
    const to = starts[i + 1] ?? end
    return {
      from,
      to,
      startTicks: ticks[from] ?? NaN,
      endTicks: ticks[to] ?? NaN,
      followsDiscontinuity: from > 0 && hasAny(flags[from] ?? 0, SPLIT_DISCONTINUITY),
      ...(!flags.slice(from, to).some((each) => !hasAny(each, SPLIT_UNREADABLE)) && {
        isGap: true,
      }),
    }
  })
}

/** Neither a key frame nor a discontinuity. */
function isOnlyForced({ flags }: SplitPointTable, at: number): boolean {
  return ((flags[at] ?? 0) & (SPLIT_FORCED | KEY_OR_JUMP)) === SPLIT_FORCED
}

/** Whether a regular segment may start at a split point, by all split points around it. */
function mayStart(table: SplitPointTable, at: number): boolean {
  const { startTicks } = table
  const flags = [...table.flags]
  if (isOnlyForced(table, at)) return false
  if (hasAny(flags[at] ?? 0, KEY_OR_JUMP)) return true
  const hasVideo = flags.some((each) => hasAny(each, SPLIT_KEY_FRAME))
  const isJoined = flags.some(
    (each, i) =>
      i <= at && hasAny(each, KEY_OR_JUMP) && (startTicks[at] ?? 0) - (startTicks[i] ?? 0) < 30_000,
  )
  const next = flags.findIndex((each, i) => i > at && hasAny(each, KEY_OR_JUMP | SPLIT_FORCED))
  return !(hasVideo && isJoined) && !(next !== -1 && isOnlyForced(table, next))
}

/** A rounding error less than configured. */
function modelLeastMs(
  number: number,
  { segmentSeconds, startSegmentSeconds = segmentSeconds }: SegmentDurations,
): number {
  const seconds = [startSegmentSeconds, 2 * startSegmentSeconds][number] ?? segmentSeconds
  return 1000 * Math.min(seconds, segmentSeconds) - 100
}

/** Each start is the first split point after the last one that may or must start a segment. */
function modelStarts(table: SplitPointTable, durations: SegmentDurations): number[] {
  const points = [...table.startTicks].map((ticks, at) => ({ ticks, at }))
  const starts = [0]
  for (;;) {
    const last = starts.at(-1) ?? 0
    const leastMs = modelLeastMs(starts.length - 1, durations)
    const next = points.find(
      ({ ticks, at }) =>
        at > last &&
        (hasAny(table.flags[at] ?? 0, SPLIT_DISCONTINUITY | SPLIT_REQUIRED) ||
          (mayStart(table, at) && ticks - (table.startTicks[last] ?? 0) >= leastMs)),
    )
    if (next === undefined) return starts
    starts.push(next.at)
  }
}

/** Whether each segment with video starts with a key frame. */
function isModelIndependent({ flags }: SplitPointTable, starts: readonly number[]): boolean {
  if (!flags.some((each) => hasAny(each, SPLIT_KEY_FRAME))) return true
  return starts.every(
    (start) =>
      hasAny(flags[start] ?? 0, SPLIT_KEY_FRAME) ||
      !flags.subarray(start).some((each) => hasAny(each, KEY_OR_JUMP | SPLIT_FORCED)),
  )
}

/** Where the last segment ends, by all split points that are known. */
function modelEnd(
  table: SplitPointTable,
  starts: readonly number[],
  rules: GrowthRules,
): number | undefined {
  const from = starts.at(-1) ?? 0
  const leastMs = modelLeastMs(starts.length - 1, rules)
  const count = table.flags.length
  const ticks = [...table.startTicks, table.endTicks]
  const last = rules.finishedBytes === undefined ? rules.stableSplitPoints - 1 : count
  const later = ticks
    .map((each, at) => ({ at, ms: each - (ticks[from] ?? 0) }))
    .filter(({ at }) => at > from && at <= last)
  const tooLate = later.find(({ ms }) => ms > rules.longestSeconds * 1000)
  const inTime = later.filter(({ at }) => at < (tooLate?.at ?? Infinity))
  const isForced = (at: number) => at < count && isOnlyForced(table, at)
  const end = inTime.find(
    ({ at, ms }) =>
      at === count ||
      hasAny(table.flags[at] ?? 0, SPLIT_DISCONTINUITY | SPLIT_REQUIRED) ||
      (!isForced(at) && ms >= leastMs),
  )
  if (end !== undefined || tooLate === undefined) return end?.at
  const best = inTime.findLast(({ at }) => !isForced(at)) ?? inTime.at(-1) ?? tooLate
  return best.at
}

describe('planSegments', () => {
  it('starts segments by the rules, for any table', () => {
    fc.assert(
      fc.property(anyTable, anyDurations, (table, durations) => {
        const starts = modelStarts(table, durations)
        expect(planSegments(table, durations)).toEqual({
          timescale: 1000,
          segments: segmentsBetween(table, starts, table.flags.length),
          isIndependent: isModelIndependent(table, starts),
        })
      }),
      { numRuns: 400 },
    )
  })

  it('starts a session with segments of the first duration and of twice that', () => {
    const gops = splitPointTable(
      Array.from({ length: 10 }, (_, i) => i),
      10,
    )
    expect(ranges(gops, 6, 2)).toEqual([
      [0, 2],
      [2, 6],
      [6, 10],
    ])
    expect(ranges(gops, 3, 2).slice(0, 2)).toEqual([
      [0, 2],
      [2, 5],
    ])
    expect(ranges(gops, 4, 9)).toEqual(ranges(gops, 4))
  })

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
    expect(planSegments(table, { segmentSeconds: 6 }).isIndependent).toBe(false)
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
    const { segments } = planSegments(table, { segmentSeconds: 6 })
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
      { segmentSeconds: 6 },
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
      planSegments(splitPointTable([0, 6, 12], 13, [SPLIT_KEY_FRAME, SPLIT_KEY_FRAME, 0]), {
        segmentSeconds: 6,
      }).isIndependent,
    ).toBe(true)
    expect(
      planSegments(splitPointTable([0, 6, 12], 13, [0, 0, 0]), { segmentSeconds: 6 }).isIndependent,
    ).toBe(true)
    expect(
      planSegments(
        splitPointTable([0, 6, 12], 13, [SPLIT_KEY_FRAME, SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME]),
        { segmentSeconds: 6 },
      ).isIndependent,
    ).toBe(false)
  })

  it('calls no segments independent if video after the last key frame needs earlier frames', () => {
    for (const flags of [SPLIT_DISCONTINUITY, SPLIT_FORCED]) {
      const splitPoints = splitPointTable([0, 6, 45, 51], 60, [SPLIT_KEY_FRAME, flags, 0, 0])
      const plan = planSegments(splitPoints, { segmentSeconds: 6 })
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
    expect(planSegments(splitPoints, { segmentSeconds: 6 }).isIndependent).toBe(true)
  })
})

describe('planGrowingSegments', () => {
  const growing = (
    splitPoints: SplitPointTable,
    stableSplitPoints: number | undefined,
    durations: SegmentDurations = { segmentSeconds: 6 },
  ): [number, number][] =>
    planGrowingSegments(splitPoints, {
      ...durations,
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
        anyDurations,
        (later, durations) => {
          const starts = [0]
          for (const { milliseconds } of later)
            starts.push((starts.at(-1) ?? 0) + milliseconds / 1000)
          const end = starts.pop() ?? 0
          const flags = [SPLIT_KEY_FRAME, ...later.slice(0, -1).map((each) => each.flags)]
          const splitPoints = splitPointTable(starts, end, flags)
          const all = growing(splitPoints, undefined, durations)
          expect(all.flat()[0]).toBe(0)
          expect(all.at(-1)?.[1]).toBe(starts.length)
          all.slice(1).forEach(([from], i) => expect(from).toBe(all[i]?.[1]))
          for (let stable = 0; stable <= starts.length; stable += 1) {
            const listed = growing(splitPoints, stable, durations)
            expect(listed).toEqual(all.slice(0, listed.length))
            expect(listed.every(([, to]) => to < stable)).toBe(true)
          }
        },
      ),
    )
  })

  it('ends segments by the rules, for any table and any known part of it', () => {
    const known = fc.record({ stable: fc.nat(31), isFinished: fc.boolean() })
    const lengths = fc.tuple(anyDurations, fc.nat(8))
    fc.assert(
      fc.property(anyTable, known, lengths, (table, { stable, isFinished }, [durations, more]) => {
        const count = table.flags.length
        const rules = {
          ...durations,
          longestSeconds: durations.segmentSeconds + more,
          stableSplitPoints: Math.min(stable, count),
          finishedBytes: isFinished ? 1000 : undefined,
        }
        const starts = [0]
        for (;;) {
          const end = modelEnd(table, starts, rules)
          if (end === undefined) break
          starts.push(end)
          if (end === count) break
        }
        const end = starts.pop() ?? 0
        const segments = segmentsBetween(table, starts, end)
        expect(planGrowingSegments(table, rules)).toEqual({
          timescale: 1000,
          segments: segments.map((segment) => ({
            ...segment,
            ...(isFinished && segment.to >= rules.stableSplitPoints && { tailBytes: 1000 }),
          })),
          isIndependent: false,
        })
      }),
      { numRuns: 400 },
    )
  })

  it('gives other bytes another number or tail, however often a recording continues', () => {
    const lives = fc.array(fc.record({ more: fc.nat(4), isFinished: fc.boolean() }), {
      minLength: 2,
      maxLength: 8,
    })
    fc.assert(
      fc.property(anyTable, lives, (table, states) => {
        const contents = new Map<string, string>()
        let stable = 0
        states.forEach(({ more, isFinished }, state) => {
          stable = Math.min(stable + more, table.flags.length)
          const { segments } = planGrowingSegments(table, {
            segmentSeconds: 2,
            longestSeconds: 12,
            stableSplitPoints: stable,
            finishedBytes: isFinished ? 1000 + state : undefined,
          })
          segments.forEach(({ from, to, tailBytes }, number) => {
            const address = `${number} ${tailBytes ?? ''}`
            // What ends at or after the last stable split point has later bytes of this state.
            const content = `${from} ${to} ${to < stable ? '' : state}`
            expect(contents.get(address) ?? content).toBe(content)
            contents.set(address, content)
          })
        })
      }),
    )
  })
})

describe('longestGrowingSeconds', () => {
  it('is two segments in whole seconds, at least 12', () => {
    expect([1, 5.9, 6, 6.1, 6.5, 10].map(longestGrowingSeconds)).toEqual([12, 12, 12, 13, 13, 20])
  })
})
