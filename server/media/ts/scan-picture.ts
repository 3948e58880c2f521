// Takes the packets of the video: finds the pictures, and among them the key frames.
import { CUT_KEY, CUT_MID } from '../media-index.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'
import { continuityCounter, isScrambled, isUnitStart } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, STARTS, UNKNOWN_COUNTER } from './packet-walk.ts'
import { gatherPesStart, unwrapStamp } from './pes.ts'
import {
  createPictureScan,
  pictureParameterSets,
  pictureSps,
  scanPicture,
} from './picture-start.ts'
import type { PictureKind } from './picture-start.ts'
import { isWrong, noteJump, takeJump, whyWait } from './scan-jump.ts'
import { countsAsKey } from './scan-key.ts'
import { addCut, startSection, widenSection } from './scan-section.ts'
import {
  isNear,
  MAX_FORWARD_TICKS,
  MAX_KEY_WAIT_TICKS,
  MID_CUT_TICKS,
  MIN_CUT_TICKS,
} from './scan-state.ts'
import type { Entry, ScanSection, ScanState } from './scan-state.ts'
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
    openPicture(state, packet)
    interest[video.pid] = ALL
    if (state.served.audio !== undefined) interest[state.served.audio.pid] = ALL
  }
  if (!picture.isOpen) return
  const { pes } = picture
  const gathered = gatherPesStart(pes, packet)
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

function openPicture(state: ScanState, { position, header, counterBefore }: PacketView): void {
  const { picture } = state
  picture.pes.length = 0
  picture.pes.header = undefined
  picture.pes.position = position
  picture.scan = undefined
  picture.isOpen = true
  // ISO/IEC 13818-1 2.4.3.3: the counter goes on by one with every packet that has a payload.
  picture.goesOn =
    counterBefore !== UNKNOWN_COUNTER && continuityCounter(header) === ((counterBefore + 1) & 0x0f)
  picture.counters = state.counters
  picture.carryBytes = 0
  picture.carryIsOpen = true
}

function concludePicture(state: ScanState, kind: PictureKind): void {
  const { picture, counts } = state
  picture.isOpen = false
  if (state.served.video !== undefined) state.interest[state.served.video.pid] = STARTS
  counts.pictures++
  state.pauseFrom = undefined
  const stamps = picture.pes.header?.stamps
  if (stamps !== undefined) {
    settleWaiting(state, stamps.dts)
    const dts = unwrapStamp(stamps.dts, state.reference ?? stamps.dts)
    const pts = unwrapStamp(stamps.pts, dts)
    // Pictures are shown soon after they are decoded; a stamp that says otherwise is damaged.
    const entry = createEntry(state, { dts, pts: isNear(pts, dts) ? pts : dts })
    const reason = state.gate === undefined ? whyWait(state, dts) : undefined
    if (reason === undefined) takePicture(state, entry, kind)
    else noteJump(state, entry, { reason, kind })
  }
  picture.carryIsOpen = false
}

/** Decides on a picture that waits, now that the next one's decode time (33 bits) is known. */
function settleWaiting(state: ScanState, stamp: number): void {
  // One wrong stamp: the picture stays where it is, and tells nothing of times.
  if (state.jump !== undefined && isWrong(state, state.jump, stamp)) state.jump = undefined
  takeWaiting(state)
}

/** Takes a picture that waits for the next one, as none tells that its stamp is wrong. */
export function takeWaiting(state: ScanState): void {
  const { jump } = state
  state.jump = undefined
  if (jump?.reason === 'jumped') takeJump(state, jump)
  else if (jump !== undefined) takePicture(state, jump.entry, jump.kind)
}

function createEntry(state: ScanState, { pts, dts }: { pts: number; dts: number }): Entry {
  const { pes, scan, counters, carryBytes, carryIsOpen } = state.picture
  const bytes = pes.bytes
  return {
    position: pes.position,
    pts,
    dts,
    flags: CUT_KEY,
    counters,
    carryBytes,
    carryIsOpen: carryIsOpen && state.served.audio !== undefined,
    sps: scan && pictureSps(scan, bytes),
    parameterSets: scan && pictureParameterSets(scan, bytes),
  }
}

function takePicture(state: ScanState, entry: Entry, kind: PictureKind): void {
  state.reference = entry.dts
  state.stray = undefined
  const isKey = countsAsKey(state, kind, entry.dts)
  const section = state.sections.at(-1)
  if (state.gate !== undefined || section === undefined) {
    if (isKey) startSection(state, entry)
    else if (state.gate !== undefined) state.gate.sawPicture = true
  } else if (isKey) {
    takeKeyPicture(state, section, entry)
  } else {
    takePlainPicture(state, section, entry)
  }
  const current = state.sections.at(-1)
  if (current !== undefined && state.gate === undefined) clockPicture(current, entry)
}

function takeKeyPicture(state: ScanState, section: ScanSection, entry: Entry): void {
  if (state.wantsSection || hasNewSps(section, entry)) {
    startSection(state, entry)
    return
  }
  section.sps ??= entry.sps
  section.parameterSets ??= entry.parameterSets
  if (entry.pts - state.lastMainCutPts >= MIN_CUT_TICKS) addCut(state, entry)
}

function hasNewSps({ sps, served }: ScanSection, entry: Entry): boolean {
  if (entry.sps === undefined || sps === undefined) return false
  if (Buffer.compare(entry.sps, sps) === 0) return false
  // One that cannot be read is damaged, not new.
  return (
    served.video !== undefined && parseVideoParameters(served.video.codec, entry.sps) !== undefined
  )
}

/** Cuts in mid-GOP where the next key frame is far, at pictures behind which none is shown that was due before. */
function takePlainPicture(state: ScanState, section: ScanSection, entry: Entry): void {
  const { latestPicturePts, frameTicks } = section
  if (entry.pts <= latestPicturePts) return
  // B-frames that come behind it in the file are shown before it.
  const pts = Math.min(entry.pts, latestPicturePts + frameTicks)
  if (pts - state.lastMainCutPts < MAX_KEY_WAIT_TICKS) return
  if (pts - state.lastCutPts >= MID_CUT_TICKS) addCut(state, { ...entry, pts, flags: CUT_MID })
}

/** Sound that has not come when pictures have gone on for so long is not waited for. */
const MAX_SOUND_WAIT_TICKS = MAX_FORWARD_TICKS

function clockPicture(section: ScanSection, { pts, dts }: { pts: number; dts: number }): void {
  const step = dts - section.lastDts
  if (step > 0 && step <= MAX_FORWARD_TICKS) section.frameTicks = step
  section.lastDts = dts
  widenSection(section, pts)
  section.latestPicturePts = Math.max(section.latestPicturePts, pts)
  if (section.promise === 'waiting' && dts - section.firstDts > MAX_SOUND_WAIT_TICKS) {
    section.promise = 'broken'
  }
}
