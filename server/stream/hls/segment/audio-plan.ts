// Decides which AAC frames of transcoded audio a segment has, and which packets they need. Pure.
import { SPLIT_DISCONTINUITY, secondsFromTicks } from '../../../media/media-index.ts'
import type { SplitPointRange, SplitPointTable } from '../../../media/media-index.ts'
import {
  FRAME_SAMPLES,
  LOOK_AHEAD_FRAMES,
  OVERLAP_SECONDS,
} from '../../../decode/audio/audio-job.ts'

/** Audio that is read before a split point: shared by both sides, plus as much decoder pre-roll. */
export const LEAD_IN_SECONDS = OVERLAP_SECONDS * 2
/** Most distance between audio and video that are interleaved; beyond it there is silence. */
const MAX_LAG_SECONDS = 10

/** Split point ranges that are read for a segment's audio. */
export interface AudioRanges {
  /** Start of the lead-in; the segment's first split point if the audio restarts there. */
  leadIn: number
  /** Lead-in of the next segment; undefined if the audio restarts there or it is the end. */
  nextLeadIn: number | undefined
  /** Adjacent ranges from `leadIn` to the segment's end, divided at all points above. */
  ranges: SplitPointRange[]
}

/** The ranges to read for a segment's audio. */
export function planAudioRanges(
  splitPoints: SplitPointTable,
  { from, to }: SplitPointRange,
): AudioRanges {
  const leadIn = leadInSplitPoint(splitPoints, from)
  const nextLeadIn = restarts(splitPoints, to) ? undefined : leadInSplitPoint(splitPoints, to)
  const points = new Set([leadIn, from, nextLeadIn ?? from, to])
  const sorted = [...points].toSorted((left, right) => left - right)
  const ranges = sorted.slice(1).map((end, at) => ({ from: sorted[at] ?? 0, to: end }))
  return { leadIn, nextLeadIn, ranges }
}

/** The audio in the bytes before a split point. */
export type AudioBefore =
  | { status: 'present'; lastSeconds: number }
  /** None in the lead-in. */
  | { status: 'silent' }
  /** None since the start or the last discontinuity: it may follow its video in the file. */
  | { status: 'not started' }

/**
 * The first frame of the segment that starts at a split point. It depends only on bytes before the
 * split point: so it never changes while a recording grows, and both sides get the same frame.
 */
export function frameAtSplitPoint(
  splitPoints: SplitPointTable,
  splitPoint: number,
  { sampleRate, before }: { sampleRate: number; before: AudioBefore },
): number {
  const splitPointSeconds = timeOf(splitPoints, splitPoint)
  if (restarts(splitPoints, splitPoint))
    return Math.ceil((splitPointSeconds * sampleRate) / FRAME_SAMPLES)
  const first = Math.ceil(
    (timeOf(splitPoints, lastDiscontinuity(splitPoints, splitPoint)) * sampleRate) / FRAME_SAMPLES,
  )
  if (before.status === 'not started') return first
  const lastSeconds = before.status === 'present' ? before.lastSeconds : splitPointSeconds
  const near = Math.max(
    splitPointSeconds - MAX_LAG_SECONDS,
    Math.min(splitPointSeconds + MAX_LAG_SECONDS, lastSeconds),
  )
  return Math.max(frameBeforeBoundary(near, sampleRate), first)
}

/**
 * The range in which audio may have started before a split point; undefined if the range is longer
 * than the allowed lag, or the audio restarts at the split point.
 */
export function audioStartRange(
  splitPoints: SplitPointTable,
  splitPoint: number,
): SplitPointRange | undefined {
  if (restarts(splitPoints, splitPoint)) return undefined
  const from = lastDiscontinuity(splitPoints, splitPoint)
  const isNear = timeOf(splitPoints, splitPoint) - timeOf(splitPoints, from) <= MAX_LAG_SECONDS
  return isNear ? { from, to: splitPoint } : undefined
}

/** The first frame after a boundary: earlier frames need no packet after `lastSeconds`. */
export function frameBeforeBoundary(lastSeconds: number, sampleRate: number): number {
  return Math.floor((lastSeconds * sampleRate) / FRAME_SAMPLES) - LOOK_AHEAD_FRAMES
}

/** Whether the audio after a split point is independent of the audio before it. */
function restarts(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return (
    splitPoint === 0 ||
    splitPoint >= splitPoints.startTicks.length ||
    isDiscontinuity(splitPoints, splitPoint)
  )
}

function leadInSplitPoint(splitPoints: SplitPointTable, splitPoint: number): number {
  let first = splitPoint
  const wanted = timeOf(splitPoints, splitPoint) - LEAD_IN_SECONDS
  while (!restarts(splitPoints, first) && timeOf(splitPoints, first) > wanted) first -= 1
  return first
}

function lastDiscontinuity(splitPoints: SplitPointTable, splitPoint: number): number {
  let at = splitPoint
  while (at > 0 && !isDiscontinuity(splitPoints, at)) at -= 1
  return at
}

function isDiscontinuity(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return ((splitPoints.flags[splitPoint] ?? 0) & SPLIT_DISCONTINUITY) !== 0
}

function timeOf(splitPoints: SplitPointTable, splitPoint: number): number {
  return secondsFromTicks(
    splitPoints.startTicks[splitPoint] ?? splitPoints.endTicks,
    splitPoints.timescale,
  )
}
