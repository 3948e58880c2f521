// Time stamps of pictures that jump: told from a single wrong one, and made the beginning of a section.
import type { PictureKind } from './picture-start.ts'
import { unwrapStamp } from './pes.ts'
import { countsAsKey } from './scan-key.ts'
import { lastCutPosition, startSection } from './scan-section.ts'
import { createGate, follows, isNear, noteGap } from './scan-state.ts'
import type { Entry, ScanState } from './scan-state.ts'

/** Whether a decode time is not on the section's clock. A pause of the pictures is no jump where the sound has gone on meanwhile. */
export function hasJumped(state: ScanState, dts: number): boolean {
  const section = state.sections.at(-1)
  if (section === undefined || follows(dts, section.lastDts)) return false
  const isPause =
    dts > section.lastDts && section.sound !== undefined && isNear(section.sound.pts, dts)
  return !isPause
}

/** Keeps a picture whose time has jumped until the next one tells more. */
export function noteJump(state: ScanState, entry: Entry, kind: PictureKind): void {
  const { stray } = state
  const leads =
    stray !== undefined && isNear(stray.pts, entry.dts) && stray.position > lastCutPosition(state)
  const lead = leads ? stray : undefined
  const sound = lead && { ...lead, earliestPts: lead.pts }
  state.jump = { entry, kind, goesOn: state.picture.goesOn, lead, sound }
  state.stray = undefined
}

/** Decides on a picture that waits, now that the next one's decode time (33 bits) is known. */
export function settleJump(state: ScanState, stamp: number): void {
  const { jump } = state
  if (jump === undefined) return
  const isConfirmed = follows(unwrapStamp(stamp, jump.entry.dts), jump.entry.dts)
  if (isConfirmed || hasJumped(state, unwrapStamp(stamp, state.reference ?? stamp))) {
    takeJump(state)
  } else {
    // One wrong stamp: the picture stays where it is, and tells nothing of times.
    state.jump = undefined
  }
}

/** Begins a section at the picture that waits where it can be decoded, else waits for a key frame from there on. */
export function takeJump(state: ScanState): void {
  const { jump } = state
  if (jump === undefined) return
  const { entry, kind, goesOn, lead, sound } = jump
  const before = state.sections.at(-1)
  if (before !== undefined) noteGap(state, [before.lastDts, entry.dts], entry.position)
  state.jump = undefined
  state.reference = entry.dts
  const isKey = countsAsKey(state, kind, entry.dts)
  state.gate = createGate(state, 'jump', lead?.position ?? entry.position)
  state.gate.counters = entry.counters
  state.gate.sound = sound
  if (isKey || goesOn) startSection(state, isKey ? entry : { ...entry, flags: 0 })
  else state.gate.sawPicture = true
}
