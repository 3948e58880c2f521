// Finds in the first bytes of a frame whether decoding can begin there, and its parameter sets.
import { createBitReader } from '../../codec/bit-reader.ts'
import {
  findNal,
  nalRole,
  START_CODE,
  unescapeNal,
  withoutTrailingZeros,
} from '../../codec/nal-unit.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'

/** The first slice must begin within these bytes; a frame without one is not a key frame. */
export const FRAME_SEARCH_BYTES = 64 * 1024
/** Longer parameter sets are ignored. */
const MAX_PARAMETER_SET_BYTES = 4096
/** Bytes of a slice that contain its type, after the NAL header. */
const SLICE_START_BYTES = 12
const RECOVERY_POINT_SEI = 6
const MAX_SEI_MESSAGES = 64

/**
 * `key`: IDR or IRAP. `recovery`: an I frame with parameter sets at an exact recovery point (H.264
 * D.2.8).
 */
export type FrameKind = 'key' | 'recovery' | 'other'

/** Progress of a search through the bytes of a frame. */
export interface FrameScan {
  scannedTo: number
  /** Index of the NAL unit without a known end. */
  openNal: number
  openRole: 'sps' | 'parameters' | 'sei' | undefined
  /** Ranges of parameter sets, as pairs of first byte and end. */
  parameters: number[]
  sps: number[]
  sei: number[]
}

export function createFrameScan(payloadAt: number): FrameScan {
  const none = { parameters: [], sps: [], sei: [] }
  return { scannedTo: payloadAt, openNal: 0, openRole: undefined, ...none }
}

/** Continues the search; returns the kind of the frame, or undefined before its first slice. */
export function scanFrame(
  scan: FrameScan,
  codec: VideoCodec,
  bytes: Uint8Array,
): FrameKind | undefined {
  for (;;) {
    const nal = findNal(bytes, scan.scannedTo, bytes.length)
    if (nal < 0 || nal >= bytes.length) {
      // A start code may be split; one without the byte after it is found again.
      const seen = nal < 0 ? bytes.length - 2 : nal - 3
      scan.scannedTo = Math.max(scan.scannedTo, seen)
      return undefined
    }
    const role = nalRole(codec, bytes[nal] ?? 0)
    if (role === 'slice' && scan.sps.length > 0 && bytes.length < nal + SLICE_START_BYTES) {
      scan.scannedTo = nal - 3
      return undefined
    }
    closeNal(scan, nal - 3)
    if (role === 'key slice') return 'key'
    if (role === 'slice') {
      const isRecovery = codec === 'h264' && isRecoveryPoint(scan, bytes, nal)
      return isRecovery ? 'recovery' : 'other'
    }
    scan.openNal = nal
    scan.openRole = role === 'other' ? undefined : role
    scan.scannedTo = nal
  }
}

function closeNal(scan: FrameScan, end: number): void {
  const { openRole, openNal } = scan
  scan.openRole = undefined
  if (openRole === undefined) return
  if (openRole === 'sei') scan.sei.push(openNal, end)
  else scan.parameters.push(openNal, end)
  if (openRole === 'sps') scan.sps.push(openNal, end)
}

/** A frame at which decoding is exact although it is not IDR (14496-10 D.2.8). */
function isRecoveryPoint(scan: FrameScan, bytes: Uint8Array, slice: number): boolean {
  if (scan.sps.length === 0 || !isIntraSlice(bytes.subarray(slice, slice + SLICE_START_BYTES))) {
    return false
  }
  for (let i = 0; i + 1 < scan.sei.length; i += 2) {
    if (hasRecoveryPoint(unescapeNal(bytes.subarray(scan.sei[i], scan.sei[i + 1])))) return true
  }
  return false
}

/** first_mb_in_slice, slice_type (14496-10 7.3.3): 2 and 7 are I, 4 and 9 are SI. */
function isIntraSlice(slice: Uint8Array): boolean {
  const reader = createBitReader(unescapeNal(slice.subarray(1)))
  reader.unsigned()
  const type = reader.unsigned() % 5
  return type === 2 || type === 4
}

function hasRecoveryPoint(sei: Uint8Array): boolean {
  let at = 1
  for (let i = 0; i < MAX_SEI_MESSAGES && at + 2 < sei.length; i++) {
    const type = readSeiNumber(sei, at)
    const size = readSeiNumber(sei, type.end)
    const body = sei.subarray(size.end, size.end + size.value)
    if (type.value === RECOVERY_POINT_SEI) return createBitReader(body).unsigned() === 0
    at = size.end + size.value
  }
  return false
}

/** Numbers of SEI messages are sums of bytes; all but the last are 255 (14496-10 7.3.2.3.1). */
function readSeiNumber(sei: Uint8Array, start: number): { value: number; end: number } {
  let value = 0
  let end = start
  while (sei[end] === 0xff) {
    value += 255
    end++
  }
  return { value: value + (sei[end] ?? 0), end: end + 1 }
}

/** The parameter sets as Annex B; undefined without an SPS, or if they are too long. */
export function pictureParameterSets(scan: FrameScan, bytes: Uint8Array): Uint8Array | undefined {
  return scan.sps.length === 0 ? undefined : joinNals(scan.parameters, bytes)
}

/** The sequence parameter sets as Annex B: a change restarts the decoder. */
export function frameSps(scan: FrameScan, bytes: Uint8Array): Uint8Array | undefined {
  return scan.sps.length === 0 ? undefined : joinNals(scan.sps, bytes)
}

/** All parameter sets before the first slice; none if they are too long. */
export function frameSets({ parameters }: FrameScan, bytes: Uint8Array): Uint8Array[] {
  const sets: Uint8Array[] = []
  let length = 0
  for (let i = 0; i + 1 < parameters.length; i += 2) {
    const nal = withoutTrailingZeros(bytes.slice(parameters[i], parameters[i + 1]))
    sets.push(nal)
    length += nal.length
  }
  return length > MAX_PARAMETER_SET_BYTES ? [] : sets
}

function joinNals(ranges: number[], bytes: Uint8Array): Uint8Array | undefined {
  const nals: Uint8Array[] = []
  let length = 0
  for (let i = 0; i + 1 < ranges.length; i += 2) {
    const nal = withoutTrailingZeros(bytes.subarray(ranges[i], ranges[i + 1]))
    nals.push(nal)
    length += START_CODE.length + nal.length
  }
  if (length > MAX_PARAMETER_SET_BYTES) return undefined
  const joined = new Uint8Array(length)
  let at = 0
  for (const nal of nals) {
    joined.set(START_CODE, at)
    joined.set(nal, at + START_CODE.length)
    at += START_CODE.length + nal.length
  }
  return joined
}
