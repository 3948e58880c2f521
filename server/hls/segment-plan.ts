// Decides which cuts become segments. Pure: the same index and setting give the same plan everywhere.
import { CUT_BREAK, CUT_KEY, CUT_MID } from '../media/media-index.ts'
import type { CutRange, CutTable } from '../media/media-index.ts'

/** One segment of a playlist. */
export interface PlannedSegment extends CutRange {
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
export function planSegments(cuts: CutTable, segmentSeconds: number): SegmentPlan {
  const minimumTicks = (segmentSeconds - TOLERANCE_SECONDS) * cuts.timescale
  const starts = segmentStarts(cuts, minimumTicks)
  const segments = starts.map((from, i): PlannedSegment => {
    const to = starts[i + 1] ?? cuts.startTicks.length
    return {
      from,
      to,
      startTicks: cuts.startTicks[from] ?? 0,
      endTicks: cuts.startTicks[to] ?? cuts.endTicks,
      isBreak: hasFlag(cuts, from, CUT_BREAK) && from > 0,
    }
  })
  return {
    timescale: cuts.timescale,
    segments,
    isIndependent: !hasPictures(cuts) || startsWithKeys(cuts, starts),
  }
}

function hasPictures({ flags }: CutTable): boolean {
  return flags.some((each) => (each & CUT_KEY) !== 0)
}

function segmentStarts(cuts: CutTable, minimumTicks: number): number[] {
  const starts: number[] = []
  const joinedTicks = hasPictures(cuts) ? MAX_JOINED_SECONDS * cuts.timescale : 0
  let lastTicks = -Infinity
  let pictureTicks = -Infinity
  cuts.startTicks.forEach((ticks, i) => {
    if (isMidOnly(cuts, i)) return
    if (hasFlag(cuts, i, CUT_KEY | CUT_BREAK)) pictureTicks = ticks
    else if (ticks - pictureTicks < joinedTicks) return
    if (i === 0 || ticks - lastTicks >= minimumTicks || hasFlag(cuts, i, CUT_BREAK)) {
      starts.push(i)
      lastTicks = ticks
    }
  })
  return starts
}

/** Behind the last key frame there is only sound, which needs none. */
function startsWithKeys(cuts: CutTable, starts: readonly number[]): boolean {
  const lastKey = cuts.flags.findLastIndex((flags) => (flags & CUT_KEY) !== 0)
  return starts.every((start) => start > lastKey || hasFlag(cuts, start, CUT_KEY))
}

/** A place that only growing playlists need. */
function isMidOnly(cuts: CutTable, cut: number): boolean {
  return cut > 0 && hasFlag(cuts, cut, CUT_MID) && !hasFlag(cuts, cut, CUT_BREAK | CUT_KEY)
}

function hasFlag(cuts: CutTable, cut: number, flag: number): boolean {
  return ((cuts.flags[cut] ?? 0) & flag) !== 0
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
  stableCuts: number
  /** Of a recording that is finished: its size. Then all of it is listed. */
  finishedBytes?: number | undefined
}

/**
 * Plans the segments that may be listed by now. What a shorter recording's plan held stands unchanged in front of a
 * longer one's: a segment's end depends only on cuts up to the promised length behind its start, and on stable ones.
 */
export function planGrowingSegments(cuts: CutTable, rules: GrowthRules): SegmentPlan {
  const segments: PlannedSegment[] = []
  let from = 0
  while (from < cuts.flags.length) {
    const to = segmentEnd(cuts, from, rules)
    if (to === undefined) break
    const isTail = rules.finishedBytes !== undefined && to >= rules.stableCuts
    segments.push({
      from,
      to,
      startTicks: ticksOf(cuts, from),
      endTicks: ticksOf(cuts, to),
      isBreak: from > 0 && hasFlag(cuts, from, CUT_BREAK),
      ...(isTail && { tailBytes: rules.finishedBytes }),
    })
    from = to
  }
  return { timescale: cuts.timescale, segments, isIndependent: false }
}

/** Where the segment that begins at a cut ends; undefined while that cannot be told. */
function segmentEnd(cuts: CutTable, from: number, rules: GrowthRules): number | undefined {
  const count = cuts.flags.length
  const lastKnown = rules.finishedBytes === undefined ? rules.stableCuts - 1 : count
  const startTicks = ticksOf(cuts, from)
  let latestWhole: number | undefined
  let latestMid: number | undefined
  for (let cut = from + 1; cut <= lastKnown; cut += 1) {
    const seconds = (ticksOf(cuts, cut) - startTicks) / cuts.timescale
    // A key frame is the better place, and any is better than a broken promise.
    if (seconds > rules.longestSeconds) return latestWhole ?? latestMid ?? cut
    if (cut === count || hasFlag(cuts, cut, CUT_BREAK)) return cut
    if (isMidOnly(cuts, cut)) latestMid = cut
    else if (seconds >= rules.segmentSeconds - TOLERANCE_SECONDS) return cut
    else latestWhole = cut
  }
  return undefined
}

function ticksOf(cuts: CutTable, cut: number): number {
  return cuts.startTicks[cut] ?? cuts.endTicks
}
