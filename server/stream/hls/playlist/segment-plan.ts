// Chooses the split points that start segments. Pure: equal input gives an equal plan on each node.
import {
  SPLIT_DISCONTINUITY,
  SPLIT_FORCED,
  SPLIT_KEY_FRAME,
  SPLIT_REQUIRED,
  SPLIT_UNREADABLE,
} from '../../../media/media-index.ts'
import type { SplitPointRange, SplitPointTable } from '../../../media/media-index.ts'

/** One segment of a playlist. */
export interface PlannedSegment extends SplitPointRange {
  startTicks: number
  endTicks: number
  followsDiscontinuity: boolean
  /** It cannot be created (EXT-X-GAP). */
  isGap?: boolean | undefined
  /**
   * The file's size, in the last segment of a finished recording that was listed while it was
   * growing. If the recording continues, a longer segment replaces it and must not have its name.
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

/** Flags that only split points of video have. */
const VIDEO_FLAGS = SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY | SPLIT_FORCED

/** A segment may be shorter than configured by this: 2 s at 29.97 frames a second are 1.9999 s. */
const TOLERANCE_SECONDS = 0.1

/**
 * Audio without video frames is part of the previous segment for up to this long: players expect
 * both in each segment, and no frame has to be repeated.
 */
const MAX_JOINED_SECONDS = 30

/** Durations in seconds after which the next key frame ends a segment. */
export interface SegmentDurations {
  segmentSeconds: number
  /**
   * Of the first segment, and half of the second one's, so that a player soon has a picture. Never
   * more than `segmentSeconds`, which is the default.
   */
  startSegmentSeconds?: number | undefined
}

/**
 * Plans segments of at least these durations. A discontinuity always starts one, so the segment
 * before it may be shorter, as may the last one. One with audio after its last frame may be longer.
 */
export function planSegments(
  splitPoints: SplitPointTable,
  durations: SegmentDurations,
): SegmentPlan {
  const starts = segmentStarts(splitPoints, durations)
  const segments = starts.map((from, i): PlannedSegment => {
    const to = starts[i + 1] ?? splitPoints.startTicks.length
    return {
      from,
      to,
      startTicks: splitPoints.startTicks[from] ?? 0,
      endTicks: splitPoints.startTicks[to] ?? splitPoints.endTicks,
      followsDiscontinuity: hasFlag(splitPoints, from, SPLIT_DISCONTINUITY) && from > 0,
      ...(isGap(splitPoints, { from, to }) && { isGap: true }),
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

/** @param number of the segment in the plan */
function leastSeconds(
  number: number,
  { segmentSeconds, startSegmentSeconds = segmentSeconds }: SegmentDurations,
): number {
  const seconds = number < 2 ? startSegmentSeconds * (number + 1) : segmentSeconds
  return Math.min(seconds, segmentSeconds) - TOLERANCE_SECONDS
}

function segmentStarts(splitPoints: SplitPointTable, durations: SegmentDurations): number[] {
  const starts: number[] = []
  const joinedTicks = hasVideo(splitPoints) ? MAX_JOINED_SECONDS * splitPoints.timescale : 0
  const inGop = isInGop(splitPoints)
  let lastTicks = -Infinity
  let frameTicks = -Infinity
  splitPoints.startTicks.forEach((ticks, i) => {
    const mustStart = i === 0 || hasFlag(splitPoints, i, SPLIT_DISCONTINUITY | SPLIT_REQUIRED)
    if (isForcedOnly(splitPoints, i) && !mustStart) return
    if (hasFlag(splitPoints, i, SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY)) frameTicks = ticks
    else if (!mustStart && (ticks - frameTicks < joinedTicks || inGop[i] === 1)) return
    const seconds = (ticks - lastTicks) / splitPoints.timescale
    if (mustStart || seconds >= leastSeconds(starts.length - 1, durations)) {
      starts.push(i)
      lastTicks = ticks
    }
  })
  return starts
}

/** After the last split point of video there is only audio, which needs no key frame. */
function startsWithKeys(splitPoints: SplitPointTable, starts: readonly number[]): boolean {
  const lastVideo = splitPoints.flags.findLastIndex((flags) => (flags & VIDEO_FLAGS) !== 0)
  return starts.every((start) => start > lastVideo || hasFlag(splitPoints, start, SPLIT_KEY_FRAME))
}

/**
 * Whether the video continues within its GOP after each split point: then a segment of audio alone
 * must not start there, because its frames would need earlier ones.
 */
function isInGop(splitPoints: SplitPointTable): Uint8Array {
  const inGop = new Uint8Array(splitPoints.flags.length)
  for (let at = inGop.length - 2; at >= 0; at -= 1) {
    const isVideo = hasFlag(splitPoints, at + 1, VIDEO_FLAGS)
    inGop[at] = isVideo ? Number(isForcedOnly(splitPoints, at + 1)) : (inGop[at + 1] ?? 0)
  }
  return inGop
}

function isGap({ flags }: SplitPointTable, { from, to }: SplitPointRange): boolean {
  return flags.subarray(from, to).every((each) => (each & SPLIT_UNREADABLE) !== 0)
}

/** A split point for growing playlists, or where a segment would be too large. */
function isForcedOnly(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return (
    hasFlag(splitPoints, splitPoint, SPLIT_FORCED) &&
    !hasFlag(splitPoints, splitPoint, SPLIT_DISCONTINUITY | SPLIT_KEY_FRAME)
  )
}

function hasFlag(splitPoints: SplitPointTable, splitPoint: number, flag: number): boolean {
  return ((splitPoints.flags[splitPoint] ?? 0) & flag) !== 0
}

/** Least EXT-X-TARGETDURATION of a growing playlist; longer GOPs are split. */
const MIN_TARGET_SECONDS = 12

/** EXT-X-TARGETDURATION of growing playlists. It must not change, whatever is recorded later. */
export function longestGrowingSeconds(segmentSeconds: number): number {
  return Math.max(MIN_TARGET_SECONDS, Math.ceil(2 * segmentSeconds))
}

/** Limits of a growing playlist, and how much of the recording is final. */
export interface GrowthRules extends SegmentDurations {
  /** No segment is longer if there is a split point to end it. */
  longestSeconds: number
  /** As in `Growth`. */
  stableSplitPoints: number
  /** Size of a finished recording. Then all of it is listed. */
  finishedBytes?: number | undefined
}

/**
 * Plans the segments that may be listed now. The plan of a longer version of the recording starts
 * with exactly these segments: the end of a segment depends only on stable split points, up to
 * `longestSeconds` after its start.
 */
export function planGrowingSegments(splitPoints: SplitPointTable, rules: GrowthRules): SegmentPlan {
  const segments: PlannedSegment[] = []
  let from = 0
  while (from < splitPoints.flags.length) {
    const to = segmentEnd(splitPoints, from, {
      ...rules,
      least: leastSeconds(segments.length, rules),
    })
    if (to === undefined) break
    // Only a finished recording has one.
    const isTail = to >= rules.stableSplitPoints
    segments.push({
      from,
      to,
      startTicks: ticksOf(splitPoints, from),
      endTicks: ticksOf(splitPoints, to),
      followsDiscontinuity: from > 0 && hasFlag(splitPoints, from, SPLIT_DISCONTINUITY),
      ...(isGap(splitPoints, { from, to }) && { isGap: true }),
      ...(isTail && { tailBytes: rules.finishedBytes }),
    })
    from = to
  }
  return { timescale: splitPoints.timescale, segments, isIndependent: false }
}

/** Where the segment that starts at `from` ends; undefined while it is not final. */
function segmentEnd(
  splitPoints: SplitPointTable,
  from: number,
  rules: GrowthRules & { least: number },
): number | undefined {
  const count = splitPoints.flags.length
  const lastKnown = rules.finishedBytes === undefined ? rules.stableSplitPoints - 1 : count
  const startTicks = ticksOf(splitPoints, from)
  let latestRegular: number | undefined
  let latestForced: number | undefined
  for (let splitPoint = from + 1; splitPoint <= lastKnown; splitPoint += 1) {
    const seconds = (ticksOf(splitPoints, splitPoint) - startTicks) / splitPoints.timescale
    // A key frame is best, but any split point is better than a segment that is too long.
    if (seconds > rules.longestSeconds) return latestRegular ?? latestForced ?? splitPoint
    if (
      splitPoint === count ||
      hasFlag(splitPoints, splitPoint, SPLIT_DISCONTINUITY | SPLIT_REQUIRED)
    )
      return splitPoint
    if (isForcedOnly(splitPoints, splitPoint)) latestForced = splitPoint
    else if (seconds >= rules.least) return splitPoint
    else latestRegular = splitPoint
  }
  return undefined
}

function ticksOf(splitPoints: SplitPointTable, splitPoint: number): number {
  return splitPoints.startTicks[splitPoint] ?? splitPoints.endTicks
}
