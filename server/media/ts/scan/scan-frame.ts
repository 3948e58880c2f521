// Processes the packets of video: finds the frames, and among them the key frames.
import { SPLIT_KEY_FRAME } from '../../media-index.ts'
import { MAX_FORWARD_SECONDS } from '../../timeline/timeline-rules.ts'
import { parseVideoParameters } from '../../codec/video-parameters.ts'
import { continuityCounter, isScrambled, isUnitStart } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, STARTS, UNKNOWN_COUNTER } from '../packets/packet-walk.ts'
import { gatherPesStart, PES_TIMESCALE, unwrapStamp } from '../packets/pes.ts'
import {
  createFrameScan,
  pictureParameterSets,
  frameSets,
  frameSps,
  scanFrame,
} from '../packets/frame-start.ts'
import type { FrameKind } from '../packets/frame-start.ts'
import { isWrong, noteJump, takeJump, whyWait } from './scan-jump.ts'
import {
  addSplitPoint,
  moveStartBack,
  noteSets,
  startSection,
  widenSection,
} from './scan-section.ts'
import type { Entry, ScanSection, ScanState } from './scan-state.ts'
import { countsAsKey, tsRules } from './ts-rules.ts'
import type { VideoStream } from './served-program.ts'

/** Processes a packet of the served video. */
export function takeFramePacket(state: ScanState, packet: PacketView, video: VideoStream): void {
  const { frame, interest } = state
  if (isUnitStart(packet.header)) {
    finishFrame(state)
    if (isScrambled(packet.header)) {
      state.counts.scrambled++
      return
    }
    openFrame(state, packet)
    interest[video.pid] = ALL
    if (state.served.audio !== undefined) interest[state.served.audio.pid] = ALL
  }
  if (!frame.isOpen) return
  const { pes } = frame
  const gathered = gatherPesStart(pes, packet)
  if (gathered === 'short') return
  if (gathered === 'invalid' || pes.header === undefined) {
    frame.isOpen = false
    interest[video.pid] = STARTS
    return
  }
  frame.scan ??= createFrameScan(pes.header.headerBytes)
  const kind = scanFrame(frame.scan, video.codec, pes.bytes.subarray(0, pes.length))
  const isFull = pes.length === pes.bytes.length
  if (kind !== undefined || isFull) concludeFrame(state, kind ?? 'other')
}

/** Concludes a frame whose PES packet ends before its first slice. */
export function finishFrame(state: ScanState): void {
  if (!state.frame.isOpen) return
  if (state.frame.pes.header === undefined) state.frame.isOpen = false
  else concludeFrame(state, 'other')
}

function openFrame(state: ScanState, { position, header, counterBefore }: PacketView): void {
  const { frame } = state
  frame.pes.length = 0
  frame.pes.header = undefined
  frame.pes.position = position
  frame.scan = undefined
  frame.isOpen = true
  // ISO/IEC 13818-1 2.4.3.3: the counter increments with every packet that has a payload.
  frame.goesOn =
    counterBefore !== UNKNOWN_COUNTER && continuityCounter(header) === ((counterBefore + 1) & 0x0f)
  frame.counters = state.counters
  frame.carryBytes = 0
  frame.carryIsOpen = true
}

function concludeFrame(state: ScanState, kind: FrameKind): void {
  const { frame, counts } = state
  frame.isOpen = false
  if (state.served.video !== undefined) state.interest[state.served.video.pid] = STARTS
  counts.frames++
  state.pauseFrom = undefined
  const stamps = frame.pes.header?.stamps
  if (stamps !== undefined) {
    settleWaiting(state, stamps.dts)
    const dts = unwrapStamp(stamps.dts, state.reference ?? stamps.dts)
    const pts = unwrapStamp(stamps.pts, dts)
    // A presentation time far from the decode time is corrupt.
    const entry = createEntry(state, { dts, pts: tsRules.isNear(pts, dts) ? pts : dts })
    const reason = state.gate === undefined ? whyWait(state, dts) : undefined
    if (reason === undefined) takeFrame(state, entry, kind)
    else noteJump(state, entry, { reason, kind })
  }
  frame.carryIsOpen = false
}

/** Decides about a waiting frame with the decode time (33 bits) of the next one. */
function settleWaiting(state: ScanState, stamp: number): void {
  // One wrong stamp: the frame stays, and its times are ignored.
  if (state.jump !== undefined && isWrong(state, state.jump, stamp)) state.jump = undefined
  takeWaiting(state)
}

/** Accepts a frame that waits for the next one, since its stamp is not known to be wrong. */
export function takeWaiting(state: ScanState): void {
  const { jump } = state
  state.jump = undefined
  if (jump?.reason === 'jumped') takeJump(state, jump)
  else if (jump !== undefined) takeFrame(state, jump.entry, jump.kind)
}

function createEntry(state: ScanState, { pts, dts }: { pts: number; dts: number }): Entry {
  const { pes, scan, counters, carryBytes, carryIsOpen } = state.frame
  const bytes = pes.bytes
  return {
    position: pes.position,
    pts,
    dts,
    flags: SPLIT_KEY_FRAME,
    counters,
    carryBytes,
    carryIsOpen: carryIsOpen && state.served.audio !== undefined,
    sps: scan && frameSps(scan, bytes),
    parameterSets: scan && pictureParameterSets(scan, bytes),
    sets: scan === undefined ? [] : frameSets(scan, bytes),
  }
}

function takeFrame(state: ScanState, entry: Entry, kind: FrameKind): void {
  state.reference = entry.dts
  state.stray = undefined
  const isKey = countsAsKey(state, kind, entry.dts)
  const section = state.sections.at(-1)
  const known = state.splitPoints.offsets.length
  if (state.gate !== undefined || section === undefined) {
    if (isKey) startSection(state, entry)
    else if (state.gate !== undefined) state.gate.sawFrame = true
  } else if (isKey) {
    takeKeyFrame(state, section, entry)
  } else {
    takePlainFrame(state, section, entry)
  }
  noteSets(state, entry, isKey ? known : Infinity)
  const current = state.sections.at(-1)
  if (current !== undefined && state.gate === undefined) clockFrame(current, entry, isKey)
}

function takeKeyFrame(state: ScanState, section: ScanSection, entry: Entry): void {
  if (state.wantsSection || hasNewSps(section, entry)) {
    startSection(state, entry)
    return
  }
  section.sps ??= entry.sps
  section.parameterSets ??= entry.parameterSets
  if (splitFlags(state, entry, 'key') !== 0) addSplitPoint(state, entry)
  else moveStartBack(state, entry)
}

function hasNewSps({ sps, served }: ScanSection, entry: Entry): boolean {
  if (entry.sps === undefined || sps === undefined) return false
  if (Buffer.compare(entry.sps, sps) === 0) return false
  // An unreadable one is corrupt, not new.
  return (
    served.video !== undefined && parseVideoParameters(served.video.codec, entry.sps) !== undefined
  )
}

function takePlainFrame(state: ScanState, section: ScanSection, entry: Entry): void {
  const { latestFramePts, frameTicks } = section
  // B-frames after it in the file may be shown before it.
  const pts = Math.min(entry.pts, latestFramePts + frameTicks)
  const flags = entry.pts > latestFramePts ? splitFlags(state, { pts }, 'plain') : 0
  if (flags !== 0) addSplitPoint(state, { ...entry, flags })
  else moveStartBack(state, entry)
}

function splitFlags(state: ScanState, { pts }: { pts: number }, kind: 'key' | 'plain'): number {
  const toSplitPoint = pts - state.lastMainSplitPointPts
  return tsRules.videoSplitFlags(kind === 'key', {
    toSplitPoint,
    toKeyFrame: toSplitPoint,
    toAnySplitPoint: pts - state.lastSplitPointPts,
    isShownLast: true,
  })
}

type FrameTimes = Pick<Entry, 'pts' | 'dts'>

/** Audio that is missing for this long is not awaited. */
const MAX_AUDIO_WAIT_TICKS = MAX_FORWARD_SECONDS * PES_TIMESCALE

function clockFrame(section: ScanSection, { pts, dts }: FrameTimes, isKey: boolean): void {
  const step = dts - section.lastDts
  if (step > 0 && step <= MAX_FORWARD_SECONDS * PES_TIMESCALE) section.frameTicks = step
  section.lastDts = dts
  widenSection(section, pts)
  // A key frame is presented after all frames before it; a later time of one of these is wrong.
  section.latestFramePts = isKey ? pts : Math.max(section.latestFramePts, pts)
  if (section.promise === 'waiting' && dts - section.firstDts > MAX_AUDIO_WAIT_TICKS) {
    section.promise = 'broken'
  }
}
