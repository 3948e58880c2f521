// Builds audio configurations from the record of the recorder, or from a frame, which shows rate,
// channels and samples of audio without a configuration.
import {
  AAC_LC,
  AUDIO_CODECS,
  describedFrameAt,
  isPlayedAudio,
  transcodedAudio,
} from '../codec/audio-codecs.ts'
import type { AudioCodec, PlayedAudio, TranscodedCodec } from '../codec/audio-codecs.ts'
import { parseAacConfig } from '../codec/audio-specific-config.ts'
import { aacSampleConfig, flacConfig, opusConfig } from '../codec/sample-entry.ts'
import type { AudioSampleConfig } from '../codec/sample-entry.ts'
import type { AudioTrack } from '../media-index.ts'
import type { AudioConfigRecord } from './flv-source.ts'
import { opusPacketSamples } from '../codec/audio-frame.ts'
import type { AudioFrame } from '../codec/audio-frame.ts'

const AAC_SAMPLES = 1024
const FLAC_SAMPLES = 4096
const FLAC_MARK = Buffer.from('fLaC')
/** Header of the last metadata block of FLAC, with its content of 34 bytes: STREAMINFO. */
const STREAM_INFO_HEADER = Uint8Array.of(0x80, 0, 0, 34)
const STREAM_INFO_BYTES = 34

/** Undefined if the record is not audio that browsers play. */
export function readAudioConfig(
  codec: PlayedAudio,
  config: Uint8Array,
): AudioConfigRecord | undefined {
  const setup = makeConfig(codec, config)
  if (setup === undefined || setup.channels < 1 || setup.sampleRate < 1) return undefined
  const { codecName, channels, sampleRate, sampleEntry } = setup
  const frameTicks = fixedFrameTicks(codec, config)
  return {
    kind: 'audio',
    codec,
    config: Uint8Array.from(config),
    codecString: setup.codec,
    codecName,
    channels,
    sampleRate,
    sampleEntry,
    ...(frameTicks !== undefined && { frameTicks }),
  }
}

function makeConfig(codec: PlayedAudio, config: Uint8Array): AudioSampleConfig | undefined {
  if (codec === 'aac') return aacSampleConfig(config)
  return codec === 'opus' ? opusConfig(config) : flacConfig(flacBlocks(config))
}

/** The metadata blocks (RFC 9639 8). FFmpeg writes the content of STREAMINFO alone. */
function flacBlocks(config: Uint8Array): Uint8Array {
  if (config.length === STREAM_INFO_BYTES) return Buffer.concat([STREAM_INFO_HEADER, config])
  return FLAC_MARK.equals(config.subarray(0, 4)) ? config.subarray(4) : config
}

function fixedFrameTicks(codec: PlayedAudio, config: Uint8Array): number | undefined {
  if (codec === 'opus') return undefined
  if (codec === 'flac') {
    // Largest block (RFC 9639 8.2): the size of all but the last if the smallest is equal.
    const blocks = flacBlocks(config)
    return ((blocks[6] ?? 0) << 8) | (blocks[7] ?? 0) || FLAC_SAMPLES
  }
  const parsed = parseAacConfig(config)
  return parsed && (AAC_SAMPLES * parsed.sampleRate) / parsed.coreRate
}

/** The configuration of transcoded audio, from one of its frames. */
export function plainAudioConfig(codec: TranscodedCodec, frame: AudioFrame): AudioConfigRecord {
  const { sampleRate, channels } = frame
  return {
    kind: 'audio',
    codec,
    config: new Uint8Array(0),
    codecString: AAC_LC,
    codecName: AUDIO_CODECS[codec].name,
    channels,
    sampleRate,
  }
}

/** The track as the index describes it. */
export function describeAudio(setup: AudioConfigRecord): AudioTrack {
  const { codec, codecString, codecName, channels, sampleRate } = setup
  if (isPlayedAudio(codec))
    return { kind: 'audio', codec: codecString, codecName, channels, sampleRate }
  const isOf44100 = sampleRate % 11_025 === 0 || sampleRate === 5512
  const described = transcodedAudio(codecName, { codec, channels, sampleRate })
  return { kind: 'audio', ...described, sampleRate: isOf44100 ? 44_100 : 48_000 }
}

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
