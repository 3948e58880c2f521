// Builds audio configurations from the record of the recorder, or from a frame.
import { parseAacConfig } from '../codec/audio-specific-config.ts'
import { aacSampleConfig, flacConfig, opusConfig } from '../codec/sample-entry.ts'
import { transcodedAudio } from '../codec/transcoded-audio.ts'
import type { AudioSampleConfig } from '../codec/sample-entry.ts'
import type { AudioTrack } from '../media-index.ts'
import type { ConfiguredAudio } from './audio-tag.ts'
import type { PlainAudio, AudioConfigRecord } from './flv-source.ts'
import type { AudioFrame } from '../codec/audio-frame.ts'

const AAC_SAMPLES = 1024
const FLAC_SAMPLES = 4096
const FLAC_MARK = Buffer.from('fLaC')
/** The result of transcoding: AAC-LC. */
const TRANSCODED = 'mp4a.40.2'
const PLAIN_NAMES: Record<PlainAudio, string> = {
  mp3: 'MP3',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  pcm_s16le: 'PCM',
  pcm_u8: 'PCM',
  pcm_alaw: 'G.711 A-law',
  pcm_mulaw: 'G.711 µ-law',
}

/** Undefined if the record is not audio that browsers play. */
export function readAudioConfig(
  codec: ConfiguredAudio,
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

function makeConfig(codec: ConfiguredAudio, config: Uint8Array): AudioSampleConfig | undefined {
  if (codec === 'aac') return aacSampleConfig(config)
  return codec === 'opus' ? opusConfig(config) : flacConfig(withoutMark(config))
}

function withoutMark(config: Uint8Array): Uint8Array {
  return FLAC_MARK.equals(config.subarray(0, 4)) ? config.subarray(4) : config
}

function fixedFrameTicks(codec: ConfiguredAudio, config: Uint8Array): number | undefined {
  if (codec === 'opus') return undefined
  if (codec === 'flac') {
    // Largest block (RFC 9639 8.2): the size of all but the last if the smallest is equal.
    const blocks = withoutMark(config)
    return ((blocks[6] ?? 0) << 8) | (blocks[7] ?? 0) || FLAC_SAMPLES
  }
  const parsed = parseAacConfig(config)
  return parsed && (AAC_SAMPLES * parsed.sampleRate) / parsed.coreRate
}

/** The configuration of transcoded audio, from one of its frames. */
export function plainAudioConfig(codec: PlainAudio, frame: AudioFrame): AudioConfigRecord {
  const { sampleRate, channels } = frame
  return {
    kind: 'audio',
    codec,
    config: new Uint8Array(0),
    codecString: TRANSCODED,
    codecName: PLAIN_NAMES[codec],
    channels,
    sampleRate,
  }
}

/** The track as the index describes it. */
export function describeAudio(setup: AudioConfigRecord): AudioTrack {
  const { codec, codecString, codecName, channels, sampleRate } = setup
  if (codec === 'aac' || codec === 'opus' || codec === 'flac')
    return { kind: 'audio', codec: codecString, codecName, channels, sampleRate }
  const isOf44100 = sampleRate % 11_025 === 0 || sampleRate === 5512
  const described = transcodedAudio(codecName, { codec, channels, sampleRate })
  return { kind: 'audio', ...described, sampleRate: isOf44100 ? 44_100 : 48_000 }
}
