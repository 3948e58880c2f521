// Rate, channels and samples of an audio frame, for audio without a configuration.
import { mpegFrameAt } from '../codec/audio-frame.ts'
import type { AudioFrame } from '../codec/audio-frame.ts'
import { dolbyFrameAt } from '../codec/dolby-frame.ts'
import { opusPacketSamples } from '../codec/opus-packet.ts'
import type { ConfiguredAudio } from './audio-tag.ts'
import type { PlainAudio, AudioConfigRecord } from './flv-source.ts'

/** The first bytes of a frame, its size, and the format in its tag. */
export interface FrameBytes {
  head: Uint8Array
  sizeBytes: number
  sampleRate: number
  channels: number
}

/** Undefined if the frame is invalid. */
export function describeFrame(codec: PlainAudio, frame: FrameBytes): AudioFrame | undefined {
  switch (codec) {
    case 'mp3': {
      const found = mpegFrameAt(frame.head, 0)
      return found?.layer === 3 ? found : undefined
    }
    case 'ac3':
    case 'eac3':
      return dolbyFrameAt(frame.head, 0)
    case 'pcm_s16le':
      return describePcm(frame, 2)
    case 'pcm_u8':
    case 'pcm_alaw':
    case 'pcm_mulaw':
      return describePcm(frame, 1)
  }
}

function describePcm(
  { sizeBytes, sampleRate, channels }: FrameBytes,
  bytesPerSample: number,
): AudioFrame | undefined {
  const samples = Math.floor(sizeBytes / bytesPerSample / channels)
  return samples > 0 ? { sampleRate, channels, samples, bytes: sizeBytes } : undefined
}

/** Samples of a frame in ticks of its configuration; undefined if it has another one. */
export function audioTicks(
  config: AudioConfigRecord,
  frame: FrameBytes & { codec: ConfiguredAudio | PlainAudio },
): number | undefined {
  if (frame.codec !== config.codec) return undefined
  if (isPlainAudio(frame.codec)) {
    const described = describeFrame(frame.codec, frame)
    return described?.sampleRate === config.sampleRate ? described.samples : undefined
  }
  if (frame.codec !== 'opus') return config.frameTicks
  const [first = 0, second = 0] = frame.head
  return Math.max(1, opusPacketSamples(first, second))
}

export function isPlainAudio(codec: ConfiguredAudio | PlainAudio): codec is PlainAudio {
  return codec !== 'aac' && codec !== 'opus' && codec !== 'flac'
}
