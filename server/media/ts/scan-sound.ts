// Takes the packets of the sound: its times, what a cut leaves of it behind, and the cuts where there are no pictures.
import { adtsFrameAt } from '../codec/audio-frame.ts'
import { CUT_MID } from '../media-index.ts'
import { hasPayload, isScrambled, isUnitStart } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, STARTS } from './packet-walk.ts'
import { gatherPesStart, PES_TIMESCALE, unwrapStamp } from './pes.ts'
import { finishPicture, takeWaiting } from './scan-picture.ts'
import { addCut, keepPromise, lastCutPosition, startSection, widenSection } from './scan-section.ts'
import {
  createGate,
  follows,
  followsSoon,
  isNear,
  MAX_KEY_WAIT_TICKS,
  MID_CUT_TICKS,
  MIN_CUT_TICKS,
  noteGap,
} from './scan-state.ts'
import type { Entry, ScanSection, ScanState, SoundMark } from './scan-state.ts'
import { formOf } from './served-program.ts'
import type { AudioStream } from './served-program.ts'
import { readSoundSetUp } from './sound-set-up.ts'

/** A PES packet that has gone on this far behind a cut is cut there all the same. */
const MAX_CARRY_BYTES = 4 * 1024 * 1024
/** Sound without a picture beside it for so long is a pause of the pictures, not a matter of how the two are laid out. */
const PAUSE_TICKS = 2 * PES_TIMESCALE
/** Sound that goes on so long without a picture is cut as sound alone. Players bridge a shorter pause best inside of a segment. */
const MAX_PAUSE_TICKS = 20 * PES_TIMESCALE

/** Takes a packet of the served sound. */
export function takeSoundPacket(state: ScanState, packet: PacketView, audio: AudioStream): void {
  const { sound, picture, interest, jump } = state
  if (isUnitStart(packet.header)) {
    state.cutCarryIsOpen = false
    picture.carryIsOpen = false
    if (jump !== undefined) jump.entry.carryIsOpen = false
    sound.isOpen = !isScrambled(packet.header)
    sound.isMarked = false
    if (!sound.isOpen) state.counts.scrambled++
    sound.pes.length = 0
    sound.pes.header = undefined
    sound.pes.position = packet.position
  } else if (hasPayload(packet.header)) {
    carry(state, packet.position + state.options.packetBytes)
  }
  if (sound.isOpen) gather(state, packet, audio)
  const needsAll =
    sound.isOpen || state.cutCarryIsOpen || picture.carryIsOpen || state.jump?.entry.carryIsOpen
  interest[audio.pid] = needsAll ? ALL : STARTS
}

function gather(state: ScanState, packet: PacketView, audio: AudioStream): void {
  const { sound } = state
  const { pes } = sound
  if (gatherPesStart(pes, packet) === 'short') return
  const { header } = pes
  if (header?.stamps === undefined) {
    sound.isOpen = false
    return
  }
  if (!sound.isMarked) {
    sound.isMarked = true
    noteChange(state, header.headerBytes)
    if (state.served.video === undefined) takeSoundAlone(state, header.stamps.pts)
    else takeSoundBesidePictures(state, header.stamps.pts)
  }
  sound.track ??= readSoundSetUp(audio, pes.bytes.subarray(header.headerBytes, pes.length))
  sound.isOpen = sound.track === undefined && pes.length < pes.bytes.length
  noteTrack(state)
}

/** AAC that becomes another needs another init segment where it goes through fMP4: a section begins. */
function noteChange(state: ScanState, headerBytes: number): void {
  const { sound, served, options } = state
  if (sound.track?.codec !== 'aac' || formOf(options.served) === 'verbatim') return
  const frame = adtsFrameAt(sound.pes.bytes.subarray(headerBytes, sound.pes.length), 0)
  const { channels, timescale } = sound.track
  if (frame === undefined || (frame.channels === channels && frame.sampleRate === timescale)) return
  sound.track = undefined
  if (served.video !== undefined) state.wantsSection = true
  else state.gate ??= createGate(state, 'program', sound.pes.position)
}

/** What the sound is may be known later than that there is some. */
function noteTrack(state: ScanState): void {
  const section = state.sections.at(-1)
  if (section?.sound === undefined || state.sound.track === undefined) return
  if (section.served.audio?.pid !== state.served.audio?.pid) return
  // The tables of the section are settled and list no sound: those of the next one will.
  if (section.promise === 'broken') state.wantsSection = true
  keepPromise(state, section)
}

/** Notes that sound from before a cut, or before the picture that may become one, goes on to `end`. */
function carry(state: ScanState, end: number): void {
  const { cuts, picture, jump } = state
  if (picture.carryIsOpen) picture.carryBytes = end - picture.pes.position
  if (jump?.entry.carryIsOpen) jump.entry.carryBytes = end - jump.entry.position
  if (!state.cutCarryIsOpen) return
  const last = cuts.offsets.length - 1
  const bytes = end - (cuts.offsets[last] ?? end)
  if (bytes > MAX_CARRY_BYTES) state.cutCarryIsOpen = false
  else cuts.carryBytes[last] = bytes
}

function takeSoundBesidePictures(state: ScanState, stamp: number): void {
  const { gate, jump } = state
  const { position } = state.sound.pes
  const mark = { position, pts: unwrapStamp(stamp, state.reference ?? stamp) }
  if (gate !== undefined) {
    const goesOn = gate.sound !== undefined && follows(mark.pts, gate.sound.pts)
    const earliestPts = goesOn ? (gate.sound?.earliestPts ?? mark.pts) : mark.pts
    gate.sound = { ...mark, earliestPts }
    return
  }
  if (jump?.reason === 'jumped') {
    const pts = unwrapStamp(stamp, jump.entry.dts)
    if (isNear(pts, jump.entry.dts)) {
      const earliestPts = Math.min(pts, jump.sound?.earliestPts ?? pts)
      jump.sound = { position, pts, earliestPts }
      return
    }
  }
  const section = state.sections.at(-1)
  // Sound of another PID than the section's tables name waits for the next section.
  if (section === undefined || section.served.audio?.pid !== state.served.audio?.pid) return
  if (!fits(section, mark)) {
    state.stray ??= mark
    return
  }
  clockSound(state, section, mark)
  if (jump?.reason === 'late') settleLate(state, jump.entry, mark)
  if (state.jump === undefined) cutPause(state, section, mark)
}

/** The sound tells, too, whether the stamp of a late picture is wrong. */
function settleLate(state: ScanState, { dts }: Entry, { pts }: SoundMark): void {
  state.pauseFrom ??= pts
  if (followsSoon(dts, pts)) takeWaiting(state)
  else if (pts - state.pauseFrom >= PAUSE_TICKS) state.jump = undefined
}

/** Cuts where sound goes on without pictures. */
function cutPause(state: ScanState, section: ScanSection, mark: SoundMark): void {
  state.pauseFrom ??= mark.pts
  const pause = mark.pts - state.pauseFrom
  if (pause < PAUSE_TICKS || mark.position <= lastCutPosition(state)) return
  if (state.picture.isOpen) {
    finishPicture(state)
    return
  }
  const wait = mark.pts - Math.max(state.lastMainCutPts, section.earliestPts)
  if (pause >= MAX_PAUSE_TICKS) {
    if (wait >= MIN_CUT_TICKS) addCut(state, soundEntry(state, mark, 0))
  } else if (wait >= MAX_KEY_WAIT_TICKS && mark.pts - state.lastCutPts >= MID_CUT_TICKS) {
    addCut(state, soundEntry(state, mark, CUT_MID))
  }
}

function fits(section: ScanSection, { pts }: SoundMark): boolean {
  if (section.sound !== undefined && follows(pts, section.sound.pts)) return true
  return isNear(pts, section.lastDts)
}

function clockSound(state: ScanState, section: ScanSection, mark: SoundMark): void {
  state.reference = mark.pts
  widenSection(section, mark.pts)
  if (section.sound === undefined || mark.pts >= section.sound.pts) section.sound = mark
}

function takeSoundAlone(state: ScanState, stamp: number): void {
  const mark = {
    position: state.sound.pes.position,
    pts: unwrapStamp(stamp, state.reference ?? stamp),
  }
  const last = state.sections.at(-1)
  if (state.gate === undefined && last !== undefined && !follows(mark.pts, last.lastDts)) {
    state.gate = createGate(state, 'jump', mark.position)
    noteGap(state, [last.lastDts, mark.pts], mark.position)
  }
  if (state.gate !== undefined || last === undefined) {
    startSection(state, soundEntry(state, mark, 0))
  } else if (mark.pts - state.lastMainCutPts >= MIN_CUT_TICKS) {
    addCut(state, soundEntry(state, mark, 0))
  }
  const section = state.sections.at(-1)
  if (section === undefined) return
  section.lastDts = mark.pts
  clockSound(state, section, mark)
}

function soundEntry(state: ScanState, { position, pts }: SoundMark, flags: number): Entry {
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
  }
}
