// Converts an Annex B byte stream to samples of fMP4: access units of NAL units with length fields
// (ISO/IEC 14496-15 5.3.2, 8.3.2).
import { isPair, readField } from '../../codec/video-parameters.ts'
import type { Field, FieldFormat } from '../../codec/video-parameters.ts'
import { findNal } from '../../codec/nal-unit.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'

/** A frame, or a pair of fields, with its other NAL units. */
export interface AccessUnit {
  /** Index in the byte stream of the start code it begins with. */
  at: number
  /** Number of its first NAL unit among the remaining ones. */
  firstNal: number
  /** Bytes of the sample. */
  sizeBytes: number
  isKey: boolean
  /** Its field, while it has only one. */
  field?: Field | undefined
}

/** A parsed Annex B byte stream. */
export interface SplitStream {
  units: AccessUnit[]
  /** First byte and end of the remaining NAL units, alternating. */
  nals: number[]
}

/**
 * `first slice` begins a frame; `delimiter` and `lead` precede one; `trail` belongs to the one
 * before.
 */
type NalPlace = 'delimiter' | 'first slice' | 'slice' | 'lead' | 'trail'

/** Of the length before each NAL unit in a sample. */
export const LENGTH_BYTES = 4
const START_CODE_BYTES = 3

export interface SplitOptions {
  codec: VideoCodec
  /** NAL units to omit: parameter sets that are in force. */
  isDropped: (nal: Uint8Array) => boolean
  /** How to distinguish fields; undefined if the stream has none. */
  fields: FieldFormat | undefined
}

interface SplitState extends SplitStream, SplitOptions {
  hasSlice: boolean
  /** The start of NAL units that may precede the next frame. */
  lead: { at: number; firstNal: number; sizeBytes: number } | undefined
}

/**
 * Finds the access units (ISO/IEC 14496-10 7.4.1.2.4, 23008-2 7.4.2.4.5); the two fields of a frame
 * are one. Omits delimiters, filler, end marks, and what `isDropped` returns.
 */
export function splitAccessUnits(bytes: Uint8Array, options: SplitOptions): SplitStream {
  const state: SplitState = { ...options, units: [], nals: [], hasSlice: false, lead: undefined }
  let start = findNal(bytes, 0, bytes.length)
  while (start >= 0 && start < bytes.length) {
    const next = findNal(bytes, start, bytes.length)
    let end = next < 0 ? bytes.length : next - START_CODE_BYTES
    // Zeros before a start code belong to it, not to the previous NAL unit (14496-10 annex B.1.1).
    while (end > start && bytes[end - 1] === 0) end--
    if (end > start) takeNal(state, bytes.subarray(start, end), start)
    start = next
  }
  return { units: state.units, nals: state.nals }
}

function takeNal(state: SplitState, nal: Uint8Array, start: number): void {
  const { codec, units, nals } = state
  const place = codec === 'h264' ? h264Place(nal) : hevcPlace(nal)
  if (units.length === 0) beginUnit(state, start - START_CODE_BYTES)
  if (place === 'lead' && state.hasSlice) {
    state.lead ??= { at: start - START_CODE_BYTES, firstNal: nals.length / 2, sizeBytes: 0 }
  }
  const isNext = place === 'first slice' || place === 'delimiter'
  if (isNext && state.hasSlice) beginUnit(state, start - START_CODE_BYTES)
  if (place === 'slice') state.lead = undefined
  if (place === 'first slice' && !state.hasSlice) joinFields(state, nal)
  const unit = units.at(-1)
  if (unit === undefined) return
  if (place === 'first slice' || place === 'slice') {
    state.hasSlice = true
    unit.isKey ||= isKeySlice(codec, nal)
  }
  if (isIdle(codec, nal) || state.isDropped(nal)) return
  nals.push(start, start + nal.length)
  const size = LENGTH_BYTES + nal.length
  unit.sizeBytes += size
  if (state.lead !== undefined) state.lead.sizeBytes += size
}

/** NAL units that were added to the previous unit, but precede this one, move here. */
function beginUnit(state: SplitState, at: number): void {
  const { units, nals, lead } = state
  const last = units.at(-1)
  if (lead !== undefined && last !== undefined) last.sizeBytes -= lead.sizeBytes
  const fresh = { at, firstNal: nals.length / 2, sizeBytes: 0 }
  units.push({ ...(lead ?? fresh), isKey: false })
  state.lead = undefined
  state.hasSlice = false
}

/** Joins a field to the previous one if both make one frame. */
function joinFields({ codec, fields, units }: SplitState, slice: Uint8Array): void {
  const unit = units.at(-1)
  if (codec !== 'h264' || fields === undefined || unit === undefined) return
  unit.field = readField(fields, slice)
  const before = units.at(-2)
  if (unit.field === undefined || before?.field === undefined) return
  if (!isPair(before.field, unit.field)) return
  before.sizeBytes += unit.sizeBytes
  before.field = undefined
  units.pop()
}

/** 14496-10 table 7-1; a slice is the first where first_mb_in_slice is 0. */
function h264Place(nal: Uint8Array): NalPlace {
  const type = (nal[0] ?? 0) & 0x1f
  if (type === 1 || type === 2 || type === 5) {
    return ((nal[1] ?? 0) & 0x80) === 0 ? 'slice' : 'first slice'
  }
  if (type === 3 || type === 4) return 'slice'
  if (type === 9) return 'delimiter'
  return (type >= 6 && type <= 8) || (type >= 14 && type <= 18) ? 'lead' : 'trail'
}

/**
 * 23008-2 table 7-1; first_slice_segment_in_pic_flag. Further layers belong to the frame of the
 * first.
 */
function hevcPlace(nal: Uint8Array): NalPlace {
  const type = hevcType(nal)
  const layer = (((nal[0] ?? 0) & 1) << 5) | ((nal[1] ?? 0) >>> 3)
  if (layer > 0) return 'trail'
  if (type < 32) return ((nal[2] ?? 0) & 0x80) === 0 ? 'slice' : 'first slice'
  if (type === 35) return 'delimiter'
  const isLead = type <= 34 || type === 39 || (type >= 41 && type <= 44) || type >= 48
  return isLead && type < 56 ? 'lead' : 'trail'
}

function isKeySlice(codec: VideoCodec, nal: Uint8Array): boolean {
  if (codec === 'h264') return ((nal[0] ?? 0) & 0x1f) === 5
  const type = hevcType(nal)
  return type >= 16 && type <= 21
}

/** Delimiters, ends of sequence and stream, filler: useless in a container with samples. */
function isIdle(codec: VideoCodec, nal: Uint8Array): boolean {
  if (codec === 'h264') {
    const type = (nal[0] ?? 0) & 0x1f
    return type >= 9 && type <= 12
  }
  const type = hevcType(nal)
  return type >= 35 && type <= 38
}

function hevcType(nal: Uint8Array): number {
  return ((nal[0] ?? 0) >>> 1) & 0x3f
}

/** Samples of all units except the first `skipped`, joined, every NAL unit with its length. */
export function joinAccessUnits(
  { units, nals }: SplitStream,
  bytes: Uint8Array,
  skipped: number,
): Uint8Array {
  const size = units.slice(skipped).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (let i = 2 * (units[skipped]?.firstNal ?? 0); i < nals.length; i += 2) {
    const start = nals[i] ?? 0
    const end = nals[i + 1] ?? 0
    at = joined.writeUInt32BE(end - start, at)
    joined.set(bytes.subarray(start, end), at)
    at += end - start
  }
  return joined
}
