// VP9: the uncompressed frame header (VP9 bitstream 6.2), and the vpcC box made from it
// (VP Codec ISO Media File Format Binding).
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'
import type { VideoFormat } from './video-format.ts'

export const vp9 = {
  codecName: 'VP9',
  entry: 'vp09',
  box: 'vpcC',
  entries: { vp09: 'vp09' },
  matroska: ['V_VP9'],
  ts: [],
  flv: ['vp09'],
  format: vp9Codec,
} satisfies VideoFormat

/** `vp09.PP.LL.DD` from VPCodecConfigurationRecord, a full box (VP Codec ISO Media File Format). */
export function vp9Codec(vpcC: DataView): string | undefined {
  if (vpcC.byteLength < 7) return undefined
  const fields = [vpcC.getUint8(4), vpcC.getUint8(5), vpcC.getUint8(6) >> 4]
  return ['vp09', ...fields.map((field) => String(field).padStart(2, '0'))].join('.')
}

export interface Vp9Features {
  profile: number
  /** 10 times the level; absent: derived from the frame size. */
  level?: number
  bitDepth: number
  /** chroma_subsampling of vpcC: 1 is 4:2:0, 2 is 4:2:2, 3 is 4:4:4. */
  chroma: number
  isFullRange?: boolean
}

export interface Vp9KeyFrame extends Vp9Features {
  /** In pixels. */
  width: number
  height: number
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

/** Features of CodecPrivate (WebM: VP9 Codec Feature Metadata); undefined without a profile. */
export function parseVp9Private(bytes: Uint8Array): Vp9Features | undefined {
  const features = new Map<number, number>()
  for (let at = 0; at + 2 < bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    features.set(bytes[at] ?? 0, bytes[at + 2] ?? 0)
  }
  const profile = features.get(PROFILE)
  if (profile === undefined) return undefined
  const level = features.get(LEVEL)
  return {
    profile,
    ...(level !== undefined && { level }),
    bitDepth: features.get(BIT_DEPTH) ?? (profile >= 2 ? 10 : 8),
    chroma: features.get(CHROMA) ?? 1,
  }
}

const HEADER_BYTES = 16
const FRAME_MARKER = 2
const KEY_FRAME = 0
const SYNC_CODE = 0x498342
const SRGB = 7

/** The header of a key frame; undefined for other frames. */
export function parseVp9KeyFrame(frame: Uint8Array): Vp9KeyFrame | undefined {
  const reader = createBitReader(frame.subarray(0, HEADER_BYTES))
  if (reader.bits(2) !== FRAME_MARKER) return undefined
  const profile = reader.bits(1) + 2 * reader.bits(1)
  if (profile === 3) reader.bits(1)
  const showsExisting = reader.flag()
  const isKey = reader.bits(1) === KEY_FRAME
  reader.bits(2)
  if (showsExisting || !isKey || reader.bits(24) !== SYNC_CODE) return undefined
  const bitDepth = profile >= 2 ? 10 + 2 * reader.bits(1) : 8
  const colour = readColour(reader, profile)
  const size = { width: reader.bits(16) + 1, height: reader.bits(16) + 1 }
  return reader.isExhausted() ? undefined : { profile, bitDepth, ...colour, ...size }
}

function readColour(reader: BitReader, profile: number): { chroma: number; isFullRange: boolean } {
  const hasChroma = profile === 1 || profile === 3
  if (reader.bits(3) === SRGB) {
    if (hasChroma) reader.bits(1)
    return { chroma: 3, isFullRange: true }
  }
  const isFullRange = reader.flag()
  if (!hasChroma) return { chroma: 1, isFullRange }
  const isHalfAcross = reader.flag()
  const isHalfDown = reader.flag()
  reader.bits(1)
  if (isHalfAcross && isHalfDown) return { chroma: 1, isFullRange }
  return { chroma: isHalfAcross ? 2 : 3, isFullRange }
}

/** Largest frame of each level (VP9 levels, annex A), in luma samples, and 10 times the level. */
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

/** Payload of vpcC, with version and flags. */
export function vpcC(features: Vp9Features, { width, height, colour }: Vp9Frame): Uint8Array {
  const { profile, bitDepth, chroma } = features
  const found = LEVELS.find(([samples]) => width * height <= samples)
  const level = features.level ?? found?.[1] ?? HIGHEST_LEVEL
  const isFullRange = features.isFullRange ?? colour?.isFullRange ?? false
  const { primaries = 2, transfer = 2, matrix = 2 } = colour ?? {}
  const depths = (bitDepth << 4) | (chroma << 1) | (isFullRange ? 1 : 0)
  return Uint8Array.of(1, 0, 0, 0, profile, level, depths, primaries, transfer, matrix, 0, 0)
}
