// Decides which cuts become segments. Pure: the same index and setting give the same plan everywhere.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, SPLIT_FORCED } from '../../media/media-index.ts'
import type { SplitPointRange, SplitPointTable } from '../../media/media-index.ts'

/** One segment of a playlist. */
export interface PlannedSegment extends SplitPointRange {
  startTicks: number
  endTicks: number
  /** A discontinuity lies in front of it. */
  isBreak: boolean
  /**
   * Of the last one of a recording that grew: the file's size. Where the recording goes on after all, another segment
   * takes its place, which must not have its name.
   */
  tailBytes?: number | undefined
}

/** All segments of a recording, in order. */
export interface SegmentPlan {
  timescale: number
  segments: readonly PlannedSegment[]
  /** Every segment can be decoded alone (EXT-X-INDEPENDENT-SEGMENTS). */
  isIndependent: boolean
}

/** A cut this little before the wished length counts: 2 s of 29.97 frames a second are 1.9999 s. */
const TOLERANCE_SECONDS = 0.1

/**
 * A stretch without pictures belongs to the segment in front of it for so long: players want both in every segment, and
 * what is short needs no picture then that was not recorded.
 */
const MAX_JOINED_SECONDS = 30

/**
 * Plans segments of at least `segmentSeconds` each, begun at cuts; a break always begins one. The last one, and those
 * before a break, may be shorter; those with sound that outlasts the pictures may be longer.
 */
export function planSegments(splitPoints: SplitPointTable, segmentSeconds: number): SegmentPlan {
  const minimumTicks = (segmentSeconds - TOLERANCE_SECONDS) * splitPoints.timescale
  const starts = segmentStarts(splitPoints, minimumTicks)
  const segments = starts.map((from, i): PlannedSegment => {
    const to = starts[i + 1] ?? splitPoints.startTicks.length
    return {
      from,
      to,
      startTicks: splitPoints.startTicks[from] ?? 0,
      endTicks: splitPoints.startTicks[to] ?? splitPoints.endTicks,
      isBreak: hasFlag(splitPoints, from, SPLIT_DISCONTINUITY) && from > 0,
    }
  })
  return {
    timescale: splitPoints.timescale,
    segments,
    isIndependent: !hasVideo(splitPoints) || startsWithKeys(splitPoints, starts),
  }
}

function hasVideo({ flags }: SplitPointTable): boolean {
  return flags.some((each) => (each & SPLIT_KEY_FRAME) !== 0)
}

function segmentStarts(splitPoints: SplitPointTable, minimumTicks: number): number[] {
  const starts: number[] = []
  const joinedTicks = hasVideo(splitPoints) ? MAX_JOINED_SECONDS * splitPoints.timescale : 0
  let lastTicks = -Infinity
  let frameTicks = -Infinity
  splitPoints.startTicks.forEach((ticks, i) => {
    if (isMidOnly(splitPoints, i)) return
    if (hasFlag(splitPoints, i, SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY)) frameTicks = ticks
    else if (ticks - frameTicks < joinedTicks) return
    if (
      i === 0 ||
      ticks - lastTicks >= minimumTicks ||
      hasFlag(splitPoints, i, SPLIT_DISCONTINUITY)
    ) {
      starts.push(i)
      lastTicks = ticks
    }
  })
  return starts
}

/** Behind the last key frame there is only sound, which needs none. */
function startsWithKeys(splitPoints: SplitPointTable, starts: readonly number[]): boolean {
  const lastKey = splitPoints.flags.findLastIndex((flags) => (flags & SPLIT_KEY_FRAME) !== 0)
  return starts.every((start) => start > lastKey || hasFlag(splitPoints, start, SPLIT_KEY_FRAME))
}

/** A place that only growing playlists need. */
function isMidOnly(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return (
    splitPoint > 0 &&
    hasFlag(splitPoints, splitPoint, SPLIT_FORCED) &&
    !hasFlag(splitPoints, splitPoint, SPLIT_DISCONTINUITY | SPLIT_KEY_FRAME)
  )
}

function hasFlag(splitPoints: SplitPointTable, splitPoint: number, flag: number): boolean {
  return ((splitPoints.flags[splitPoint] ?? 0) & flag) !== 0
}

/** A playlist that grows promises at least this; long groups of pictures are cut. */
const LEAST_PROMISE_SECONDS = 12

/** The longest segment of a session that grows, whatever comes (EXT-X-TARGETDURATION): it never changes. */
export function longestGrowingSeconds(segmentSeconds: number): number {
  return Math.max(LEAST_PROMISE_SECONDS, Math.ceil(2 * segmentSeconds))
}

/** What a playlist that grows has promised, and how much of the recording is known to stay. */
export interface GrowthRules {
  /** Segments are at least so long, but where a longer one would break the promise. */
  segmentSeconds: number
  /** No segment is longer, where there is any cut to prevent it. */
  longestSeconds: number
  /** As in Growth. */
  stableSplitPoints: number
  /** Of a recording that is finished: its size. Then all of it is listed. */
  finishedBytes?: number | undefined
}

/**
 * Plans the segments that may be listed by now. What a shorter recording's plan held stands unchanged in front of a
 * longer one's: a segment's end depends only on cuts up to the promised length behind its start, and on stable ones.
 */
export function planGrowingSegments(splitPoints: SplitPointTable, rules: GrowthRules): SegmentPlan {
  const segments: PlannedSegment[] = []
  let from = 0
  while (from < splitPoints.flags.length) {
    const to = segmentEnd(splitPoints, from, rules)
    if (to === undefined) break
    const isTail = rules.finishedBytes !== undefined && to >= rules.stableSplitPoints
    segments.push({
      from,
      to,
      startTicks: ticksOf(splitPoints, from),
      endTicks: ticksOf(splitPoints, to),
      isBreak: from > 0 && hasFlag(splitPoints, from, SPLIT_DISCONTINUITY),
      ...(isTail && { tailBytes: rules.finishedBytes }),
    })
    from = to
  }
  return { timescale: splitPoints.timescale, segments, isIndependent: false }
}

/** Where the segment that begins at a cut ends; undefined while that cannot be told. */
function segmentEnd(
  splitPoints: SplitPointTable,
  from: number,
  rules: GrowthRules,
): number | undefined {
  const count = splitPoints.flags.length
  const lastKnown = rules.finishedBytes === undefined ? rules.stableSplitPoints - 1 : count
  const startTicks = ticksOf(splitPoints, from)
  let latestWhole: number | undefined
  let latestMid: number | undefined
  for (let splitPoint = from + 1; splitPoint <= lastKnown; splitPoint += 1) {
    const seconds = (ticksOf(splitPoints, splitPoint) - startTicks) / splitPoints.timescale
    // A key frame is the better place, and any is better than a broken promise.
    if (seconds > rules.longestSeconds) return latestWhole ?? latestMid ?? splitPoint
    if (splitPoint === count || hasFlag(splitPoints, splitPoint, SPLIT_DISCONTINUITY))
      return splitPoint
    if (isMidOnly(splitPoints, splitPoint)) latestMid = splitPoint
    else if (seconds >= rules.segmentSeconds - TOLERANCE_SECONDS) return splitPoint
    else latestWhole = splitPoint
  }
  return undefined
}

function ticksOf(splitPoints: SplitPointTable, splitPoint: number): number {
  return splitPoints.startTicks[splitPoint] ?? splitPoints.endTicks
}
