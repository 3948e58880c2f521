// Decides which AAC frames of transcoded sound a segment holds, and which packets they are made of. Pure.
import { CUT_BREAK, secondsFromTicks } from '../media/media-index.ts'
import type { CutRange, CutTable } from '../media/media-index.ts'
import { FRAME_SAMPLES, LOOK_AHEAD_FRAMES, SHARED_SECONDS } from '../sound/sound-job.ts'

/** Sound in front of a cut that is read along: what both sides share, and as much to warm up the decoder. */
export const LEAD_IN_SECONDS = SHARED_SECONDS * 2
/** Sound may lie so far from the pictures beside it in the file; what is further off is silence. */
const MAX_LAG_SECONDS = 10

/** The cuts at which the reading of a segment's sound is divided. */
export interface SoundRanges {
  /** From here on the sound in front of the segment is read; the segment's own first cut where it begins anew. */
  leadIn: number
  /** The same of the segment behind; undefined where that begins anew, or there is none. */
  nextLeadIn: number | undefined
  /** Neighbouring ranges from `leadIn` to the segment's end, divided at all of these. */
  ranges: CutRange[]
}

/** What is to be read for a segment's sound. */
export function planSoundRanges(cuts: CutTable, { from, to }: CutRange): SoundRanges {
  const leadIn = leadInCut(cuts, from)
  const nextLeadIn = beginsAnew(cuts, to) ? undefined : leadInCut(cuts, to)
  const points = new Set([leadIn, from, nextLeadIn ?? from, to])
  const sorted = [...points].toSorted((left, right) => left - right)
  const ranges = sorted.slice(1).map((end, at) => ({ from: sorted[at] ?? 0, to: end }))
  return { leadIn, nextLeadIn, ranges }
}

/** What is known of the sound in the bytes before a cut. */
export type SoundBefore =
  | { status: 'heard'; lastSeconds: number }
  /** There is none in the cut's lead-in. */
  | { status: 'silent' }
  /** There was none since the recording, or the last break, began: it may come later in the file than its pictures. */
  | { status: 'not begun' }

/**
 * The first frame that the segment from a cut on holds. It depends on what lies before the cut alone, so that it stays as
 * it is while a recording grows, and both sides of the cut find the same.
 */
export function frameAtCut(
  cuts: CutTable,
  cut: number,
  { sampleRate, before }: { sampleRate: number; before: SoundBefore },
): number {
  const cutSeconds = timeOf(cuts, cut)
  if (beginsAnew(cuts, cut)) return Math.ceil((cutSeconds * sampleRate) / FRAME_SAMPLES)
  const begin = Math.ceil((timeOf(cuts, lastBreak(cuts, cut)) * sampleRate) / FRAME_SAMPLES)
  if (before.status === 'not begun') return begin
  const lastSeconds = before.status === 'heard' ? before.lastSeconds : cutSeconds
  const near = Math.max(
    cutSeconds - MAX_LAG_SECONDS,
    Math.min(cutSeconds + MAX_LAG_SECONDS, lastSeconds),
  )
  return Math.max(frameBeforeJoint(near, sampleRate), begin)
}

/**
 * The cuts between which sound would have begun, were there any before the cut; undefined where it is too late for it to
 * begin, or the cut begins anew.
 */
export function beginningOf(cuts: CutTable, cut: number): CutRange | undefined {
  if (beginsAnew(cuts, cut)) return undefined
  const from = lastBreak(cuts, cut)
  const isNear = timeOf(cuts, cut) - timeOf(cuts, from) <= MAX_LAG_SECONDS
  return isNear ? { from, to: cut } : undefined
}

/** The first frame behind a joint: the frames before it need no packet that begins later than at `lastSeconds`. */
export function frameBeforeJoint(lastSeconds: number, sampleRate: number): number {
  return Math.floor((lastSeconds * sampleRate) / FRAME_SAMPLES) - LOOK_AHEAD_FRAMES
}

/** Whether nothing of the sound before the cut goes on behind it. */
function beginsAnew(cuts: CutTable, cut: number): boolean {
  return cut === 0 || cut >= cuts.startTicks.length || isBreak(cuts, cut)
}

function leadInCut(cuts: CutTable, cut: number): number {
  let first = cut
  const wanted = timeOf(cuts, cut) - LEAD_IN_SECONDS
  while (!beginsAnew(cuts, first) && timeOf(cuts, first) > wanted) first -= 1
  return first
}

function lastBreak(cuts: CutTable, cut: number): number {
  let at = cut
  while (at > 0 && !isBreak(cuts, at)) at -= 1
  return at
}

function isBreak(cuts: CutTable, cut: number): boolean {
  return ((cuts.flags[cut] ?? 0) & CUT_BREAK) !== 0
}

function timeOf(cuts: CutTable, cut: number): number {
  return secondsFromTicks(cuts.startTicks[cut] ?? cuts.endTicks, cuts.timescale)
}
