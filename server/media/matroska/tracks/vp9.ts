// VP9's decoder set-up (VP Codec ISO Media File Format Binding, vpcC), from what Matroska says or from a key frame's header.
import { createBitReader } from '../../codec/bit-reader.ts'
import type { BitReader } from '../../codec/bit-reader.ts'

/** What the set-up says of the stream. */
export interface Vp9Features {
  profile: number
  /** 10 times the level; undefined where it is to be taken from the picture's size. */
  level?: number
  bitDepth: number
  /** chroma_subsampling of vpcC: 1 is 4:2:0, 2 is 4:2:2, 3 is 4:4:4. */
  chroma: number
  isFullRange?: boolean
}

export interface Vp9Frame {
  width: number
  height: number
  colour?: { primaries: number; transfer: number; matrix: number; isFullRange: boolean }
}

const PROFILE = 1
const LEVEL = 2
const BIT_DEPTH = 3
const CHROMA = 4

/** Features of CodecPrivate (WebM: VP9 Codec Feature Metadata); undefined where there is no profile. */
export function parseVp9Private(bytes: Uint8Array): Vp9Features | undefined {
  const features = new Map<number, number>()
  for (let at = 0; at + 2 < bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    features.set(bytes[at] ?? 0, bytes[at + 2] ?? 0)
  }
  const profile = features.get(PROFILE)
  if (profile === undefined) return undefined
  const level = features.get(LEVEL)
  const isDeep = profile >= 2
  return {
    profile,
    ...(level !== undefined && { level }),
    bitDepth: features.get(BIT_DEPTH) ?? (isDeep ? 10 : 8),
    chroma: features.get(CHROMA) ?? 1,
  }
}

const FRAME_MARKER = 2
const KEY_FRAME = 0
const SYNC_CODE = 0x498342
const SRGB = 7

/** Features from the uncompressed header of a key frame (VP9 bitstream 6.2); undefined where it is none. */
export function parseVp9KeyFrame(frame: Uint8Array): Vp9Features | undefined {
  const reader = createBitReader(frame.subarray(0, 16))
  if (reader.bits(2) !== FRAME_MARKER) return undefined
  const profile = reader.bits(1) + 2 * reader.bits(1)
  if (profile === 3) reader.bits(1)
  const showsExisting = reader.flag()
  const isKey = reader.bits(1) === KEY_FRAME
  reader.bits(2)
  if (showsExisting || !isKey || reader.bits(24) !== SYNC_CODE) return undefined
  const deepBits = profile >= 2 ? 10 + 2 * reader.bits(1) : 8
  const features = { profile, bitDepth: deepBits, ...parseColour(reader, profile) }
  return reader.isExhausted() ? undefined : features
}

function parseColour(reader: BitReader, profile: number): { chroma: number; isFullRange: boolean } {
  const hasChroma = profile === 1 || profile === 3
  if (reader.bits(3) === SRGB) return { chroma: 3, isFullRange: true }
  const isFullRange = reader.flag()
  if (!hasChroma) return { chroma: 1, isFullRange }
  const isHalfAcross = reader.flag()
  const isHalfDown = reader.flag()
  if (isHalfAcross && isHalfDown) return { chroma: 1, isFullRange }
  return { chroma: isHalfAcross ? 2 : 3, isFullRange }
}

/** Largest luma picture of each level (VP9 levels, annex A), in samples, and 10 times the level. */
const LEVELS: readonly (readonly [frameSamples: number, level: number])[] = [
  [36_864, 10],
  [73_728, 11],
  [122_880, 20],
  [245_760, 21],
  [552_960, 30],
  [983_040, 31],
  [2_228_224, 41],
  [8_912_896, 51],
  [35_651_584, 61],
]
const HIGHEST_LEVEL = 62

/** Payload of vpcC, version and flags included. */
export function vpcC(features: Vp9Features, { width, height, colour }: Vp9Frame): Uint8Array {
  const { profile, bitDepth, chroma } = features
  const found = LEVELS.find(([samples]) => width * height <= samples)
  const level = features.level ?? found?.[1] ?? HIGHEST_LEVEL
  const isFullRange = features.isFullRange ?? colour?.isFullRange ?? false
  const { primaries = 2, transfer = 2, matrix = 2 } = colour ?? {}
  const depths = (bitDepth << 4) | (chroma << 1) | (isFullRange ? 1 : 0)
  return Uint8Array.of(1, 0, 0, 0, profile, level, depths, primaries, transfer, matrix, 0, 0)
}
