// Frame headers of AAC in ADTS (ISO/IEC 13818-7 1.A.2) and of MPEG audio (ISO/IEC 11172-3 2.4.1.3),
// and the duration of Opus packets (RFC 6716 3.1, 3.2) and of frames of FLAC (RFC 9639 9.1).
import { AAC_RATES } from './audio-specific-config.ts'

/** The extent of a frame in a stream. */
export interface FrameExtent {
  /** Bytes with its header. */
  bytes: number
  /** Samples per channel, at its own rate. */
  samples: number
}

/** A frame whose header describes the audio. */
export interface AudioFrame extends FrameExtent {
  sampleRate: number
  channels: number
}

interface MpegFrame extends AudioFrame {
  layer: 1 | 2 | 3
}

const ADTS_HEADER_BYTES = 7
const MPEG_HEADER_BYTES = 4
/**
 * Kilobits per second by bitrate_index: MPEG-1 by layer, and MPEG-2 and 2.5 (ISO/IEC 11172-3
 * 2.4.2.3, 13818-3 2.4.2.3).
 */
const MPEG_KILOBITS = {
  1: {
    1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  2: {
    1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const
const MPEG_RATES = [44_100, 48_000, 32_000]
const LAYERS = [undefined, 3, 2, 1] as const

/** Whether the bytes start with frames of AAC: two in a row, or one that fills them. */
export function beginsWithAac(bytes: Uint8Array): boolean {
  const frame = adtsFrameAt(bytes, 0)
  if (frame === undefined) return false
  return frame.bytes >= bytes.length || adtsFrameAt(bytes, frame.bytes) !== undefined
}

/** A frame of AAC with its ADTS header at `at`. */
export function adtsFrameAt(bytes: Uint8Array, at: number): AudioFrame | undefined {
  if (at + ADTS_HEADER_BYTES > bytes.length) return undefined
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4)
  if (first !== 0xff || (second & 0xf6) !== 0xf0) return undefined
  const sampleRate = AAC_RATES[(third >>> 2) & 0x0f]
  const size = ((fourth & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >>> 5)
  if (sampleRate === undefined || size < ADTS_HEADER_BYTES) return undefined
  const configuration = ((third & 1) << 2) | (fourth >>> 6)
  const blocks = ((bytes[at + 6] ?? 0) & 3) + 1
  return {
    sampleRate,
    // 7 means 7.1; 0 means that the frames define it, where stereo is the likeliest.
    channels: configuration === 7 ? 8 : configuration || 2,
    samples: 1024 * blocks,
    bytes: size,
  }
}

/**
 * A frame of MPEG audio of any layer (ISO/IEC 11172-3 2.4.1.3, 13818-3) with its header at `at`.
 * Frames of free bitrate, which have no size, are invalid.
 */
export function mpegFrameAt(bytes: Uint8Array, at: number): MpegFrame | undefined {
  if (at + MPEG_HEADER_BYTES > bytes.length) return undefined
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4)
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined
  const version = (second >>> 3) & 3
  const layer = LAYERS[(second >>> 1) & 3]
  const rate = MPEG_RATES[(third >>> 2) & 3]
  if (version === 1 || layer === undefined || rate === undefined) return undefined
  const isMpeg1 = version === 3
  const kilobits = MPEG_KILOBITS[isMpeg1 ? 1 : 2][layer][third >>> 4] ?? 0
  if (kilobits === 0) return undefined
  const sampleRate = isMpeg1 ? rate : version === 2 ? rate / 2 : rate / 4
  const samples = layer === 1 ? 384 : layer === 3 && !isMpeg1 ? 576 : 1152
  const slotBytes = layer === 1 ? 4 : 1
  const slots = Math.floor((samples * 125 * kilobits) / sampleRate / slotBytes)
  const channels = fourth >>> 6 === 3 ? 1 : 2
  const size = (slots + ((third >>> 1) & 1)) * slotBytes
  return { layer, sampleRate, channels, samples, bytes: size }
}

/** Samples in a frame of FLAC that begins with these bytes; undefined if it is invalid. */
export function flacFrameSamples(head: Uint8Array): number | undefined {
  const [first = 0, second = 0, third = 0, , coded = 0] = head
  if (first !== 0xff || (second & 0xfe) !== 0xf8) return undefined
  const size = third >>> 4
  if (size === 1) return 192
  if (size >= 2 && size <= 5) return 144 * 2 ** size
  if (size >= 8) return 2 ** size
  // After the number of the frame or sample, whose first byte has its length as in UTF-8.
  const at = 4 + Math.max(1, Math.clz32(~(coded << 24)))
  const less = head.subarray(at, at + size - 5)
  return less.length === size - 5 ? less.reduce((sum, byte) => sum * 256 + byte, 0) + 1 : undefined
}

/** 120 ms, the longest packet (RFC 6716 3.2.5). */
const MAX_SAMPLES = 5760

/** Samples at 48 kHz, from the first two bytes of the packet; 0 if the packet is invalid. */
export function opusPacketSamples(first: number, second: number): number {
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2
  const samples = frames * frameSamples(first >>> 3)
  return samples <= MAX_SAMPLES ? samples : 0
}

function frameSamples(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 0
  if (config < 16) return (config & 1) === 0 ? 480 : 960
  return 120 << (config & 3)
}
