// Frames of audio in elementary streams: size, duration, and the sample in them.
import { describedFrameAt, isPlayedAudio } from '../../codec/audio-codecs.ts'
import type { AudioCodec } from '../../codec/audio-codecs.ts'
import { adtsFrameAt } from '../../codec/audio-frame.ts'
import type { AudioFrame, FrameExtent } from '../../codec/audio-frame.ts'
import { latmPayload, loasFrameBytes } from '../../codec/latm.ts'
import { opusUnitAt } from './opus-unit.ts'
import { PES_TIMESCALE } from './pes.ts'
import { uint16 } from './table-section.ts'

/**
 * `aac` is AAC in ADTS; `latm` is AAC in LATM, served as raw AAC; `aac_latm` needs a LATM decoder;
 * `lpcm` is PCM with headers.
 */
export type StreamCodec = AudioCodec | 'latm' | 'lpcm'

/** Codecs of a stream by the codec that the tables list: only the frames show which it is. */
const SIMILAR: Partial<Record<AudioCodec, readonly StreamCodec[]>> = {
  aac_latm: ['latm', 'aac_latm'],
  mp3: ['mp3', 'mp2'],
  ac3: ['ac3', 'eac3'],
  eac3: ['ac3', 'eac3'],
  pcm_s16be: ['lpcm'],
}

export function codecsOf(listed: AudioCodec): readonly StreamCodec[] {
  return SIMILAR[listed] ?? [listed]
}

/** The common properties of the frames of a stream. A plain value: the index contains it. */
export interface AudioConfig {
  codec: StreamCodec
  channels: number
  /** Samples a second of the decoded audio. */
  sampleRate: number
  /** Samples a second that the frames count: those of the core with SBR. */
  timescale: number
  /** AudioSpecificConfig of AAC, OpusHead of Opus. */
  config?: Uint8Array
  /** Of LPCM. */
  bitsPerSample?: 16 | 24
}

/** Whether browsers play the audio in fMP4; other audio is transcoded. */
export function isPlayed(audio: AudioConfig): boolean {
  return isPlayedAudio(sampleCodec(audio))
}

/** The codec of the samples in the frames. */
export function sampleCodec({ codec, bitsPerSample }: AudioConfig): AudioCodec {
  if (codec === 'lpcm') return bitsPerSample === 16 ? 'pcm_s16be' : 'pcm_s24be'
  return codec === 'latm' ? 'aac' : codec
}

/** A frame within its stream. Without what its header does not contain. */
export type StreamFrame = FrameExtent & Partial<AudioFrame>

const AAC_SAMPLES = 1024
const ADTS_HEADER_BYTES = 7
const ADTS_CRC_BYTES = 2
const LPCM_HEADER_BYTES = 4
const LPCM_STEREO = 3
const LPCM_RATES: ReadonlyMap<number, number> = new Map([
  [1, 48_000],
  [4, 96_000],
  [5, 192_000],
])

/**
 * The frame of the codec with its header at `at`; undefined if there is none. It may extend past
 * the bytes.
 */
export function audioFrameAt(
  codec: StreamCodec,
  bytes: Uint8Array,
  at: number,
): StreamFrame | undefined {
  if (codec === 'aac') return adtsFrameAt(bytes, at)
  if (codec === 'latm' || codec === 'aac_latm') return latmFrameAt(bytes, at)
  if (codec === 'opus') return opusUnitAt(bytes, at)
  return codec === 'lpcm' ? lpcmFrameAt(bytes, at) : describedFrameAt(codec, bytes, at)
}

/** Whether frames have no sync word: they begin at the start of a PES packet. */
export function isPositioned(codec: StreamCodec): boolean {
  return codec === 'lpcm'
}

function latmFrameAt(bytes: Uint8Array, at: number): FrameExtent | undefined {
  const length = loasFrameBytes(bytes, at)
  return length === undefined ? undefined : { bytes: length, samples: AAC_SAMPLES }
}

interface LpcmFrame extends AudioFrame {
  bitsPerSample: 16 | 24
}

/**
 * A PES packet of LPCM in the form of Blu-ray: a header of four bytes, then big-endian samples.
 * Stereo only.
 */
export function lpcmFrameAt(bytes: Uint8Array, at: number): LpcmFrame | undefined {
  if (at + LPCM_HEADER_BYTES > bytes.length) return undefined
  const dataBytes = uint16(bytes, at)
  const layout = bytes[at + 2] ?? 0
  const depth = (bytes[at + 3] ?? 0) >>> 6
  const sampleRate = LPCM_RATES.get(layout & 0x0f)
  if (layout >>> 4 !== LPCM_STEREO || sampleRate === undefined || depth === 0) return undefined
  // 20 bits are stored as 24.
  const bitsPerSample = depth === 1 ? 16 : 24
  const blockBytes = (2 * bitsPerSample) / 8
  if (dataBytes === 0 || dataBytes % blockBytes !== 0) return undefined
  return {
    bytes: LPCM_HEADER_BYTES + dataBytes,
    samples: dataBytes / blockBytes,
    sampleRate,
    channels: 2,
    bitsPerSample,
  }
}

/**
 * The sample in a whole frame: raw AAC, Opus and PCM without their headers, other codecs unchanged.
 */
export function framePayload(
  { codec, config }: AudioConfig,
  frame: Uint8Array,
): Uint8Array | undefined {
  if (codec === 'aac') return adtsPayload(frame)
  if (codec === 'latm') return config && latmPayload(frame, config)
  if (codec === 'opus') return frame.subarray(opusUnitAt(frame, 0)?.headerBytes ?? frame.length)
  return codec === 'lpcm' ? frame.subarray(LPCM_HEADER_BYTES) : frame
}

/**
 * Frames of several blocks contain checksums between them, which browsers reject; no known encoder
 * writes them.
 */
function adtsPayload(frame: Uint8Array): Uint8Array | undefined {
  const hasCrc = ((frame[1] ?? 0) & 1) === 0
  const furtherBlocks = (frame[6] ?? 0) & 3
  if (furtherBlocks > 0) return undefined
  return frame.subarray(ADTS_HEADER_BYTES + (hasCrc ? ADTS_CRC_BYTES : 0))
}

/** Duration of the frames that begin in the payload of a PES packet, in ticks. */
export function audioTicks({ codec, timescale }: AudioConfig, payload: Uint8Array): number {
  let seconds = 0
  for (let at = 0; at < payload.length;) {
    const frame = audioFrameAt(codec, payload, at)
    if (frame === undefined && isPositioned(codec)) break
    if (frame === undefined) {
      at++
      continue
    }
    seconds += frame.samples / (frame.sampleRate ?? timescale)
    at += frame.bytes
  }
  return Math.round(seconds * PES_TIMESCALE)
}
