// Places frames and audio: the clock decides about their times, and the sections take them. Audio
// beside video shows whether the video has jumped or pauses.
import type { FrameKind } from '../packets/frame-start.ts'
import { STARTS } from '../packets/packet-walk.ts'
import {
  acceptFrame,
  dropWrong,
  holdFrame,
  unwrapFrame,
  whyWait,
  holdAudio,
  judgeLate,
  PAUSE_TICKS,
  tsRules,
  unwrap,
} from './clock.ts'
import { endFrame } from './frames.ts'
import type { Frame } from './frames.ts'
import type { Entry, ScanSection, ScanState, AudioMark } from './scan-state.ts'
import {
  addFrame,
  addJump,
  addPoint,
  clockAudio,
  createGate,
  fitsSection,
  keepPromise,
  noteGap,
  startSection,
  waitAtGate,
} from './sections.ts'
import { lastPosition } from './split-points.ts'
import { watchStream } from './watch.ts'

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
  const { kind, goesOn, hasTimes, entry } = frame
  if (!hasTimes) return
  dropWrong(clock, entry.dts, lastSection(state))
  placeWaiting(state)
  unwrapFrame(clock, entry)
  if (program.served.audio === undefined) entry.carryIsOpen = false
  const isGated = sections.gate !== undefined
  const reason = isGated ? undefined : whyWait(entry.dts, lastSection(state))
  if (reason === undefined) addAccepted(state, entry, kind)
  else holdFrame(clock, { reason, entry, kind, goesOn }, lastPosition(sections.points))
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
  addJump(sections, { jump, isKey }, state)
  if (sections.gate === undefined) clock.stray = undefined
}

function addAccepted(state: ScanState, entry: Entry, kind: FrameKind): void {
  const { clock, sections } = state
  clock.stray = undefined
  const isKey = acceptFrame(clock, kind, entry.dts)
  addFrame(sections, { entry, isKey }, state)
}

const { audioSplitFlags, follows, isAudioSplit } = tsRules

/** Places a PES packet of audio with this PTS (33 bits), whose start was gathered. */
export function placeAudio(state: ScanState, stamp: number): void {
  const { position } = state.audio.pes
  const mark = { position, pts: unwrap(state.clock, stamp) }
  if (state.program.served.video === undefined) placeAlone(state, mark)
  else placeBesideVideo(state, mark, stamp)
}

/** The configuration may be known later than the presence of audio. */
export function noteTrack(state: ScanState): void {
  const { audio, program, sections } = state
  const section = lastSection(state)
  if (section?.audio === undefined || audio.track === undefined) return
  if (section.served.audio?.pid !== program.served.audio?.pid) return
  // The tables of the section are final and list no audio; those of the next one will.
  if (section.promise === 'broken') sections.wantsSection = true
  keepPromise(section, audio.track)
}

function placeBesideVideo(state: ScanState, mark: AudioMark, stamp: number): void {
  const { clock, program, sections } = state
  if (sections.gate !== undefined) {
    waitAtGate(sections.gate, mark)
    return
  }
  if (holdAudio(clock, mark.position, stamp)) return
  const section = lastSection(state)
  // Audio of a PID that the tables of the section do not list waits for the next section.
  if (section === undefined || section.served.audio?.pid !== program.served.audio?.pid) return
  if (!fitsSection(section, mark)) {
    clock.stray ??= mark
    return
  }
  acceptAudio(state, section, mark)
  const verdict = judgeLate(clock, mark.pts)
  if (verdict === 'right') placeWaiting(state)
  else if (verdict === 'wrong') clock.jump = undefined
  if (clock.jump === undefined) splitAtPause(state, section, mark)
}

function acceptAudio({ clock }: ScanState, section: ScanSection, mark: AudioMark): void {
  clock.reference = mark.pts
  clockAudio(section, mark)
}

/** Adds split points where audio continues without video. */
function splitAtPause(state: ScanState, section: ScanSection, mark: AudioMark): void {
  const { clock, sections } = state
  const { points } = sections
  clock.pauseFrom ??= mark.pts
  const pause = mark.pts - clock.pauseFrom
  if (pause < PAUSE_TICKS || mark.position <= lastPosition(points)) return
  if (state.frame.isOpen) {
    finishFrame(state)
    return
  }
  const wait = mark.pts - Math.max(points.lastMainSplitPointPts, section.earliestPts)
  const flags = audioSplitFlags({
    toVideo: pause,
    toSplitPoint: wait,
    toKeyFrame: wait,
    toAnySplitPoint: mark.pts - points.lastSplitPointPts,
  })
  if (flags !== undefined) addPoint(sections, audioEntry(state, mark, flags))
}

function placeAlone(state: ScanState, mark: AudioMark): void {
  const { program, sections } = state
  const last = lastSection(state)
  if (sections.gate === undefined && last !== undefined && !follows(mark.pts, last.lastDts)) {
    sections.gate = createGate('jump', mark.position, program.counters)
    noteGap(sections, [last.lastDts, mark.pts], mark.position)
  }
  if (sections.gate !== undefined || last === undefined) {
    startSection(sections, audioEntry(state, mark, 0), state)
  } else if (isLoneSplit(mark.pts - sections.points.lastMainSplitPointPts)) {
    addPoint(sections, audioEntry(state, mark, 0))
  }
  const section = lastSection(state)
  if (section === undefined) return
  section.lastDts = mark.pts
  acceptAudio(state, section, mark)
}

function isLoneSplit(distance: number): boolean {
  return isAudioSplit({ toVideo: Infinity, toSplitPoint: distance, toAnySplitPoint: distance })
}

function audioEntry({ program }: ScanState, { position, pts }: AudioMark, flags: number): Entry {
  return {
    position,
    pts,
    dts: pts,
    flags,
    counters: program.counters,
    carryBytes: 0,
    carryIsOpen: false,
    sps: undefined,
    parameterSets: undefined,
    sets: [],
  }
}

function lastSection({ sections }: ScanState): ScanSection | undefined {
  return sections.sections.at(-1)
}
