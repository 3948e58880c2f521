// Decides which AAC frames of transcoded sound a segment holds, and which packets they are made of. Pure.
import { SPLIT_DISCONTINUITY, secondsFromTicks } from '../../media/media-index.ts'
import type { SplitPointRange, SplitPointTable } from '../../media/media-index.ts'
import { FRAME_SAMPLES, LOOK_AHEAD_FRAMES, OVERLAP_SECONDS } from '../../audio/audio-job.ts'

/** Sound in front of a cut that is read along: what both sides share, and as much to warm up the decoder. */
export const LEAD_IN_SECONDS = OVERLAP_SECONDS * 2
/** Sound may lie so far from the pictures beside it in the file; what is further off is silence. */
const MAX_LAG_SECONDS = 10

/** The cuts at which the reading of a segment's sound is divided. */
export interface AudioRanges {
  /** From here on the sound in front of the segment is read; the segment's own first cut where it begins anew. */
  leadIn: number
  /** The same of the segment behind; undefined where that begins anew, or there is none. */
  nextLeadIn: number | undefined
  /** Neighbouring ranges from `leadIn` to the segment's end, divided at all of these. */
  ranges: SplitPointRange[]
}

/** What is to be read for a segment's sound. */
export function planAudioRanges(
  splitPoints: SplitPointTable,
  { from, to }: SplitPointRange,
): AudioRanges {
  const leadIn = leadInSplitPoint(splitPoints, from)
  const nextLeadIn = beginsAnew(splitPoints, to) ? undefined : leadInSplitPoint(splitPoints, to)
  const points = new Set([leadIn, from, nextLeadIn ?? from, to])
  const sorted = [...points].toSorted((left, right) => left - right)
  const ranges = sorted.slice(1).map((end, at) => ({ from: sorted[at] ?? 0, to: end }))
  return { leadIn, nextLeadIn, ranges }
}

/** What is known of the sound in the bytes before a cut. */
export type AudioBefore =
  | { status: 'heard'; lastSeconds: number }
  /** There is none in the cut's lead-in. */
  | { status: 'silent' }
  /** There was none since the recording, or the last break, began: it may come later in the file than its pictures. */
  | { status: 'not begun' }

/**
 * The first frame that the segment from a cut on holds. It depends on what lies before the cut alone, so that it stays as
 * it is while a recording grows, and both sides of the cut find the same.
 */
export function frameAtSplitPoint(
  splitPoints: SplitPointTable,
  splitPoint: number,
  { sampleRate, before }: { sampleRate: number; before: AudioBefore },
): number {
  const splitPointSeconds = timeOf(splitPoints, splitPoint)
  if (beginsAnew(splitPoints, splitPoint))
    return Math.ceil((splitPointSeconds * sampleRate) / FRAME_SAMPLES)
  const begin = Math.ceil(
    (timeOf(splitPoints, lastBreak(splitPoints, splitPoint)) * sampleRate) / FRAME_SAMPLES,
  )
  if (before.status === 'not begun') return begin
  const lastSeconds = before.status === 'heard' ? before.lastSeconds : splitPointSeconds
  const near = Math.max(
    splitPointSeconds - MAX_LAG_SECONDS,
    Math.min(splitPointSeconds + MAX_LAG_SECONDS, lastSeconds),
  )
  return Math.max(frameBeforeJoint(near, sampleRate), begin)
}

/**
 * The cuts between which sound would have begun, were there any before the cut; undefined where it is too late for it to
 * begin, or the cut begins anew.
 */
export function beginningOf(
  splitPoints: SplitPointTable,
  splitPoint: number,
): SplitPointRange | undefined {
  if (beginsAnew(splitPoints, splitPoint)) return undefined
  const from = lastBreak(splitPoints, splitPoint)
  const isNear = timeOf(splitPoints, splitPoint) - timeOf(splitPoints, from) <= MAX_LAG_SECONDS
  return isNear ? { from, to: splitPoint } : undefined
}

/** The first frame behind a joint: the frames before it need no packet that begins later than at `lastSeconds`. */
export function frameBeforeJoint(lastSeconds: number, sampleRate: number): number {
  return Math.floor((lastSeconds * sampleRate) / FRAME_SAMPLES) - LOOK_AHEAD_FRAMES
}

/** Whether nothing of the sound before the cut goes on behind it. */
function beginsAnew(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return (
    splitPoint === 0 ||
    splitPoint >= splitPoints.startTicks.length ||
    isBreak(splitPoints, splitPoint)
  )
}

function leadInSplitPoint(splitPoints: SplitPointTable, splitPoint: number): number {
  let first = splitPoint
  const wanted = timeOf(splitPoints, splitPoint) - LEAD_IN_SECONDS
  while (!beginsAnew(splitPoints, first) && timeOf(splitPoints, first) > wanted) first -= 1
  return first
}

function lastBreak(splitPoints: SplitPointTable, splitPoint: number): number {
  let at = splitPoint
  while (at > 0 && !isBreak(splitPoints, at)) at -= 1
  return at
}

function isBreak(splitPoints: SplitPointTable, splitPoint: number): boolean {
  return ((splitPoints.flags[splitPoint] ?? 0) & SPLIT_DISCONTINUITY) !== 0
}

function timeOf(splitPoints: SplitPointTable, splitPoint: number): number {
  return secondsFromTicks(
    splitPoints.startTicks[splitPoint] ?? splitPoints.endTicks,
    splitPoints.timescale,
  )
}
