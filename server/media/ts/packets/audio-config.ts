// Identifies audio by the first frames of a stream, and describes it.
import { AAC_LC, AUDIO_CODECS, isPlayedAudio, transcodedAudio } from '../../codec/audio-codecs.ts'
import type { AudioCodec } from '../../codec/audio-codecs.ts'
import { adtsFrameAt, beginsWithAac, mpegFrameAt } from '../../codec/audio-frame.ts'
import { audioSpecificConfig, parseAacConfig } from '../../codec/audio-specific-config.ts'
import { dolbyFrameAt } from '../../codec/dolby-frame.ts'
import { dtsFrameAt } from '../../codec/dts-frame.ts'
import { latmConfig, loasFrameBytes } from '../../codec/latm.ts'
import { aacSampleConfig, opusConfig } from '../../codec/sample-entry.ts'
import type { AudioTrack } from '../../media-index.ts'
import { opusHead, opusUnitAt } from './opus-unit.ts'
import { isPlayed, lpcmFrameAt, sampleCodec } from './audio-frame.ts'
import type { AudioConfig } from './audio-frame.ts'
import { isUnnamed, listedAudio } from './stream-kind.ts'
import type { StreamTyping } from './stream-kind.ts'

/** Layer 3 as an audio object type (ISO/IEC 14496-3 table 1.17). */
const MP3 = 'mp4a.40.34'

/**
 * The configuration in the first frames of a stream (the payload of PES packets); undefined if they
 * contradict the program table.
 */
export function readAudioConfig(
  stream: StreamTyping,
  payload: Uint8Array,
): AudioConfig | undefined {
  if (isUnnamed(stream)) return beginsWithAac(payload) ? firstAac(payload) : undefined
  const listed = listedAudio(stream)
  const found = listed && CONFIGS[listed]?.(payload, stream.descriptors)
  return found === undefined || (isPlayed(found) && audioEntry(found) === undefined)
    ? undefined
    : found
}

type ReadConfig = (payload: Uint8Array, descriptors: Uint8Array) => AudioConfig | undefined

/** By the codec that the tables list. */
const CONFIGS: Partial<Record<AudioCodec, ReadConfig>> = {
  aac: firstAac,
  aac_latm: firstLatm,
  mp3: (payload) => {
    const frame = firstFrame(mpegFrameAt, payload)
    return frame && setup(frame.layer === 3 ? 'mp3' : 'mp2', frame)
  },
  ac3: firstDolby,
  eac3: firstDolby,
  dts: (payload) => {
    const frame = firstFrame(dtsFrameAt, payload)
    return frame && setup('dts', frame)
  },
  opus: (payload, descriptors) => {
    const config = opusHead(descriptors)
    if (config === undefined || opusUnitAt(payload, 0) === undefined) return undefined
    const described = opusConfig(config)
    return described && { ...setup('opus', described), config }
  },
  pcm_s16be: (payload) => {
    const frame = lpcmFrameAt(payload, 0)
    if (frame?.sampleRate === undefined) return undefined
    const { sampleRate, bitsPerSample } = frame
    return { codec: 'lpcm', channels: 2, sampleRate, timescale: sampleRate, bitsPerSample }
  },
}

function setup(
  codec: AudioConfig['codec'],
  { channels, sampleRate }: { channels: number; sampleRate: number },
): AudioConfig {
  return { codec, channels, sampleRate, timescale: sampleRate }
}

/**
 * The first frame in the bytes. One that another frame follows, or that fills the bytes, has
 * precedence.
 */
function firstFrame<Frame extends { bytes: number }>(
  frameAt: (bytes: Uint8Array, at: number) => Frame | undefined,
  payload: Uint8Array,
): Frame | undefined {
  let lone: Frame | undefined
  for (let at = 0; at < payload.length; at++) {
    const frame = frameAt(payload, at)
    if (frame === undefined) continue
    const end = at + frame.bytes
    if (end === payload.length || frameAt(payload, end) !== undefined) return frame
    lone ??= frame
  }
  return lone
}

function firstDolby(payload: Uint8Array): AudioConfig | undefined {
  const frame = firstFrame(dolbyFrameAt, payload)
  return frame && setup(frame.codec, frame)
}

function firstAac(payload: Uint8Array): AudioConfig | undefined {
  let config: Uint8Array | undefined
  const frame = firstFrame((bytes, at) => {
    const found = adtsFrameAt(bytes, at)
    config ??= found && adtsConfig(bytes, at, found)
    return found
  }, payload)
  return frame && { ...setup('aac', frame), ...(config && { config }) }
}

/** AudioSpecificConfig of an ADTS header. */
function adtsConfig(
  bytes: Uint8Array,
  at: number,
  { sampleRate }: Pick<AudioConfig, 'sampleRate'>,
) {
  const [third = 0, fourth = 0] = bytes.subarray(at + 2, at + 4)
  // 0: the frames contain the channels, and a decoder finds them there; stereo is the likeliest.
  const channels = ((third & 1) << 2) | (fourth >>> 6) || 2
  return audioSpecificConfig({ sampleRate, channels, objectType: (third >>> 6) + 1 })
}

function firstLatm(payload: Uint8Array): AudioConfig | undefined {
  for (let at = 0; at < payload.length; at++) {
    const length = loasFrameBytes(payload, at)
    if (length === undefined) continue
    const found = latmConfig(payload.subarray(at, at + length))
    if (found === undefined) continue
    if (found.kind === 'other') return { ...setup('aac_latm', { channels: 2, sampleRate: 48_000 }) }
    return plainLatm(found.specific)
  }
  return undefined
}

function plainLatm(specific: Uint8Array): AudioConfig | undefined {
  const config = parseAacConfig(specific)
  if (config === undefined) return undefined
  const { sampleRate, coreRate, channels = 2 } = config
  return { codec: 'latm', channels, sampleRate, timescale: coreRate, config: specific }
}

/** The track as served in fMP4. */
export function describeAudio(audio: AudioConfig, language: string | undefined): AudioTrack {
  const { channels, sampleRate } = audio
  const codec = sampleCodec(audio)
  const codecName = audio.codec === 'lpcm' ? 'LPCM' : AUDIO_CODECS[codec].name
  const described = isPlayedAudio(codec)
    ? { codec: audioEntry(audio)?.codec ?? AAC_LC, codecName, channels, sampleRate }
    : transcodedAudio(codecName, { codec, channels, sampleRate })
  return { kind: 'audio', ...described, ...(language !== undefined && { language }) }
}

/** The track of AAC or MP3 that players extract from MPEG-TS. */
export function verbatimTrack(audio: AudioConfig): AudioTrack {
  const { channels, sampleRate } = audio
  const isAac = audio.codec === 'aac'
  const codec = isAac ? (audioEntry(audio)?.codec ?? AAC_LC) : MP3
  const codecName = AUDIO_CODECS[isAac ? 'aac' : 'mp3'].name
  return { kind: 'audio', codec, codecName, channels, sampleRate }
}

/** Codec string and sample entry of audio that browsers play in fMP4. */
export function audioEntry({
  codec,
  config,
}: AudioConfig): { codec: string; sampleEntry: Uint8Array } | undefined {
  if (config === undefined) return undefined
  return codec === 'opus' ? opusConfig(config) : aacSampleConfig(config)
}
