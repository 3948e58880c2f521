// Jumps of video timestamps: distinguishes them from a single wrong one, and begins a section.
import type { FrameKind } from '../packets/frame-start.ts'
import { unwrapStamp } from '../packets/pes.ts'
import { lastSplitPointPosition, noteSets, startSection } from './scan-section.ts'
import { createGate, noteGap } from './scan-state.ts'
import type { Entry, Jump, ScanState } from './scan-state.ts'
import { countsAsKey, tsRules } from './ts-rules.ts'

const { follows, followsSoon, isNear, videoFollows } = tsRules

/** Why a frame with this decode time waits for the next one; undefined if it does not. */
export function whyWait(state: ScanState, dts: number): Jump['reason'] | undefined {
  if (hasJumped(state, dts)) return 'jumped'
  const section = state.sections.at(-1)
  if (section === undefined || followsSoon(dts, section.lastDts)) return undefined
  const { audio } = section
  return audio !== undefined && followsSoon(dts, audio.pts) ? undefined : 'late'
}

/** Whether a decode time is not on the clock of the section. */
function hasJumped(state: ScanState, dts: number): boolean {
  const section = state.sections.at(-1)
  return section !== undefined && !videoFollows(dts, section.lastDts, section.audio?.pts)
}

/** Holds a frame whose time has jumped, or is late, until the next one decides. */
export function noteJump(
  state: ScanState,
  entry: Entry,
  { reason, kind }: { reason: Jump['reason']; kind: FrameKind },
): void {
  const { stray, frame } = state
  const leads =
    stray !== undefined &&
    isNear(stray.pts, entry.dts) &&
    stray.position > lastSplitPointPosition(state)
  const lead = leads ? stray : undefined
  const audio = lead && { ...lead, earliestPts: lead.pts }
  state.jump = { reason, entry, kind, goesOn: frame.goesOn, lead, audio }
  state.stray = undefined
}

/**
 * Whether the stamp of a waiting frame is wrong: the decode time of the next one (33 bits) is on
 * the clock of the section, and closer to what came before.
 */
export function isWrong(state: ScanState, { entry }: Jump, stamp: number): boolean {
  const section = state.sections.at(-1)
  const next = unwrapStamp(stamp, state.reference ?? stamp)
  if (section === undefined || hasJumped(state, next)) return false
  const { lastDts, audio } = section
  const toSection = Math.min(Math.abs(next - lastDts), Math.abs(next - (audio?.pts ?? lastDts)))
  const ahead = unwrapStamp(stamp, entry.dts)
  return !follows(ahead, entry.dts) || toSection < Math.abs(ahead - entry.dts)
}

/**
 * Begins a section at the frame that has jumped if it can be decoded; else waits for a key frame.
 */
export function takeJump(state: ScanState, { entry, kind, goesOn, lead, audio }: Jump): void {
  const before = state.sections.at(-1)
  if (before !== undefined) noteGap(state, [before.lastDts, entry.dts], entry.position)
  state.reference = entry.dts
  const isKey = countsAsKey(state, kind, entry.dts)
  state.gate = createGate(state, 'jump', lead?.position ?? entry.position)
  state.gate.counters = entry.counters
  state.gate.audio = audio
  const known = state.splitPoints.offsets.length
  if (isKey || goesOn) startSection(state, isKey ? entry : { ...entry, flags: 0 })
  else state.gate.sawFrame = true
  noteSets(state, entry, isKey ? known : Infinity)
}
