// AAC in LATM with LOAS framing (ISO/IEC 14496-3 1.7). Raw AAC is extracted from the common form.
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'

const LOAS_HEADER_BYTES = 3
const ESCAPE = 31
const CHANNELS_IN_PROGRAM_CONFIG = 0
/** AAC LC, without and with SBR and parametric stereo (1.5.1.1). */
const PLAIN_TYPES: ReadonlySet<number> = new Set([2, 5, 29])

/** Bytes of the AudioSyncStream frame at `at` (1.7.2); undefined if there is none. */
export function loasFrameBytes(bytes: Uint8Array, at: number): number | undefined {
  if (at + LOAS_HEADER_BYTES > bytes.length) return undefined
  const second = bytes[at + 1] ?? 0
  if (bytes[at] !== 0x56 || (second & 0xe0) !== 0xe0) return undefined
  const length = ((second & 0x1f) << 8) | (bytes[at + 2] ?? 0)
  return length === 0 ? undefined : LOAS_HEADER_BYTES + length
}

/** `other`: only a LATM decoder can read the configuration. */
export type LatmConfig = { kind: 'plain'; specific: Uint8Array } | { kind: 'other' }

/** The configuration in the frame; undefined if it uses the one of an earlier frame. */
export function latmConfig(frame: Uint8Array): LatmConfig | undefined {
  const bits = createBitReader(frame.subarray(LOAS_HEADER_BYTES))
  if (bits.flag()) return undefined
  return readMuxConfig(bits, frame.subarray(LOAS_HEADER_BYTES))
}

/** The raw AAC of a frame with this AudioSpecificConfig; undefined if it has another. */
export function latmPayload(frame: Uint8Array, specific: Uint8Array): Uint8Array | undefined {
  const element = frame.subarray(LOAS_HEADER_BYTES)
  const bits = createBitReader(element)
  if (!bits.flag()) {
    const own = readMuxConfig(bits, element)
    if (own.kind === 'other' || Buffer.compare(own.specific, specific) !== 0) return undefined
  }
  // PayloadLengthInfo of one frame of variable length (1.7.3.1).
  let length = 0
  for (let byte = 255; byte === 255 && !bits.isExhausted();) {
    byte = bits.bits(8)
    length += byte
  }
  const from = bits.position()
  if (length === 0 || from + 8 * length > 8 * element.length) return undefined
  return copyBits(element, from, 8 * length)
}

/** StreamMuxConfig (1.7.3.1): one program, one layer and one frame at a time are common. */
function readMuxConfig(bits: BitReader, element: Uint8Array): LatmConfig {
  const version = bits.bits(1)
  if (version === 1 && bits.flag()) return { kind: 'other' }
  if (version === 1) readLatmValue(bits)
  const isOneClock = bits.flag()
  const furtherFrames = bits.bits(6)
  const furtherPrograms = bits.bits(4)
  const furtherLayers = bits.bits(3)
  if (!isOneClock || furtherFrames + furtherPrograms + furtherLayers > 0) return { kind: 'other' }
  const specificBits = version === 1 ? readLatmValue(bits) : undefined
  const from = bits.position()
  if (!skipSpecific(bits)) return { kind: 'other' }
  const to = specificBits === undefined ? bits.position() : from + specificBits
  if (to < bits.position() || to > 8 * element.length) return { kind: 'other' }
  bits.bits(to - bits.position())
  const hasVaryingLength = bits.bits(3) === 0
  bits.bits(8)
  skipOtherData(bits, version)
  if (bits.flag()) bits.bits(8)
  if (!hasVaryingLength || bits.isExhausted()) return { kind: 'other' }
  return { kind: 'plain', specific: copyBits(element, from, to - from) }
}

/** AudioSpecificConfig of AAC (1.6.2.1) with channels of the table; false for anything else. */
function skipSpecific(bits: BitReader): boolean {
  const type = bits.bits(5)
  if (!PLAIN_TYPES.has(type)) return false
  skipRate(bits)
  const channels = bits.bits(4)
  if (type !== 2) {
    skipRate(bits)
    if (bits.bits(5) === ESCAPE) return false
  }
  // GASpecificConfig (4.4.1): frameLengthFlag, dependsOnCoreCoder, extensionFlag.
  const isUsual = bits.bits(3) === 0
  return isUsual && channels !== CHANNELS_IN_PROGRAM_CONFIG && !bits.isExhausted()
}

function skipRate(bits: BitReader): void {
  if (bits.bits(4) === 15) bits.bits(24)
}

/** LatmGetValue: one to four bytes. */
function readLatmValue(bits: BitReader): number {
  const bytes = bits.bits(2) + 1
  return bits.bits(8 * bytes)
}

function skipOtherData(bits: BitReader, version: number): void {
  if (!bits.flag()) return
  if (version === 1) {
    readLatmValue(bits)
    return
  }
  while (bits.flag() && !bits.isExhausted()) bits.bits(8)
  bits.bits(8)
}

/** Bits of `bytes` from a bit position, aligned to whole bytes and padded with zeros. */
function copyBits(bytes: Uint8Array, from: number, count: number): Uint8Array {
  const copy = new Uint8Array(Math.ceil(count / 8))
  const shift = from & 7
  const at = from >>> 3
  for (let i = 0; i < copy.length; i++) {
    const pair = ((bytes[at + i] ?? 0) << 8) | (bytes[at + i + 1] ?? 0)
    copy[i] = (pair >>> (8 - shift)) & 0xff
  }
  const spare = 8 * copy.length - count
  if (spare > 0) copy[copy.length - 1] = (copy.at(-1) ?? 0) & (0xff << spare)
  return copy
}
