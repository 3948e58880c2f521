// Frames of DTS (ETSI TS 102 114 5.3, 7.4): the header of the core, and its extension substream.
import type { AudioFrame } from './audio-frame.ts'
import { createBitReader } from './bit-reader.ts'

const CORE_SYNC = [0x7f, 0xfe, 0x80, 0x01]
const EXTENSION_SYNC = [0x64, 0x58, 0x20, 0x25]
const CORE_HEADER_BYTES = 11
const EXTENSION_HEADER_BYTES = 10
const MIN_CORE_BYTES = 96
const BLOCK_SAMPLES = 32
/** Samples a second by SFREQ (table 5-5). */
const RATES = [
  0, 8000, 16_000, 32_000, 0, 0, 11_025, 22_050, 44_100, 0, 0, 12_000, 24_000, 48_000, 0, 0,
]
/** Channels by AMODE (table 5-4); other values are user defined. */
const CHANNELS = [1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6, 6, 7, 8, 8]

/**
 * The frame with its core at `at`, including the extension substream; undefined if there is none.
 */
export function dtsFrameAt(bytes: Uint8Array, at: number): AudioFrame | undefined {
  if (!startsWith(bytes, at, CORE_SYNC) || at + CORE_HEADER_BYTES > bytes.length) return undefined
  const bits = createBitReader(bytes.subarray(at + CORE_SYNC.length, at + CORE_HEADER_BYTES))
  // FTYPE, SHORT, CPF
  bits.bits(7)
  const blocks = bits.bits(7) + 1
  const coreBytes = bits.bits(14) + 1
  const channels = CHANNELS[bits.bits(6)]
  const sampleRate = RATES[bits.bits(4)] ?? 0
  // RATE, MIX, DYNF, TIMEF, AUXF, HDCD, EXT_AUDIO_ID, EXT_AUDIO, ASPF
  bits.bits(15)
  const hasLowFrequencies = bits.bits(2) !== 0
  if (channels === undefined || sampleRate === 0 || coreBytes < MIN_CORE_BYTES) return undefined
  return {
    sampleRate,
    channels: channels + (hasLowFrequencies ? 1 : 0),
    samples: blocks * BLOCK_SAMPLES,
    bytes: coreBytes + extensionBytes(bytes, at + coreBytes),
  }
}

/** Bytes of an extension substream at `at` (7.4.1); 0 if there is none. */
function extensionBytes(bytes: Uint8Array, at: number): number {
  if (!startsWith(bytes, at, EXTENSION_SYNC)) return 0
  const bits = createBitReader(bytes.subarray(at, at + EXTENSION_HEADER_BYTES))
  bits.bits(32)
  // UserDefinedBits, nExtSSIndex
  bits.bits(10)
  const isLong = bits.flag()
  bits.bits(isLong ? 12 : 8)
  return bits.bits(isLong ? 20 : 16) + 1
}

function startsWith(bytes: Uint8Array, at: number, sync: number[]): boolean {
  return sync.every((byte, i) => bytes[at + i] === byte)
}
