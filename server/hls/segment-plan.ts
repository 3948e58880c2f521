// Decides which cuts become segments. Pure: the same index and setting give the same plan everywhere.
import { CUT_BREAK, CUT_KEY } from '../media/media-index.ts'
import type { CutRange, CutTable } from '../media/media-index.ts'

/** One segment of a playlist. */
export interface PlannedSegment extends CutRange {
  startTicks: number
  endTicks: number
  /** A discontinuity lies in front of it. */
  isBreak: boolean
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
 * Plans segments of at least `segmentSeconds` each, begun at cuts; a break always begins one. The last one, and those
 * before a break, may be shorter.
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
  const hasKeys = cuts.flags.some((flags) => (flags & CUT_KEY) !== 0)
  return {
    timescale: cuts.timescale,
    segments,
    isIndependent: !hasKeys || startsWithKeys(cuts, starts),
  }
}

function segmentStarts(cuts: CutTable, minimumTicks: number): number[] {
  const starts: number[] = []
  let lastTicks = -Infinity
  cuts.startTicks.forEach((ticks, i) => {
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

function hasFlag(cuts: CutTable, cut: number, flag: number): boolean {
  return ((cuts.flags[cut] ?? 0) & flag) !== 0
}
