// Processes the packets of audio: its times, its bytes after a split point, and split points
// without video.
import { adtsFrameAt } from '../../codec/audio-frame.ts'
import { hasPayload, isScrambled, isUnitStart } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, STARTS } from '../packets/packet-walk.ts'
import { gatherPesStart, PES_TIMESCALE, unwrapStamp } from '../packets/pes.ts'
import { finishFrame, takeWaiting } from './scan-frame.ts'
import {
  addSplitPoint,
  keepPromise,
  lastSplitPointPosition,
  startSection,
  widenSection,
} from './scan-section.ts'
import { createGate, noteGap } from './scan-state.ts'
import type { Entry, ScanSection, ScanState, AudioMark } from './scan-state.ts'
import { tsRules } from './ts-rules.ts'
import { formOf } from './served-program.ts'
import type { AudioStream } from './served-program.ts'
import { readAudioConfig } from '../packets/audio-config.ts'

/** A PES packet that continues this far after a split point is split there. */
const MAX_CARRY_BYTES = 4 * 1024 * 1024
/** Audio without video for this long is a pause of the video, not a matter of interleaving. */
const PAUSE_TICKS = 2 * PES_TIMESCALE

const { audioSplitFlags, follows, followsSoon, isAudioSplit, isNear } = tsRules

/** Processes a packet of the served audio. */
export function takeAudioPacket(state: ScanState, packet: PacketView, audio: AudioStream): void {
  const { audio: audioTrack, frame, interest, jump } = state
  if (isUnitStart(packet.header)) {
    state.splitCarryIsOpen = false
    frame.carryIsOpen = false
    if (jump !== undefined) jump.entry.carryIsOpen = false
    audioTrack.isOpen = !isScrambled(packet.header)
    audioTrack.isMarked = false
    if (!audioTrack.isOpen) state.counts.scrambled++
    audioTrack.pes.length = 0
    audioTrack.pes.header = undefined
    audioTrack.pes.position = packet.position
  } else if (hasPayload(packet.header)) {
    carry(state, packet.position + state.options.packetBytes)
  }
  if (audioTrack.isOpen) gather(state, packet, audio)
  const needsAll =
    audioTrack.isOpen ||
    state.splitCarryIsOpen ||
    frame.carryIsOpen ||
    state.jump?.entry.carryIsOpen
  interest[audio.pid] = needsAll ? ALL : STARTS
}

function gather(state: ScanState, packet: PacketView, audio: AudioStream): void {
  const { audio: audioTrack } = state
  const { pes } = audioTrack
  if (gatherPesStart(pes, packet) === 'short') return
  const { header } = pes
  if (header?.stamps === undefined) {
    audioTrack.isOpen = false
    return
  }
  if (!audioTrack.isMarked) {
    audioTrack.isMarked = true
    noteChange(state, header.headerBytes)
    if (state.served.video === undefined) takeAudioAlone(state, header.stamps.pts)
    else takeAudioBesideVideo(state, header.stamps.pts)
  }
  audioTrack.track ??= readAudioConfig(audio, pes.bytes.subarray(header.headerBytes, pes.length))
  audioTrack.isOpen = audioTrack.track === undefined && pes.length < pes.bytes.length
  noteTrack(state)
}

/** A change of AAC needs another init segment in fMP4: a new section begins. */
function noteChange(state: ScanState, headerBytes: number): void {
  const { audio: audioTrack, served, options } = state
  if (audioTrack.track?.codec !== 'aac' || formOf(options.served) === 'verbatim') return
  const frame = adtsFrameAt(audioTrack.pes.bytes.subarray(headerBytes, audioTrack.pes.length), 0)
  const { channels, timescale } = audioTrack.track
  if (frame === undefined || (frame.channels === channels && frame.sampleRate === timescale)) return
  audioTrack.track = undefined
  if (served.video !== undefined) state.wantsSection = true
  else state.gate ??= createGate(state, 'program', audioTrack.pes.position)
}

/** The configuration may be known later than the presence of audio. */
function noteTrack(state: ScanState): void {
  const section = state.sections.at(-1)
  if (section?.audio === undefined || state.audio.track === undefined) return
  if (section.served.audio?.pid !== state.served.audio?.pid) return
  // The tables of the section are final and list no audio; those of the next one will.
  if (section.promise === 'broken') state.wantsSection = true
  keepPromise(state, section)
}

/**
 * Extends the audio that began before a split point, or before a frame that may become one, to
 * `end`.
 */
function carry(state: ScanState, end: number): void {
  const { splitPoints, frame, jump } = state
  if (frame.carryIsOpen) frame.carryBytes = end - frame.pes.position
  if (jump?.entry.carryIsOpen) jump.entry.carryBytes = end - jump.entry.position
  if (!state.splitCarryIsOpen) return
  const last = splitPoints.offsets.length - 1
  const bytes = end - (splitPoints.offsets[last] ?? end)
  if (bytes > MAX_CARRY_BYTES) state.splitCarryIsOpen = false
  else splitPoints.carryBytes[last] = bytes
}

function takeAudioBesideVideo(state: ScanState, stamp: number): void {
  const { gate, jump } = state
  const { position } = state.audio.pes
  const mark = { position, pts: unwrapStamp(stamp, state.reference ?? stamp) }
  if (gate !== undefined) {
    const goesOn = gate.audio !== undefined && follows(mark.pts, gate.audio.pts)
    const earliestPts = goesOn ? (gate.audio?.earliestPts ?? mark.pts) : mark.pts
    gate.audio = { ...mark, earliestPts }
    return
  }
  if (jump?.reason === 'jumped') {
    const pts = unwrapStamp(stamp, jump.entry.dts)
    if (isNear(pts, jump.entry.dts)) {
      const earliestPts = Math.min(pts, jump.audio?.earliestPts ?? pts)
      jump.audio = { position, pts, earliestPts }
      return
    }
  }
  const section = state.sections.at(-1)
  // Audio of a PID that the tables of the section do not list waits for the next section.
  if (section === undefined || section.served.audio?.pid !== state.served.audio?.pid) return
  if (!fits(section, mark)) {
    state.stray ??= mark
    return
  }
  clockAudio(state, section, mark)
  if (jump?.reason === 'late') settleLate(state, jump.entry, mark)
  if (state.jump === undefined) splitAtPause(state, section, mark)
}

/** The audio shows, too, whether the stamp of a late frame is wrong. */
function settleLate(state: ScanState, { dts }: Entry, { pts }: AudioMark): void {
  state.pauseFrom ??= pts
  if (followsSoon(dts, pts)) takeWaiting(state)
  else if (pts - state.pauseFrom >= PAUSE_TICKS) state.jump = undefined
}

/** Adds split points where audio continues without video. */
function splitAtPause(state: ScanState, section: ScanSection, mark: AudioMark): void {
  state.pauseFrom ??= mark.pts
  const pause = mark.pts - state.pauseFrom
  if (pause < PAUSE_TICKS || mark.position <= lastSplitPointPosition(state)) return
  if (state.frame.isOpen) {
    finishFrame(state)
    return
  }
  const wait = mark.pts - Math.max(state.lastMainSplitPointPts, section.earliestPts)
  const flags = audioSplitFlags({
    toVideo: pause,
    toSplitPoint: wait,
    toKeyFrame: wait,
    toAnySplitPoint: mark.pts - state.lastSplitPointPts,
  })
  if (flags !== undefined) addSplitPoint(state, audioEntry(state, mark, flags))
}

function fits(section: ScanSection, { pts }: AudioMark): boolean {
  if (section.audio !== undefined && follows(pts, section.audio.pts)) return true
  return isNear(pts, section.lastDts)
}

function clockAudio(state: ScanState, section: ScanSection, mark: AudioMark): void {
  state.reference = mark.pts
  widenSection(section, mark.pts)
  section.audio = mark
}

function takeAudioAlone(state: ScanState, stamp: number): void {
  const mark = {
    position: state.audio.pes.position,
    pts: unwrapStamp(stamp, state.reference ?? stamp),
  }
  const last = state.sections.at(-1)
  if (state.gate === undefined && last !== undefined && !follows(mark.pts, last.lastDts)) {
    state.gate = createGate(state, 'jump', mark.position)
    noteGap(state, [last.lastDts, mark.pts], mark.position)
  }
  if (state.gate !== undefined || last === undefined) {
    startSection(state, audioEntry(state, mark, 0))
  } else if (isLoneSplit(mark.pts - state.lastMainSplitPointPts)) {
    addSplitPoint(state, audioEntry(state, mark, 0))
  }
  const section = state.sections.at(-1)
  if (section === undefined) return
  section.lastDts = mark.pts
  clockAudio(state, section, mark)
}

function isLoneSplit(distance: number): boolean {
  return isAudioSplit({ toVideo: Infinity, toSplitPoint: distance, toAnySplitPoint: distance })
}

function audioEntry(state: ScanState, { position, pts }: AudioMark, flags: number): Entry {
  return {
    position,
    pts,
    dts: pts,
    flags,
    counters: state.counters,
    carryBytes: 0,
    carryIsOpen: false,
    sps: undefined,
    parameterSets: undefined,
    sets: [],
  }
}
