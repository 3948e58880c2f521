// Rate, channels and samples of an audio frame, for audio without a configuration.
import { AUDIO_CODECS, describedFrameAt, isPlayedAudio } from '../codec/audio-codecs.ts'
import type { AudioCodec } from '../codec/audio-codecs.ts'
import type { AudioFrame } from '../codec/audio-frame.ts'
import { opusPacketSamples } from '../codec/opus-packet.ts'
import type { AudioConfigRecord } from './flv-source.ts'

/** The first bytes of a frame, its size, and the format in its tag. */
export interface FrameBytes {
  head: Uint8Array
  sizeBytes: number
  sampleRate: number
  channels: number
}

/** Undefined if the frame is invalid. */
export function describeFrame(codec: AudioCodec, frame: FrameBytes): AudioFrame | undefined {
  const { sampleBytes } = AUDIO_CODECS[codec]
  if (sampleBytes === undefined) return describedFrameAt(codec, frame.head, 0)
  const { sizeBytes, sampleRate, channels } = frame
  const samples = Math.floor(sizeBytes / sampleBytes / channels)
  return samples > 0 ? { sampleRate, channels, samples, bytes: sizeBytes } : undefined
}

/** Samples of a frame in ticks of its configuration; undefined if it has another one. */
export function audioTicks(
  config: AudioConfigRecord,
  frame: FrameBytes & { codec: AudioCodec },
): number | undefined {
  if (frame.codec !== config.codec) return undefined
  if (!isPlayedAudio(frame.codec)) {
    const described = describeFrame(frame.codec, frame)
    return described?.sampleRate === config.sampleRate ? described.samples : undefined
  }
  if (frame.codec !== 'opus') return config.frameTicks
  const [first = 0, second = 0] = frame.head
  return Math.max(1, opusPacketSamples(first, second))
}
