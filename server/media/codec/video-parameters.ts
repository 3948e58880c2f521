// Codec string and size from a sequence parameter set, and the fields of H.264, of which two are
// joined to a frame (ISO/IEC 14496-10 7.3.3, 7.4.1.2.4).
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'
import { readHevcProfile } from './hevc.ts'
import { nalRole, splitNals, unescapeNal } from './nal-unit.ts'
import type { VideoCodec } from './nal-unit.ts'

/** A larger size means that the parameter set is corrupt. */
const MAX_SIDE_PIXELS = 16_384
const MAX_PARAMETER_SETS = 64
/** Profiles whose SPS has colour fields (14496-10 7.3.2.1.1). */
export const HIGH_PROFILES: ReadonlySet<number> = new Set([
  44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244,
])

interface VideoParameters {
  /** Codec string (RFC 6381; ISO/IEC 14496-15 annex E for HEVC). */
  codec: string
  /** Size in pixels, cropped by the SPS. */
  width: number
  height: number
}

/** Reads the first SPS of an Annex B byte stream; undefined without a valid one. */
export function parseVideoParameters(
  codec: VideoCodec,
  annexB: Uint8Array,
): VideoParameters | undefined {
  const nals = splitNals(annexB, MAX_PARAMETER_SETS)
  const nal = nals.find((candidate) => nalRole(codec, candidate[0] ?? 0) === 'sps')
  if (nal === undefined) return undefined
  const sps = unescapeNal(nal)
  const parameters = codec === 'h264' ? parseH264Sps(sps) : parseHevcSps(sps)
  const { width, height } = parameters
  const isSane = width > 0 && height > 0 && Math.max(width, height) <= MAX_SIDE_PIXELS
  return isSane && !parameters.isShort ? { codec: parameters.codec, width, height } : undefined
}

type ParsedSps = VideoParameters & { isShort: boolean }

/** ISO/IEC 14496-10 7.3.2.1.1 */
function parseH264Sps(sps: Uint8Array): ParsedSps {
  const profile = sps[1] ?? 0
  const codec = `avc1.${Buffer.from(sps.subarray(1, 4)).toString('hex')}`
  const reader = createBitReader(sps.subarray(4))
  reader.unsigned()
  const chroma = HIGH_PROFILES.has(profile) ? skipHighProfile(reader) : 1
  reader.unsigned()
  skipPictureOrder(reader)
  reader.unsigned()
  reader.bits(1)
  const widthInUnits = reader.unsigned() + 1
  const heightInUnits = reader.unsigned() + 1
  const fields = reader.flag() ? 1 : 2
  reader.bits(fields === 2 ? 2 : 1)
  const crop = reader.flag() ? readWindow(reader) : { across: 0, down: 0 }
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1
  const cropY = (chroma === 1 ? 2 : 1) * fields
  return {
    codec,
    width: widthInUnits * 16 - crop.across * cropX,
    height: heightInUnits * 16 * fields - crop.down * cropY,
    isShort: reader.isExhausted(),
  }
}

/** Returns chroma_format_idc; separate planes count as monochrome. */
function skipHighProfile(reader: BitReader): number {
  const chroma = reader.unsigned()
  const areApart = chroma === 3 && reader.flag()
  reader.unsigned()
  reader.unsigned()
  reader.bits(1)
  if (reader.flag()) {
    const lists = chroma === 3 ? 12 : 8
    for (let i = 0; i < lists; i++) {
      if (reader.flag()) skipScalingList(reader, i < 6 ? 16 : 64)
    }
  }
  return areApart ? 0 : chroma
}

/** 14496-10 7.3.2.1.1.1 */
function skipScalingList(reader: BitReader, size: number): void {
  let last = 8
  let next = 8
  for (let i = 0; i < size && next !== 0; i++) {
    next = (last + reader.signed()) & 0xff
    if (next !== 0) last = next
  }
}

function skipPictureOrder(reader: BitReader): void {
  const type = reader.unsigned()
  if (type === 0) reader.unsigned()
  if (type !== 1) return
  reader.bits(1)
  reader.signed()
  reader.signed()
  const cycle = Math.min(reader.unsigned(), 255)
  for (let i = 0; i < cycle; i++) reader.signed()
}

/** Cropping rectangle or conformance window: left, right, top, bottom. */
function readWindow(reader: BitReader): { across: number; down: number } {
  const across = reader.unsigned() + reader.unsigned()
  return { across, down: reader.unsigned() + reader.unsigned() }
}

/** ISO/IEC 23008-2 7.3.2.2 */
function parseHevcSps(sps: Uint8Array): ParsedSps {
  const reader = createBitReader(sps.subarray(2))
  reader.bits(4)
  const subLayers = reader.bits(3)
  reader.bits(1)
  const codec = `hvc1.${readHevcProfile(reader).toUpperCase()}`
  skipSubLayers(reader, subLayers)
  reader.unsigned()
  const chroma = reader.unsigned()
  const areApart = chroma === 3 && reader.flag()
  const width = reader.unsigned()
  const height = reader.unsigned()
  const crop = reader.flag() ? readWindow(reader) : { across: 0, down: 0 }
  const cropX = !areApart && (chroma === 1 || chroma === 2) ? 2 : 1
  const cropY = chroma === 1 ? 2 : 1
  return {
    codec,
    width: width - crop.across * cropX,
    height: height - crop.down * cropY,
    isShort: reader.isExhausted(),
  }
}

/** Sub-layer part of profile_tier_level (7.3.3). */
export function skipSubLayers(reader: BitReader, subLayers: number): void {
  if (subLayers === 0) return
  const present: { profile: boolean; level: boolean }[] = []
  for (let i = 0; i < 8; i++) {
    const profile = reader.flag()
    const level = reader.flag()
    if (i < subLayers) present.push({ profile, level })
  }
  for (const { profile, level } of present) {
    if (profile) for (let i = 0; i < 11; i++) reader.bits(8)
    if (level) reader.bits(8)
  }
}

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
