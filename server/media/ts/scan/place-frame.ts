// Places the frames of the video: the clock decides about their times, and the sections take them.
import { SPLIT_KEY_FRAME } from '../../media-index.ts'
import type { FrameKind } from '../packets/frame-start.ts'
import { STARTS } from '../packets/packet-walk.ts'
import type { PesStamps } from '../packets/pes.ts'
import { acceptFrame, dropWrong, holdFrame, unwrapFrame, whyWait } from './clock.ts'
import { endFrame } from './frames.ts'
import type { Frame } from './frames.ts'
import { addFrame, addJump } from './sections.ts'
import type { Streams } from './sections.ts'
import type { ServedStreams } from './served-program.ts'
import { lastPosition } from './split-points.ts'
import { watchStream } from './watch.ts'
import type { Entry, ScanSection, ScanState } from './scan-state.ts'

/** Places the frame that ends without a slice, if there is one. */
export function finishFrame(state: ScanState): void {
  const frame = endFrame(state.frame)
  if (frame !== undefined) placeFrame(state, frame)
}

/** Places a frame, after the one that waits for it. */
export function placeFrame(state: ScanState, frame: Frame): void {
  const { clock, counts, program, sections, watch } = state
  watchStream(watch, program.served.video, STARTS)
  counts.frames++
  clock.pauseFrom = undefined
  const { kind, goesOn, stamps } = frame
  if (stamps === undefined) return
  dropWrong(clock, stamps.dts, lastSection(state))
  placeWaiting(state)
  const entry = createEntry(frame, unwrapFrame(clock, stamps), program.served)
  const isGated = sections.gate !== undefined
  const reason = isGated ? undefined : whyWait(entry.dts, lastSection(state))
  if (reason === undefined) addAccepted(state, entry, kind)
  else holdFrame(clock, { reason, entry, kind, goesOn }, lastPosition(sections.points))
}

/** Not spread, because there is one for each frame. */
function createEntry(frame: Frame, { pts, dts }: PesStamps, served: ServedStreams): Entry {
  return {
    position: frame.position,
    pts,
    dts,
    flags: SPLIT_KEY_FRAME,
    counters: frame.counters,
    carryBytes: frame.carryBytes,
    carryIsOpen: frame.carryIsOpen && served.audio !== undefined,
    sps: frame.sps,
    parameterSets: frame.parameterSets,
    sets: frame.sets,
  }
}

/** Places a frame that waits for the next one, since its stamp is not known to be wrong. */
export function placeWaiting(state: ScanState): void {
  const { clock, sections } = state
  const { jump } = clock
  clock.jump = undefined
  if (jump === undefined) return
  if (jump.reason === 'late') {
    addAccepted(state, jump.entry, jump.kind)
    return
  }
  const isKey = acceptFrame(clock, jump.kind, jump.entry.dts)
  addJump(sections, { jump, isKey }, streamsOf(state))
  if (sections.gate === undefined) clock.stray = undefined
}

function addAccepted(state: ScanState, entry: Entry, kind: FrameKind): void {
  const { clock, sections } = state
  clock.stray = undefined
  const isKey = acceptFrame(clock, kind, entry.dts)
  addFrame(sections, { entry, isKey }, streamsOf(state))
}

export function streamsOf({ program: { program, served }, audio: { track } }: ScanState): Streams {
  return { program, served, track }
}

export function lastSection({ sections }: ScanState): ScanSection | undefined {
  return sections.sections.at(-1)
}
