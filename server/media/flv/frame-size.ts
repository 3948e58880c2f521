// Size of the pictures, for codecs whose set-up need not tell it: AV1 (5.5.1) and VP9 (6.2) say it in their key frames.
import { createBitReader } from '../codec/bit-reader.ts'
import type { BitReader } from '../codec/bit-reader.ts'

export interface FrameSize {
  width: number
  height: number
}

/** Bytes of a key frame that are enough to find its size. */
export const SIZE_SEARCH_BYTES = 4096

const SEQUENCE_HEADER = 1
const MAX_OBUS = 16
const VP9_SYNC = 0x498342
const SRGB = 7

/** Size in pixels from the first bytes of a key frame; undefined where they do not say it. */
export function readFrameSize(codec: 'av1' | 'vp9', bytes: Uint8Array): FrameSize | undefined {
  return codec === 'av1' ? findAv1Size(bytes) : parseVp9Size(bytes)
}

/** Size from the sequence header among open bitstream units; undefined where there is none. */
export function findAv1Size(bytes: Uint8Array): FrameSize | undefined {
  let at = 0
  for (let count = 0; count < MAX_OBUS && at < bytes.length; count += 1) {
    const header = bytes[at] ?? 0
    at += (header & 4) === 0 ? 1 : 2
    let size = bytes.length - at
    if ((header & 2) !== 0) {
      const { value, length } = readLeb128(bytes, at)
      size = value
      at += length
    }
    if (((header >> 3) & 0x0f) === SEQUENCE_HEADER) {
      return parseSequenceHeader(createBitReader(bytes.subarray(at, at + size)))
    }
    at += size
  }
  return undefined
}

function readLeb128(bytes: Uint8Array, at: number): { value: number; length: number } {
  let value = 0
  for (let length = 0; length < 5; length += 1) {
    const byte = bytes[at + length] ?? 0
    value += (byte & 0x7f) * 2 ** (7 * length)
    if ((byte & 0x80) === 0) return { value, length: length + 1 }
  }
  return { value, length: 5 }
}

function parseSequenceHeader(reader: BitReader): FrameSize | undefined {
  reader.bits(4)
  if (reader.flag()) reader.bits(5)
  else skipOperatingPoints(reader)
  const widthBits = reader.bits(4) + 1
  const heightBits = reader.bits(4) + 1
  const size = { width: reader.bits(widthBits) + 1, height: reader.bits(heightBits) + 1 }
  return reader.isExhausted() ? undefined : size
}

function skipOperatingPoints(reader: BitReader): void {
  const delayBits = reader.flag() ? skipTiming(reader) : undefined
  const hasDisplayDelay = reader.flag()
  const last = reader.bits(5)
  for (let point = 0; point <= last; point += 1) {
    reader.bits(12)
    if (reader.bits(5) > 7) reader.bits(1)
    if (delayBits !== undefined && reader.flag()) {
      reader.bits(delayBits)
      reader.bits(delayBits)
      reader.bits(1)
    }
    if (hasDisplayDelay && reader.flag()) reader.bits(4)
  }
}

/** Answers the length of the decoder model's delays, where there is such a model. */
function skipTiming(reader: BitReader): number | undefined {
  reader.bits(32)
  reader.bits(32)
  if (reader.flag()) reader.unsigned()
  if (!reader.flag()) return undefined
  const delayBits = reader.bits(5) + 1
  reader.bits(32)
  reader.bits(10)
  return delayBits
}

function parseVp9Size(bytes: Uint8Array): FrameSize | undefined {
  const reader = createBitReader(bytes.subarray(0, 32))
  if (reader.bits(2) !== 2) return undefined
  const profile = reader.bits(1) + 2 * reader.bits(1)
  if (profile === 3) reader.bits(1)
  const isShownAgain = reader.flag()
  const isInter = reader.flag()
  reader.bits(2)
  if (isShownAgain || isInter || reader.bits(24) !== VP9_SYNC) return undefined
  if (profile >= 2) reader.bits(1)
  const isSubsampled = profile === 1 || profile === 3
  if (reader.bits(3) === SRGB) reader.bits(isSubsampled ? 1 : 0)
  else reader.bits(isSubsampled ? 4 : 1)
  const size = { width: reader.bits(16) + 1, height: reader.bits(16) + 1 }
  return reader.isExhausted() ? undefined : size
}
