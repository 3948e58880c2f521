// AV1: the sequence header (AV1 bitstream 5.5), and the av1C box made from it (ISOBMFF 2.3.3).
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'
import type { VideoFormat } from './video-format.ts'

export const av1 = {
  codecName: 'AV1',
  entry: 'av01',
  box: 'av1C',
  entries: { av01: 'av01' },
  matroska: ['V_AV1'],
  ts: [],
  flv: ['av01'],
  format: av1Codec,
} satisfies VideoFormat

/** `av01.P.LLT.DD` from AV1CodecConfigurationRecord (AV1 in ISOBMFF 2.3.3, string: 5). */
export function av1Codec(av1C: DataView): string | undefined {
  if (av1C.byteLength < 4) return undefined
  const profile = av1C.getUint8(1) >> 5
  const level = String(av1C.getUint8(1) & 0x1f).padStart(2, '0')
  const flags = av1C.getUint8(2)
  const tier = (flags & 0x80) === 0 ? 'M' : 'H'
  const deepBits = (flags & 0x20) === 0 ? '10' : '12'
  const bits = (flags & 0x40) === 0 ? '08' : deepBits
  return `av01.${profile}.${level}${tier}.${bits}`
}

export interface Av1Sequence {
  /** Largest frame size in pixels. */
  width: number
  height: number
  /** Payload of av1C. */
  config: Uint8Array
}

const SEQUENCE_HEADER = 1
/** Frame header, tile group, frame, redundant frame header (6.2.2). */
const FRAME_TYPES: ReadonlySet<number> = new Set([3, 4, 6, 7])
/** obu_has_size_field */
const HAS_SIZE = 2
/** A temporal unit has few OBUs before its first frame. */
const MAX_OBUS = 32
const MAX_SEQUENCE_HEADER_BYTES = 256

/** The first sequence header of a temporal unit (low-overhead format), or of the OBUs in av1C. */
export function parseAv1Sequence(unit: Uint8Array): Av1Sequence | undefined {
  let at = 0
  for (let count = 0; count < MAX_OBUS && at < unit.length; count += 1) {
    const obu = parseObu(unit, at)
    if (obu === undefined) return undefined
    if (obu.type === SEQUENCE_HEADER) return parseHeader(unit.subarray(obu.start, obu.end))
    at = obu.end
  }
  return undefined
}

/** The sequence headers before the first frame of a temporal unit, or in av1C, as whole OBUs. */
export function sequenceHeaders(unit: Uint8Array): Uint8Array[] {
  const headers: Uint8Array[] = []
  let at = 0
  for (let count = 0; count < MAX_OBUS && at < unit.length; count += 1) {
    const obu = parseObu(unit, at)
    if (obu === undefined || FRAME_TYPES.has(obu.type)) break
    const isWhole = obu.end - at <= MAX_SEQUENCE_HEADER_BYTES && ((unit[at] ?? 0) & HAS_SIZE) !== 0
    if (obu.type === SEQUENCE_HEADER && isWhole)
      headers.push(Uint8Array.from(unit.subarray(at, obu.end)))
    at = obu.end
  }
  return headers
}

interface Obu {
  type: number
  start: number
  end: number
}

/** OBU header (5.3.2) and size (leb128, 4.10.5); without a size the OBU fills the unit. */
function parseObu(bytes: Uint8Array, at: number): Obu | undefined {
  const head = bytes[at] ?? 0x80
  if ((head & 0x80) !== 0) return undefined
  let start = at + ((head & 4) === 0 ? 1 : 2)
  let size = 0
  let isSized = (head & 2) === 0
  if (isSized) size = bytes.length - start
  for (let shift = 0; shift < 28 && !isSized; shift += 7, start += 1) {
    const byte = bytes[start] ?? 0
    size += (byte & 0x7f) * 2 ** shift
    isSized = (byte & 0x80) === 0
  }
  const end = start + size
  if (!isSized || size < 0 || end > bytes.length) return undefined
  return { type: (head >>> 3) & 15, start, end }
}

function parseHeader(payload: Uint8Array): Av1Sequence | undefined {
  if (payload.length === 0 || payload.length > MAX_SEQUENCE_HEADER_BYTES) return undefined
  const reader = createBitReader(payload)
  const profile = reader.bits(3)
  reader.bits(1)
  const isReduced = reader.flag()
  const { level, tier } = isReduced ? { level: reader.bits(5), tier: 0 } : readPoints(reader)
  const widthBits = reader.bits(4) + 1
  const heightBits = reader.bits(4) + 1
  const size = { width: reader.bits(widthBits) + 1, height: reader.bits(heightBits) + 1 }
  if (!isReduced && reader.flag()) reader.bits(7)
  skipTools(reader, isReduced)
  const colour = readColour(reader, profile)
  if (reader.isExhausted()) return undefined
  const head = [0x81, (profile << 5) | level, (tier << 7) | colour, 0, (SEQUENCE_HEADER << 3) | 2]
  return { ...size, config: Uint8Array.of(...head, ...leb128(payload.length), ...payload) }
}

function leb128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >>> 7]
}

/** Timing, decoder model and operating points (5.5.1): level and tier of the first point. */
function readPoints(reader: BitReader): { level: number; tier: number } {
  const delayBits = reader.flag() ? readTiming(reader) : 0
  const hasDisplayDelay = reader.flag()
  const points = Array.from({ length: reader.bits(5) + 1 }, () => {
    reader.bits(12)
    const level = reader.bits(5)
    const tier = level > 7 ? reader.bits(1) : 0
    if (delayBits > 0 && reader.flag()) {
      reader.bits(delayBits)
      reader.bits(delayBits)
      reader.bits(1)
    }
    if (hasDisplayDelay && reader.flag()) reader.bits(4)
    return { level, tier }
  })
  return points[0] ?? { level: 0, tier: 0 }
}

/** Returns the number of bits of the decoder model's delays; 0 without a decoder model. */
function readTiming(reader: BitReader): number {
  reader.bits(32)
  reader.bits(32)
  if (reader.flag()) reader.unsigned()
  if (!reader.flag()) return 0
  const delayBits = reader.bits(5) + 1
  reader.bits(32)
  reader.bits(10)
  return delayBits
}

function skipTools(reader: BitReader, isReduced: boolean): void {
  reader.bits(3)
  if (!isReduced) {
    reader.bits(4)
    const hasOrderHint = reader.flag()
    if (hasOrderHint) reader.bits(2)
    const forcesScreenContent = reader.flag() ? 2 : reader.bits(1)
    if (forcesScreenContent > 0 && !reader.flag()) reader.bits(1)
    if (hasOrderHint) reader.bits(3)
  }
  reader.bits(3)
}

const SRGB_BT709 = 1
const SRGB_TRANSFER = 13
const SRGB_MATRIX = 0

/** color_config (5.5.2) as the third byte of av1C, without the tier. */
function readColour(reader: BitReader, profile: number): number {
  const isDeep = reader.bits(1)
  const isTwelve = profile === 2 && isDeep === 1 ? reader.bits(1) : 0
  const isMono = profile === 1 ? 0 : reader.bits(1)
  const depth = (isDeep << 6) | (isTwelve << 5) | (isMono << 4)
  const description = reader.flag()
    ? { primaries: reader.bits(8), transfer: reader.bits(8), matrix: reader.bits(8) }
    : { primaries: 2, transfer: 2, matrix: 2 }
  const { primaries, transfer, matrix } = description
  const isSrgb = primaries === SRGB_BT709 && transfer === SRGB_TRANSFER && matrix === SRGB_MATRIX
  if (isMono === 1) {
    reader.bits(1)
    return depth | (1 << 3) | (1 << 2)
  }
  if (isSrgb) return depth
  reader.bits(1)
  const { across, down } = readSubsampling(reader, { profile, isTwelve })
  const position = across === 1 && down === 1 ? reader.bits(2) : 0
  return depth | (across << 3) | (down << 2) | position
}

function readSubsampling(
  reader: BitReader,
  { profile, isTwelve }: { profile: number; isTwelve: number },
): { across: number; down: number } {
  if (profile === 0) return { across: 1, down: 1 }
  if (profile === 1) return { across: 0, down: 0 }
  if (isTwelve === 0) return { across: 1, down: 0 }
  const across = reader.bits(1)
  return { across, down: across === 1 ? reader.bits(1) : 0 }
}
