// Describes an audio track by its codec (Matroska codec registry): as served, or as input of the
// transcoder.
import { AUDIO_CODECS, audioCodecsIn, transcodedAudio } from '../../codec/audio-codecs.ts'
import type { AudioFormat, NamedAudio, TranscodedCodec } from '../../codec/audio-codecs.ts'
import { audioSpecificConfig, parseAacConfig } from '../../codec/audio-specific-config.ts'
import {
  aacSampleConfig,
  flacConfig,
  opusConfig,
  type AudioSampleConfig,
} from '../../codec/sample-entry.ts'
import type { AudioStreamInfo, DescribedAudio, FrameLength } from '../matroska-source.ts'
import type { TrackEntry } from './track-entry.ts'
import { type Described, unplayable } from './video-stream.ts'

const MAX_CHANNELS = 64
const MAX_SAMPLE_RATE = 768_000

/** Describes an audio track; unplayable if it is neither played nor transcoded. */
export function describeAudio(entry: TrackEntry): Described<AudioStreamInfo> {
  const { kind } = entry.encoding
  if (kind === 'encrypted') return unplayable({ code: 'audio-encrypted' })
  if (kind !== 'none' && kind !== 'stripped') return unplayable({ code: 'audio-compressed' })
  const stream = describeCodec(entry)
  if (stream === undefined) {
    return unplayable({ code: 'audio-codec-unsupported', codec: entry.codec.slice(0, 32) })
  }
  const { channels, sampleRate } = stream.described
  const isPlausible =
    channels > 0 && channels <= MAX_CHANNELS && sampleRate > 0 && stream.timescale > 0
  if (!isPlausible || stream.timescale > MAX_SAMPLE_RATE)
    return unplayable({ code: 'audio-format-invalid' })
  return { status: 'playable', stream }
}

function describeCodec(entry: TrackEntry): AudioStreamInfo | undefined {
  const found = findCodec(entry)
  if (found?.codec === undefined) return undefined
  const { codec } = found
  if (codec === 'aac') return describeAac(entry)
  if (codec === 'opus') return withConfig(entry, opusConfig(entry.codecPrivate), { kind: 'opus' })
  if (codec === 'flac') return describeFlac(entry)
  return describeTranscoded(entry, { ...found, codec })
}

const AAC_FRAME_SAMPLES = 1024
/** Profiles in codec IDs. */
const OBJECT_TYPES = new Map<string, number>([
  ['MAIN', 1],
  ['LC', 2],
  ['SSR', 3],
  ['LTP', 4],
])

function describeAac(entry: TrackEntry): AudioStreamInfo | undefined {
  const specific = entry.codecPrivate.length >= 2 ? entry.codecPrivate : namedConfig(entry)
  const set = specific && aacSampleConfig(specific)
  if (specific === undefined || set === undefined) return undefined
  const config = parseAacConfig(specific)
  const ratio = config === undefined ? 1 : config.sampleRate / config.coreRate
  const ticks = Math.round(AAC_FRAME_SAMPLES * ratio)
  // The container has the number of channels if the configuration leaves it to the frames.
  const channels = config?.channels ?? entry.audio.channels
  return withConfig(entry, { ...set, channels }, { kind: 'fixed', ticks })
}

/**
 * The configuration in a codec ID of old files, such as `A_AAC/MPEG4/LC/SBR`; undefined if AAC does
 * not support the rate.
 */
function namedConfig({ codec, audio }: TrackEntry): Uint8Array | undefined {
  const { sampleRate, channels } = audio
  const [, , profile = 'LC', extension] = codec.split('/')
  if (channels > 7 || channels < 1) return undefined
  const objectType = OBJECT_TYPES.get(profile)
  return audioSpecificConfig({
    sampleRate,
    channels,
    ...(objectType !== undefined && { objectType }),
    ...(extension === 'SBR' && { outputRate: audio.outputRate || sampleRate * 2 }),
  })
}

const FLAC_MARK_BYTES = 4

/** CodecPrivate is the start of a FLAC file: its signature, then metadata blocks. */
function describeFlac(entry: TrackEntry): AudioStreamInfo | undefined {
  const blocks = entry.codecPrivate.subarray(FLAC_MARK_BYTES)
  const set = flacConfig(blocks)
  if (set === undefined) return undefined
  return withConfig(entry, set, { kind: 'described', codec: 'flac' })
}

function withConfig(
  entry: TrackEntry,
  set: AudioSampleConfig | undefined,
  frame: FrameLength,
): AudioStreamInfo | undefined {
  if (set === undefined) return undefined
  const { sampleEntry, ...described } = set
  return { ...base(entry), ...track(entry, described, frame), sampleEntry }
}

function base({ number, encoding, codecDelayNs }: TrackEntry) {
  return {
    number,
    ...(encoding.kind === 'stripped' && { prefix: encoding.prefix }),
    delaySeconds: codecDelayNs / 1e9,
  }
}

function track(
  entry: TrackEntry,
  described: Omit<DescribedAudio, 'kind' | 'language' | 'name'>,
  frame: FrameLength,
): Pick<AudioStreamInfo, 'described' | 'timescale' | 'frame'> {
  const { language, name, defaultDurationNs } = entry
  const timescale = described.transcodedFrom?.sampleRate ?? described.sampleRate
  const ticks = Math.round((defaultDurationNs / 1e9) * timescale)
  const isDeclared = frame.kind === 'unknown' && ticks > 0
  return {
    described: {
      kind: 'audio',
      ...described,
      ...(language !== undefined && { language }),
      ...(name !== undefined && { name }),
    },
    timescale,
    frame: isDeclared ? { kind: 'fixed', ticks } : frame,
  }
}

interface FoundCodec extends NamedAudio {
  channels: number
}

function describeTranscoded(
  entry: TrackEntry,
  { codec, name, channels }: FoundCodec & { codec: TranscodedCodec },
): AudioStreamInfo {
  const { sampleRate } = entry.audio
  const transcodedFrom: AudioFormat = {
    codec,
    channels: entry.audio.channels,
    sampleRate,
    ...(codec === 'vorbis' && { extradata: entry.codecPrivate }),
  }
  const frame = frameLength(entry, codec, channels)
  return { ...base(entry), ...track(entry, transcodedAudio(name, transcodedFrom), frame) }
}

const FRAME_TICKS = new Map<TranscodedCodec, number>([
  ['mp2', 1152],
  ['ac3', 1536],
])

function frameLength(entry: TrackEntry, codec: TranscodedCodec, channels: number): FrameLength {
  const { sampleBytes } = AUDIO_CODECS[codec]
  if (sampleBytes !== undefined) return { kind: 'pcm', sampleBytes: sampleBytes * channels }
  if (codec === 'mp3' && entry.codec !== ACM) {
    return { kind: 'fixed', ticks: entry.audio.sampleRate < 32_000 ? 576 : 1152 }
  }
  if (codec === 'eac3' || codec === 'dts') return { kind: 'described', codec }
  const ticks = FRAME_TICKS.get(codec)
  return ticks === undefined ? { kind: 'unknown' } : { kind: 'fixed', ticks }
}

const CODECS = audioCodecsIn('matroska')
const ACM = 'A_MS/ACM'
const WAVE_PCM = 1

/** By the codec id, and by WAVEFORMATEX: format tag, channels, later the bits per sample. */
function findCodec({ codec, codecPrivate, audio }: TrackEntry): FoundCodec | undefined {
  if (codec !== ACM) return named(codec, audio)
  if (codecPrivate.length < 16) return undefined
  const view = new DataView(codecPrivate.buffer, codecPrivate.byteOffset, codecPrivate.byteLength)
  const tag = view.getUint16(0, true)
  const format = { channels: view.getUint16(2, true), bits: view.getUint16(14, true) }
  return named(tag === WAVE_PCM ? 'A_PCM/INT/LIT' : `${ACM} 0x${tag.toString(16)}`, format)
}

function named(
  id: string,
  { bits, channels }: Pick<TrackEntry['audio'], 'bits' | 'channels'>,
): FoundCodec | undefined {
  const found = id.startsWith('A_PCM/')
    ? CODECS.get(`${id} ${bits}`)
    : (CODECS.get(id) ?? CODECS.get(id.slice(0, id.indexOf('/') + 1)))
  return found && { ...found, channels }
}
