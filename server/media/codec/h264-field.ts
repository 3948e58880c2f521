// Distinguishes fields of H.264, so that the two fields of a frame are joined (ISO/IEC 14496-10
// 7.3.3, 7.4.1.2.4).
import { createBitReader } from './bit-reader.ts'
import { unescapeNal } from './nal-unit.ts'
import { HIGH_PROFILES, skipHighProfile, skipPictureOrder } from './video-parameters.ts'

/** Bytes of a slice that contain the fields below. */
const SLICE_HEAD_BYTES = 24

/** The part of an SPS that is needed to read fields. */
export interface FieldFormat {
  frameNumberBits: number
}

/** A slice of one field. */
export interface Field {
  frameNumber: number
  isBottom: boolean
}

/** Undefined if the stream has no fields (frame_mbs_only_flag). */
export function parseFieldFormat(sps: Uint8Array): FieldFormat | undefined {
  const reader = createBitReader(unescapeNal(sps).subarray(4))
  reader.unsigned()
  if (HIGH_PROFILES.has(sps[1] ?? 0)) skipHighProfile(reader)
  const frameNumberBits = reader.unsigned() + 4
  skipPictureOrder(reader)
  reader.unsigned()
  reader.bits(1)
  reader.unsigned()
  reader.unsigned()
  const hasFields = !reader.flag()
  return hasFields && !reader.isExhausted() && frameNumberBits <= 16
    ? { frameNumberBits }
    : undefined
}

/** The field of a slice; undefined if it belongs to a frame. */
export function readField({ frameNumberBits }: FieldFormat, slice: Uint8Array): Field | undefined {
  const reader = createBitReader(unescapeNal(slice.subarray(1, SLICE_HEAD_BYTES)))
  // first_mb_in_slice, slice_type, pic_parameter_set_id
  for (let i = 0; i < 3; i++) reader.unsigned()
  const frameNumber = reader.bits(frameNumberBits)
  return reader.flag() ? { frameNumber, isBottom: reader.flag() } : undefined
}

/** Whether the second field completes the frame of the first. */
export function isPair(first: Field, second: Field): boolean {
  return first.frameNumber === second.frameNumber && first.isBottom !== second.isBottom
}
