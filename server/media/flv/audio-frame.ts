// What a frame of sound says of itself: rate, channels and number of samples, for sound that comes without a set-up.
import { findAudioFrame } from '../codec/audio-frame.ts'
import type { ConfiguredAudio } from './audio-tag.ts'
import type { PlainAudio, AudioConfigRecord } from './flv-source.ts'

export interface AudioFrame {
  sampleRate: number
  channels: number
  /** Samples per channel. */
  samples: number
}

/** First bytes of the frame, its whole length, and what its tag says. */
export interface FrameBytes {
  head: Uint8Array
  sizeBytes: number
  sampleRate: number
  channels: number
}

const AC3_RATES = [48_000, 44_100, 32_000]
/** Channels without the low frequencies by acmod (ETSI TS 102 366 4.4.2.3). */
const AC3_CHANNELS = [2, 1, 2, 3, 3, 4, 4, 5]
const AC3_SAMPLES = 1536
const EAC3_BLOCKS = [1, 2, 3, 6]
const BLOCK_SAMPLES = 256

/** Undefined where the frame is broken. */
export function describeFrame(codec: PlainAudio, frame: FrameBytes): AudioFrame | undefined {
  switch (codec) {
    case 'mp3':
      return describeMp3(frame)
    case 'ac3':
      return describeAc3(frame.head)
    case 'eac3':
      return describeEac3(frame.head)
    case 'pcm_s16le':
      return describePcm(frame, 2)
    case 'pcm_u8':
    case 'pcm_alaw':
    case 'pcm_mulaw':
      return describePcm(frame, 1)
  }
}

function describeMp3({ head }: FrameBytes): AudioFrame | undefined {
  const found = findAudioFrame('mpeg', head.subarray(0, 4))
  if (found === undefined || found === 'other') return undefined
  const { sampleRate, channels, samples } = found
  return { sampleRate, channels, samples }
}

function describePcm(
  { sizeBytes, sampleRate, channels }: FrameBytes,
  bytesPerSample: number,
): AudioFrame | undefined {
  const samples = Math.floor(sizeBytes / bytesPerSample / channels)
  return samples > 0 ? { sampleRate, channels, samples } : undefined
}

/** ETSI TS 102 366 4.3.1, 4.3.2 */
function describeAc3(head: Uint8Array): AudioFrame | undefined {
  const sampleRate = AC3_RATES[(head[4] ?? 0) >> 6]
  if (!beginsAc3(head) || sampleRate === undefined) return undefined
  const bits = ((head[6] ?? 0) << 8) | (head[7] ?? 0)
  const mode = bits >> 13
  // Levels of the centre, the surround and the matrix lie in front of the mark of the low frequencies.
  const hasCentre = (mode & 1) !== 0 && mode !== 1
  const before = 3 + (hasCentre ? 2 : 0) + ((mode & 4) !== 0 ? 2 : 0) + (mode === 2 ? 2 : 0)
  const low = (bits >> (15 - before)) & 1
  return { sampleRate, channels: (AC3_CHANNELS[mode] ?? 2) + low, samples: AC3_SAMPLES }
}

/** ETSI TS 102 366 annex E.1.2.1, E.1.2.2 */
function describeEac3(head: Uint8Array): AudioFrame | undefined {
  const bits = head[4] ?? 0
  if (!beginsAc3(head)) return undefined
  const code = bits >> 6
  const rate = AC3_RATES[code === 3 ? (bits >> 4) & 3 : code]
  if (rate === undefined) return undefined
  const sampleRate = code === 3 ? rate / 2 : rate
  const blocks = code === 3 ? 6 : (EAC3_BLOCKS[(bits >> 4) & 3] ?? 6)
  const channels = (AC3_CHANNELS[(bits >> 1) & 7] ?? 2) + (bits & 1)
  return { sampleRate, channels, samples: blocks * BLOCK_SAMPLES }
}

function beginsAc3(head: Uint8Array): boolean {
  return head.length >= 8 && head[0] === 0x0b && head[1] === 0x77
}

/** Samples in a frame, in ticks of its set-up; undefined where it is none of that set-up. */
export function audioTicks(
  config: AudioConfigRecord,
  frame: FrameBytes & { codec: ConfiguredAudio | PlainAudio },
): number | undefined {
  if (frame.codec !== config.codec) return undefined
  if (isPlainAudio(frame.codec)) {
    const described = describeFrame(frame.codec, frame)
    return described?.sampleRate === config.sampleRate ? described.samples : undefined
  }
  return frame.codec === 'opus' ? opusTicks(frame.head) : config.frameTicks
}

export function isPlainAudio(codec: ConfiguredAudio | PlainAudio): codec is PlainAudio {
  return codec !== 'aac' && codec !== 'opus' && codec !== 'flac'
}

/** Samples of an Opus packet at 48 kHz, by its first two bytes (RFC 6716 3.1, 3.2). */
function opusTicks(head: Uint8Array): number {
  const first = head[0] ?? 0
  const config = first >> 3
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? (head[1] ?? 0) & 0x3f : 2
  return Math.max(1, frames * opusFrameTicks(config))
}

function opusFrameTicks(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 960
  if (config < 16) return (config & 1) === 0 ? 480 : 960
  return [120, 240, 480, 960][config & 3] ?? 960
}
