// Frame headers of AC-3 and E-AC-3 (ETSI TS 102 366 4.3, annex E.1.2).

import type { AudioFrame } from './audio-frame.ts'

/** A frame with its dependent substreams, which a decoder needs together. */
export interface DolbyFrame extends AudioFrame {
  codec: 'ac3' | 'eac3'
}

const HEADER_BYTES = 8
const BLOCK_SAMPLES = 256
/** Samples a second by fscod (table 4.1). */
export const DOLBY_RATES: readonly number[] = [48_000, 44_100, 32_000]
/** Kilobits per second by frmsizecod / 2 (table 4.13). */
const KILOBITS = [
  32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
]
/** Channels by acmod (table 4.3), without the LFE channel. */
export const DOLBY_CHANNELS: readonly number[] = [2, 1, 2, 3, 3, 4, 4, 5]
/** Blocks of a frame by numblkscod (E.1.3.1.4). */
const BLOCKS = [1, 2, 3, 6]
/** bsid up to this is AC-3; from 11 to 16 it is E-AC-3. */
const LAST_AC3_BSID = 10
const LAST_EAC3_BSID = 16
/** One program has at most eight dependent substreams, a stream at most eight programs. */
const MAX_SUBSTREAMS = 64

interface Syncframe extends DolbyFrame {
  /** Belongs to the frame before: a dependent substream, or one of another program. */
  isFollower: boolean
}

/**
 * The frame with its sync word at `at`, with the substreams that belong to it; undefined if
 * invalid.
 */
export function dolbyFrameAt(bytes: Uint8Array, at: number): DolbyFrame | undefined {
  const first = syncframeAt(bytes, at)
  if (first === undefined || first.isFollower) return undefined
  let { codec, channels, bytes: length } = first
  for (let i = 0; i < MAX_SUBSTREAMS; i++) {
    const next = syncframeAt(bytes, at + length)
    if (next === undefined || !next.isFollower) break
    codec = 'eac3'
    channels = Math.max(channels, next.channels)
    length += next.bytes
  }
  return { codec, channels, sampleRate: first.sampleRate, samples: first.samples, bytes: length }
}

function syncframeAt(bytes: Uint8Array, at: number): Syncframe | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) {
    return undefined
  }
  const header = bytes.subarray(at, at + HEADER_BYTES)
  const bsid = (header[5] ?? 0) >>> 3
  if (bsid <= LAST_AC3_BSID) return parseAc3(header, bsid)
  return bsid <= LAST_EAC3_BSID ? parseEac3(header) : undefined
}

/** syncinfo and bsi (4.3.1, 4.3.2). */
function parseAc3(header: Uint8Array, bsid: number): Syncframe | undefined {
  const [, , , , sizes = 0, , mode = 0, next = 0] = header
  const rate = DOLBY_RATES[sizes >>> 6]
  const kilobits = KILOBITS[(sizes & 0x3f) >>> 1]
  if (rate === undefined || kilobits === undefined) return undefined
  const words = Math.floor((kilobits * 96_000) / rate)
  const padding = rate === 44_100 ? sizes & 1 : 0
  const acmod = mode >>> 5
  return {
    codec: 'ac3',
    // bsid 9 and 10: half and quarter rate.
    sampleRate: rate >>> Math.max(0, bsid - 8),
    channels: (DOLBY_CHANNELS[acmod] ?? 2) + lowFrequencies(acmod, (mode << 8) | next),
    samples: 6 * BLOCK_SAMPLES,
    bytes: 2 * (words + padding),
    isFollower: false,
  }
}

/** lfeon follows the mix levels, which depend on acmod. */
function lowFrequencies(acmod: number, modeBits: number): number {
  const center = (acmod & 1) !== 0 && acmod !== 1 ? 2 : 0
  const surround = (acmod & 4) !== 0 ? 2 : 0
  const stereo = acmod === 2 ? 2 : 0
  return (modeBits >>> (12 - center - surround - stereo)) & 1
}

/** bsi of annex E.1.2.2. */
function parseEac3(header: Uint8Array): Syncframe | undefined {
  const [, , kind = 0, size = 0, mode = 0] = header
  const streamType = kind >>> 6
  const substream = (kind >>> 3) & 7
  const rateIndex = mode >>> 6
  // fscod 3: half the rate, always six blocks (E.1.3.1.4).
  const isHalf = rateIndex === 3
  const rate = DOLBY_RATES[isHalf ? (mode >>> 4) & 3 : rateIndex]
  const bytes = 2 * ((((kind & 7) << 8) | size) + 1)
  if (streamType === 3 || rate === undefined || bytes < HEADER_BYTES) return undefined
  const blocks = isHalf ? 6 : (BLOCKS[(mode >>> 4) & 3] ?? 6)
  return {
    codec: 'eac3',
    sampleRate: isHalf ? rate / 2 : rate,
    channels: (DOLBY_CHANNELS[(mode >>> 1) & 7] ?? 2) + (mode & 1),
    samples: blocks * BLOCK_SAMPLES,
    bytes,
    isFollower: streamType === 1 || substream > 0,
  }
}
