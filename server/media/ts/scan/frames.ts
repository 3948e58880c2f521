// The frames of the served video: gathers the start of each from packets, until its first slice
// shows whether decoding can begin there.
import { SPLIT_KEY_FRAME } from '../../media-index.ts'
import { continuityCounter } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { UNKNOWN_COUNTER } from '../packets/packet-walk.ts'
import { createPesStart, gatherPesStart, openPesStart } from '../packets/pes.ts'
import {
  createFrameScan,
  FRAME_SEARCH_BYTES,
  frameSets,
  frameSps,
  pictureParameterSets,
  scanFrame,
} from '../packets/frame-start.ts'
import type { FrameKind } from '../packets/frame-start.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'
import type { Entry, FrameState } from './scan-state.ts'

/** A frame of which enough is known. */
export interface Frame {
  kind: FrameKind
  /**
   * No packet of video is missing before it, so it can be decoded although it is not a key frame.
   */
  goesOn: boolean
  hasTimes: boolean
  entry: Entry
}

export function createFrames(): FrameState {
  return {
    pes: createPesStart(FRAME_SEARCH_BYTES),
    scan: undefined,
    isOpen: false,
    goesOn: false,
    counters: 0xff,
    carryBytes: 0,
    carryIsOpen: false,
  }
}

/** Begins a frame with the packet in which it starts. `counters`: those of the tables before it. */
export function openFrame(state: FrameState, packet: PacketView, counters: number): void {
  const { header, counterBefore } = packet
  openPesStart(state.pes, packet)
  state.scan = undefined
  state.isOpen = true
  // ISO/IEC 13818-1 2.4.3.3: the counter increments with every packet that has a payload.
  state.goesOn =
    counterBefore !== UNKNOWN_COUNTER && continuityCounter(header) === ((counterBefore + 1) & 0x0f)
  state.counters = counters
  state.carryBytes = 0
  state.carryIsOpen = true
}

/** Adds a packet of the video. Returns the frame once enough is known, undefined before. */
export function gatherFrame(
  state: FrameState,
  packet: PacketView,
  codec: VideoCodec,
): Frame | 'invalid' | undefined {
  if (!state.isOpen) return undefined
  const { pes } = state
  const gathered = gatherPesStart(pes, packet)
  if (gathered === 'short') return undefined
  if (gathered === 'invalid' || pes.header === undefined) {
    state.isOpen = false
    return 'invalid'
  }
  state.scan ??= createFrameScan(pes.header.headerBytes)
  const kind = scanFrame(state.scan, codec, pes.bytes.subarray(0, pes.length))
  const isFull = pes.length === pes.bytes.length
  return kind !== undefined || isFull ? closeFrame(state, kind ?? 'other') : undefined
}

/** The frame whose PES packet ends before its first slice; undefined if there is none. */
export function endFrame(state: FrameState): Frame | undefined {
  if (!state.isOpen) return undefined
  if (state.pes.header !== undefined) return closeFrame(state, 'other')
  state.isOpen = false
  return undefined
}

function closeFrame(state: FrameState, kind: FrameKind): Frame {
  const { pes, scan, goesOn, counters, carryBytes, carryIsOpen } = state
  const { stamps } = pes.header ?? {}
  state.isOpen = false
  state.carryIsOpen = false
  const entry: Entry = {
    position: pes.position,
    pts: stamps?.pts ?? NaN,
    dts: stamps?.dts ?? NaN,
    flags: SPLIT_KEY_FRAME,
    counters,
    carryBytes,
    carryIsOpen,
    sps: scan && frameSps(scan, pes.bytes),
    parameterSets: scan && pictureParameterSets(scan, pes.bytes),
    sets: scan === undefined ? [] : frameSets(scan, pes.bytes),
  }
  return { kind, goesOn, hasTimes: stamps !== undefined, entry }
}
