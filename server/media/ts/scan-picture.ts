// Takes the packets of the video: finds the pictures, and among them the key frames.
import { isScrambled, isUnitStart, payloadEnd, payloadStart } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, STARTS } from './packet-walk.ts'
import { gatherPesStart, unwrapStamp } from './pes.ts'
import {
  createPictureScan,
  pictureParameterSets,
  pictureSps,
  scanPicture,
} from './picture-start.ts'
import type { PictureKind } from './picture-start.ts'
import { addCut, startSection } from './scan-section.ts'
import type { Entry } from './scan-section.ts'
import { createGate, follows, isNear, MAX_FORWARD_TICKS, MIN_CUT_TICKS } from './scan-state.ts'
import type { ScanSection, ScanState } from './scan-state.ts'
import type { VideoStream } from './served-program.ts'

/** Takes a packet of the served video. */
export function takePicturePacket(state: ScanState, packet: PacketView, video: VideoStream): void {
  const { picture, interest } = state
  if (isUnitStart(packet.header)) {
    finishPicture(state)
    if (isScrambled(packet.header)) {
      state.counts.scrambled++
      return
    }
    openPicture(state, packet.position)
    interest[video.pid] = ALL
    if (state.served.audio !== undefined) interest[state.served.audio.pid] = ALL
  }
  if (!picture.isOpen) return
  const { pes } = picture
  const payload = packet.bytes.subarray(payloadStart(packet), payloadEnd(packet))
  const gathered = gatherPesStart(pes, payload)
  if (gathered === 'short') return
  if (gathered === 'invalid' || pes.header === undefined) {
    picture.isOpen = false
    interest[video.pid] = STARTS
    return
  }
  picture.scan ??= createPictureScan(pes.header.headerBytes)
  const kind = scanPicture(picture.scan, video.codec, pes.bytes.subarray(0, pes.length))
  const isFull = pes.length === pes.bytes.length
  if (kind !== undefined || isFull) concludePicture(state, kind ?? 'other')
}

/** Settles a picture whose first slice has not come when its PES packet ends. */
export function finishPicture(state: ScanState): void {
  if (!state.picture.isOpen) return
  if (state.picture.pes.header === undefined) state.picture.isOpen = false
  else concludePicture(state, 'other')
}

function openPicture(state: ScanState, position: number): void {
  const { picture } = state
  picture.pes.length = 0
  picture.pes.header = undefined
  picture.pes.position = position
  picture.scan = undefined
  picture.isOpen = true
  picture.counters = state.counters
  picture.carryBytes = 0
  picture.carryIsOpen = true
}

function concludePicture(state: ScanState, kind: PictureKind): void {
  const { picture, counts } = state
  const { header, position } = picture.pes
  picture.isOpen = false
  if (state.served.video !== undefined) state.interest[state.served.video.pid] = STARTS
  counts.pictures++
  state.tail.length = 0
  if (header?.stamps === undefined) return
  const dts = unwrapStamp(header.stamps.dts, state.reference ?? header.stamps.dts)
  const pts = unwrapStamp(header.stamps.pts, dts)
  const isKey = isKeyPicture(state, kind, pts)
  if (state.gate === undefined && hasJumped(state, dts)) {
    const { stray } = state
    const from = stray !== undefined && isNear(stray.pts, dts) ? stray.position : position
    state.gate = createGate(state, 'jump', from)
    if (from !== position && stray !== undefined) {
      state.gate.sound = { ...stray, earliestPts: stray.pts }
    }
  }
  state.reference = dts
  state.stray = undefined
  if (isKey) takeKeyPicture(state, createEntry(state, { pts, dts }))
  else if (state.gate !== undefined) state.gate.sawPicture = true
  const section = state.sections.at(-1)
  if (section !== undefined && state.gate === undefined) clockPicture(section, { pts, dts })
  picture.carryIsOpen = false
}

function isKeyPicture(state: ScanState, kind: PictureKind, pts: number): boolean {
  const { counts } = state
  if (kind === 'recovery') {
    counts.recoveryPoints++
    if (counts.keys > 0) {
      const wait = Math.abs(pts - counts.lastKeyPts)
      counts.longestWaitTicks = Math.max(counts.longestWaitTicks, wait)
    }
    return state.options.recoveryPoints === 'cut'
  }
  if (kind !== 'key') return false
  counts.keys++
  counts.lastKeyPts = pts
  return true
}

/** A pause of the pictures is no jump where the sound has gone on meanwhile. */
function hasJumped(state: ScanState, dts: number): boolean {
  const section = state.sections.at(-1)
  if (section === undefined || follows(dts, section.lastDts)) return false
  const isPause =
    dts > section.lastDts && section.sound !== undefined && isNear(section.sound.pts, dts)
  return !isPause
}

function createEntry(state: ScanState, { pts, dts }: { pts: number; dts: number }): Entry {
  const { pes, scan, counters, carryBytes, carryIsOpen } = state.picture
  const bytes = pes.bytes
  return {
    position: pes.position,
    pts,
    dts,
    isKey: true,
    counters,
    carryBytes,
    carryIsOpen,
    sps: scan && pictureSps(scan, bytes),
    parameterSets: scan && pictureParameterSets(scan, bytes),
  }
}

function takeKeyPicture(state: ScanState, entry: Entry): void {
  const section = state.sections.at(-1)
  if (section === undefined || state.gate !== undefined || hasNewSps(section, entry)) {
    startSection(state, entry)
    return
  }
  if (entry.pts - (state.cuts.pts.at(-1) ?? -Infinity) >= MIN_CUT_TICKS) addCut(state, entry)
}

function hasNewSps(section: ScanSection, { sps }: Entry): boolean {
  if (sps === undefined || section.sps === undefined) return false
  return Buffer.compare(sps, section.sps) !== 0
}

function clockPicture(section: ScanSection, { pts, dts }: { pts: number; dts: number }): void {
  const step = dts - section.lastDts
  if (step > 0 && step <= MAX_FORWARD_TICKS) section.frameTicks = step
  section.lastDts = dts
  section.earliestPts = Math.min(section.earliestPts, pts)
  section.latestPicturePts = Math.max(section.latestPicturePts, pts)
}
