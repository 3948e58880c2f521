// Takes the packets of the sound: its times, what a cut leaves of it behind, and the cuts where there are no pictures.
import { hasPayload, isScrambled, isUnitStart, payloadEnd, payloadStart } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, STARTS } from './packet-walk.ts'
import { gatherPesStart, PES_TIMESCALE, unwrapStamp } from './pes.ts'
import { addCut, startSection } from './scan-section.ts'
import type { Entry } from './scan-section.ts'
import { createGate, follows, isNear, MIN_CUT_TICKS } from './scan-state.ts'
import type { ScanSection, ScanState, SoundMark } from './scan-state.ts'
import type { AudioStream } from './served-program.ts'

/** A PES packet that has gone on this far behind a cut is cut there all the same. */
const MAX_CARRY_BYTES = 4 * 1024 * 1024
/** Sound that outlasts the pictures by less than this stays in the last picture's segment. */
const MIN_TAIL_TICKS = 2 * PES_TIMESCALE

/** Takes a packet of the served sound. */
export function takeSoundPacket(state: ScanState, packet: PacketView, audio: AudioStream): void {
  const { sound, picture, interest } = state
  if (isUnitStart(packet.header)) {
    state.cutCarryIsOpen = false
    picture.carryIsOpen = false
    sound.isOpen = !isScrambled(packet.header)
    if (!sound.isOpen) state.counts.scrambled++
    sound.pes.length = 0
    sound.pes.header = undefined
    sound.pes.position = packet.position
  } else if (hasPayload(packet.header)) {
    carry(state, packet.position + state.options.packetBytes)
  }
  if (sound.isOpen) gather(state, packet)
  const needsAll = sound.isOpen || state.cutCarryIsOpen || picture.carryIsOpen
  interest[audio.pid] = needsAll ? ALL : STARTS
}

function gather(state: ScanState, packet: PacketView): void {
  const { pes } = state.sound
  const payload = packet.bytes.subarray(payloadStart(packet), payloadEnd(packet))
  if (gatherPesStart(pes, payload) === 'short') return
  state.sound.isOpen = false
  const stamps = pes.header?.stamps
  if (stamps === undefined) return
  state.counts.sounds++
  const pts = unwrapStamp(stamps.pts, state.reference ?? stamps.pts)
  const mark = { position: pes.position, pts }
  if (state.served.video === undefined) takeSoundAlone(state, mark)
  else takeSoundBesidePictures(state, mark)
}

/** Notes that sound from before a cut, or before the picture that may become one, goes on to `end`. */
function carry(state: ScanState, end: number): void {
  const { cuts, picture } = state
  if (picture.carryIsOpen) picture.carryBytes = end - picture.pes.position
  if (!state.cutCarryIsOpen) return
  const last = cuts.offsets.length - 1
  const bytes = end - (cuts.offsets[last] ?? end)
  if (bytes > MAX_CARRY_BYTES) state.cutCarryIsOpen = false
  else cuts.carryBytes[last] = bytes
}

function takeSoundBesidePictures(state: ScanState, mark: SoundMark): void {
  if (state.gate !== undefined) {
    const { sound } = state.gate
    const goesOn = sound !== undefined && follows(mark.pts, sound.pts)
    state.gate.sound = { ...mark, earliestPts: goesOn ? sound.earliestPts : mark.pts }
    return
  }
  const section = state.sections.at(-1)
  if (section === undefined) return
  if (!fits(section, mark)) {
    state.stray ??= mark
    return
  }
  clockSound(state, section, mark)
  const { tail } = state
  if (mark.pts - (tail.at(-1)?.pts ?? section.latestPicturePts) >= MIN_CUT_TICKS) tail.push(mark)
}

function fits(section: ScanSection, { pts }: SoundMark): boolean {
  if (section.sound !== undefined && follows(pts, section.sound.pts)) return true
  return isNear(pts, section.lastDts)
}

function clockSound(state: ScanState, section: ScanSection, mark: SoundMark): void {
  state.reference = mark.pts
  section.earliestPts = Math.min(section.earliestPts, mark.pts)
  if (section.sound === undefined || mark.pts >= section.sound.pts) section.sound = mark
}

function takeSoundAlone(state: ScanState, mark: SoundMark): void {
  const last = state.sections.at(-1)
  if (state.gate === undefined && last !== undefined && !follows(mark.pts, last.lastDts)) {
    state.gate = createGate(state, 'jump', mark.position)
  }
  if (state.gate !== undefined || last === undefined) {
    startSection(state, soundEntry(state, mark))
  } else if (mark.pts - (state.cuts.pts.at(-1) ?? -Infinity) >= MIN_CUT_TICKS) {
    addCut(state, soundEntry(state, mark))
  }
  const section = state.sections.at(-1)
  if (section === undefined) return
  section.lastDts = mark.pts
  clockSound(state, section, mark)
}

/** Turns sound that outlasts the pictures into cuts, at the end of the scan. */
export function cutTail(state: ScanState): void {
  const section = state.sections.at(-1)
  if (section === undefined || state.gate !== undefined) return
  const from = section.latestPicturePts + MIN_TAIL_TICKS
  for (const mark of state.tail) {
    if (mark.pts >= from) addCut(state, soundEntry(state, mark))
  }
}

function soundEntry(state: ScanState, { position, pts }: SoundMark): Entry {
  return {
    position,
    pts,
    dts: pts,
    isKey: false,
    counters: state.counters,
    carryBytes: 0,
    carryIsOpen: false,
    sps: undefined,
    parameterSets: undefined,
  }
}
