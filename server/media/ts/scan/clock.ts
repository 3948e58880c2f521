// The clock of a recording: unwraps 33-bit times, and decides whether a time that does not follow
// is a jump of the clock or a single wrong stamp. The frame waits until the next one decides.
import { MAX_FORWARD_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import type { FrameKind } from '../packets/frame-start.ts'
import { PES_TIMESCALE, unwrapStamp } from '../packets/pes.ts'
import type { PesStamps } from '../packets/pes.ts'
import type { AudioMark, ClockState, Jump } from './scan-state.ts'

/** The timeline rules for ticks of PES packets. */
export const tsRules = timelineRules('ts', PES_TIMESCALE)
const { follows, followsSoon, isNear, videoFollows } = tsRules

/** Audio without video for this long is a pause of the video, not a matter of interleaving. */
export const PAUSE_TICKS = 2 * PES_TIMESCALE

/** The latest times of a section. */
export interface LatestTimes {
  lastDts: number
  audio: AudioMark | undefined
}

export function createClock(): ClockState {
  return {
    reference: undefined,
    jump: undefined,
    stray: undefined,
    pauseFrom: undefined,
    lastKeyDts: undefined,
    takesRecovery: true,
  }
}

/** A time of 33 bits on the clock. */
export function unwrap({ reference }: ClockState, stamp: number): number {
  return unwrapStamp(stamp, reference ?? stamp)
}

/** Unwraps the times of a frame. A presentation time far from the decode time is corrupt. */
export function unwrapFrame(clock: ClockState, entry: PesStamps): void {
  entry.dts = unwrap(clock, entry.dts)
  const pts = unwrapStamp(entry.pts, entry.dts)
  entry.pts = isNear(pts, entry.dts) ? pts : entry.dts
}

/** Why a frame with this decode time waits for the next one; undefined if it does not. */
export function whyWait(dts: number, section: LatestTimes | undefined): Jump['reason'] | undefined {
  if (section === undefined) return undefined
  const { lastDts, audio } = section
  if (!videoFollows(dts, lastDts, audio?.pts)) return 'jumped'
  if (followsSoon(dts, lastDts)) return undefined
  return audio !== undefined && followsSoon(dts, audio.pts) ? undefined : 'late'
}

/** Holds a frame until the next one decides. `from`: position of the last split point. */
export function holdFrame(
  clock: ClockState,
  frame: Pick<Jump, 'reason' | 'entry' | 'kind' | 'goesOn'>,
  from: number,
): void {
  const { stray } = clock
  const leads = stray !== undefined && isNear(stray.pts, frame.entry.dts) && stray.position > from
  const lead = leads ? stray : undefined
  const { reason, entry, kind, goesOn } = frame
  const audio = lead && { ...lead, earliestPts: lead.pts }
  clock.jump = { reason, entry, kind, goesOn, lead, audio }
  clock.stray = undefined
}

/** Holds audio that has jumped with the waiting frame; returns whether it has. */
export function holdAudio({ jump }: ClockState, position: number, stamp: number): boolean {
  if (jump?.reason !== 'jumped') return false
  const pts = unwrapStamp(stamp, jump.entry.dts)
  if (!isNear(pts, jump.entry.dts)) return false
  jump.audio = { position, pts, earliestPts: Math.min(pts, jump.audio?.earliestPts ?? pts) }
  return true
}

/** Drops the waiting frame if the decode time (33 bits) of the next one shows that it is wrong. */
export function dropWrong(
  clock: ClockState,
  stamp: number,
  section: LatestTimes | undefined,
): void {
  // One wrong stamp: the frame stays, and its times are ignored.
  if (clock.jump !== undefined && isWrong(clock, clock.jump, { stamp, section }))
    clock.jump = undefined
}

/** The next frame is on the clock of the section, and closer to what came before. */
function isWrong(
  clock: ClockState,
  { entry }: Jump,
  { stamp, section }: { stamp: number; section: LatestTimes | undefined },
): boolean {
  const next = unwrap(clock, stamp)
  if (section === undefined || !videoFollows(next, section.lastDts, section.audio?.pts))
    return false
  const { lastDts, audio } = section
  const toSection = Math.min(Math.abs(next - lastDts), Math.abs(next - (audio?.pts ?? lastDts)))
  const ahead = unwrapStamp(stamp, entry.dts)
  return !follows(ahead, entry.dts) || toSection < Math.abs(ahead - entry.dts)
}

/**
 * What audio on the clock of the section shows about a waiting frame that is late: its time is
 * right, or it is wrong, because the audio goes on without it. Undefined if that is open.
 */
export function judgeLate(clock: ClockState, pts: number): 'right' | 'wrong' | undefined {
  if (clock.jump?.reason !== 'late') return undefined
  clock.pauseFrom ??= pts
  if (followsSoon(clock.jump.entry.dts, pts)) return 'right'
  return pts - clock.pauseFrom >= PAUSE_TICKS ? 'wrong' : undefined
}

/** Accepts a frame; returns whether a segment may begin with it. */
export function acceptFrame(clock: ClockState, kind: FrameKind, dts: number): boolean {
  clock.reference = dts
  if (kind === 'key') {
    clock.lastKeyDts = dts
    clock.takesRecovery = false
    return true
  }
  if (clock.lastKeyDts !== undefined) {
    const waitSeconds = Math.abs(dts - clock.lastKeyDts) / PES_TIMESCALE
    // A jump restarts the wait.
    if (waitSeconds > MAX_FORWARD_SECONDS && !clock.takesRecovery) clock.lastKeyDts = dts
    else if (waitSeconds > RULES.ts.forcedAfterSeconds) clock.takesRecovery = true
  }
  // Recovery points serve if there is nothing better.
  return kind === 'recovery' && clock.takesRecovery
}
