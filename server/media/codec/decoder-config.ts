// Decoder configuration records made from parameter sets: the content of avcC and hvcC (ISO/IEC
// 14496-15 5.3.3, 8.3.3).
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'
import { unescapeNal } from './nal-unit.ts'
import { HIGH_PROFILES, skipSubLayers } from './video-parameters.ts'
import { uint16 } from './write-box.ts'

/** Lengths of NAL units have four bytes (lengthSizeMinusOne). */
const LENGTH_BYTES = 4
const MAX_AVC_SPS = 31
const MAX_PARAMETER_SETS = 64
const MIN_AVC_SPS_BYTES = 4
const MIN_HEVC_SPS_BYTES = 15

/**
 * avcC content (5.3.3.1.2) for whole NAL units; undefined if the first SPS is too short or a set is
 * missing.
 */
export function avcConfig(
  sps: readonly Uint8Array[],
  pps: readonly Uint8Array[],
): Uint8Array | undefined {
  const first = sps[0]
  if (first === undefined || first.length < MIN_AVC_SPS_BYTES || pps.length === 0) return undefined
  const head = [1, first[1] ?? 0, first[2] ?? 0, first[3] ?? 0, 0xfc | (LENGTH_BYTES - 1)]
  const listedSps = sps.slice(0, MAX_AVC_SPS)
  const listedPps = pps.slice(0, MAX_PARAMETER_SETS)
  return Buffer.concat([
    Uint8Array.from([...head, 0xe0 | listedSps.length]),
    ...listedSps.flatMap(withLength),
    Uint8Array.of(listedPps.length),
    ...listedPps.flatMap(withLength),
    avcExtension(first),
  ])
}

/** Colour fields of the high profiles, after the parameter sets. */
function avcExtension(sps: Uint8Array): Uint8Array {
  const profile = sps[1] ?? 0
  if (!HIGH_PROFILES.has(profile)) return new Uint8Array(0)
  const reader = createBitReader(unescapeNal(sps).subarray(4))
  reader.unsigned()
  const { chroma, lumaDepth, chromaDepth } = readColours(reader, () => undefined)
  return Uint8Array.of(0xfc | (chroma & 3), 0xf8 | (lumaDepth & 7), 0xf8 | (chromaDepth & 7), 0)
}

interface Colours {
  /** chroma_format_idc */
  chroma: number
  /** Bits of a sample beyond eight. */
  lumaDepth: number
  chromaDepth: number
}

/** Both standards have the same fields, with others between the two parts. */
function readColours(reader: BitReader, skipBetween: () => void): Colours {
  const chroma = reader.unsigned()
  if (chroma === 3) reader.bits(1)
  skipBetween()
  return { chroma, lumaDepth: reader.unsigned(), chromaDepth: reader.unsigned() }
}

export interface HevcParameterSets {
  vps: readonly Uint8Array[]
  sps: readonly Uint8Array[]
  pps: readonly Uint8Array[]
}

const NAL_TYPES = { vps: 32, sps: 33, pps: 34 } as const

/**
 * hvcC content (8.3.3.1.2) for whole NAL units; undefined if the first SPS is too short or a set is
 * missing.
 */
export function hevcConfig(sets: HevcParameterSets): Uint8Array | undefined {
  const first = sets.sps[0]
  if (first === undefined || sets.vps.length === 0 || sets.pps.length === 0) return undefined
  const sps = unescapeNal(first)
  if (sps.length < MIN_HEVC_SPS_BYTES) return undefined
  const subLayers = ((sps[2] ?? 0) >>> 1) & 7
  const isNested = (sps[2] ?? 0) & 1
  const { chroma, lumaDepth, chromaDepth } = readHevcColours(sps, subLayers)
  return Buffer.concat([
    Uint8Array.of(1),
    // profile_tier_level: its first twelve bytes unchanged.
    sps.subarray(3, 15),
    // min_spatial_segmentation_idc and parallelism unknown.
    Uint8Array.of(0xf0, 0, 0xfc),
    Uint8Array.of(0xfc | (chroma & 3), 0xf8 | (lumaDepth & 7), 0xf8 | (chromaDepth & 7)),
    // Average frame rate unknown.
    Uint8Array.of(0, 0, ((subLayers + 1) << 3) | (isNested << 2) | (LENGTH_BYTES - 1), 3),
    ...(['vps', 'sps', 'pps'] as const).flatMap((kind) => hevcArray(NAL_TYPES[kind], sets[kind])),
  ])
}

function readHevcColours(sps: Uint8Array, subLayers: number): Colours {
  const reader = createBitReader(sps.subarray(15))
  skipSubLayers(reader, subLayers)
  reader.unsigned()
  return readColours(reader, () => {
    reader.unsigned()
    reader.unsigned()
    if (reader.flag()) for (let side = 0; side < 4; side++) reader.unsigned()
  })
}

/** The samples contain no sets of this kind (array_completeness), as `hvc1` requires. */
function hevcArray(type: number, nals: readonly Uint8Array[]): Uint8Array[] {
  const listed = nals.slice(0, MAX_PARAMETER_SETS)
  return [Uint8Array.of(0x80 | type), uint16(listed.length), ...listed.flatMap(withLength)]
}

function withLength(nal: Uint8Array): Uint8Array[] {
  return [uint16(nal.length), nal]
}
