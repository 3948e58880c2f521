// Describes an audio track by its codec (Matroska codec registry): as served, or as input of the
// transcoder.
import { parseAacConfig } from '../../codec/audio-specific-config.ts'
import {
  aacSampleConfig,
  flacConfig,
  opusConfig,
  type AudioSampleConfig,
} from '../../codec/sample-entry.ts'
import { aacConfig } from './aac-config.ts'
import type {
  DescribedAudio,
  FrameLength,
  RecordedCodec,
  RecordedAudio,
  AudioStreamInfo,
} from '../matroska-source.ts'
import type { TrackEntry } from './track-entry.ts'
import { type Described, unplayable } from './video-stream.ts'

const MAX_CHANNELS = 64
const MAX_SAMPLE_RATE = 768_000

/** Describes an audio track; unplayable if it is neither played nor transcoded. */
export function describeAudio(entry: TrackEntry): Described<AudioStreamInfo> {
  const { kind } = entry.encoding
  if (kind === 'encrypted') return unplayable({ code: 'audio-encrypted' })
  if (kind !== 'none' && kind !== 'stripped') return unplayable({ code: 'audio-compressed' })
  const stream = describePlayable(entry) ?? describeTranscoded(entry)
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

function describePlayable(entry: TrackEntry): AudioStreamInfo | undefined {
  const { codec, codecPrivate } = entry
  if (codec === 'A_AAC' || codec.startsWith('A_AAC/')) return describeAac(entry)
  if (codec === 'A_OPUS') return withConfig(entry, opusConfig(codecPrivate), { kind: 'opus' })
  if (codec === 'A_FLAC') return describeFlac(entry)
  return undefined
}

const AAC_FRAME_SAMPLES = 1024

function describeAac(entry: TrackEntry): AudioStreamInfo | undefined {
  const specific = entry.codecPrivate.length >= 2 ? entry.codecPrivate : aacConfig(entry)
  const set = specific && aacSampleConfig(specific)
  if (specific === undefined || set === undefined) return undefined
  const config = parseAacConfig(specific)
  const ratio = config === undefined ? 1 : config.sampleRate / config.coreRate
  const ticks = Math.round(AAC_FRAME_SAMPLES * ratio)
  // The container has the number of channels if the configuration leaves it to the frames.
  const channels = config?.channels ?? entry.audio.channels
  return withConfig(entry, { ...set, channels }, { kind: 'fixed', ticks })
}

const FLAC_MARK_BYTES = 4

/** CodecPrivate is the start of a FLAC file: its signature, then metadata blocks. */
function describeFlac(entry: TrackEntry): AudioStreamInfo | undefined {
  const blocks = entry.codecPrivate.subarray(FLAC_MARK_BYTES)
  const set = flacConfig(blocks)
  if (set === undefined) return undefined
  const smallest = ((blocks[4] ?? 0) << 8) | (blocks[5] ?? 0)
  const largest = ((blocks[6] ?? 0) << 8) | (blocks[7] ?? 0)
  const isFixed = smallest === largest && largest > 0
  return withConfig(entry, set, isFixed ? { kind: 'fixed', ticks: largest } : { kind: 'unknown' })
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
  const { sampleRate } = described
  const ticks = Math.round((defaultDurationNs / 1e9) * sampleRate)
  const isDeclared = frame.kind === 'unknown' && ticks > 0
  return {
    described: {
      kind: 'audio',
      ...described,
      ...(language !== undefined && { language }),
      ...(name !== undefined && { name }),
    },
    timescale: described.transcodedFrom?.sampleRate ?? sampleRate,
    frame: isDeclared ? { kind: 'fixed', ticks } : frame,
  }
}

interface Recorded {
  codec: RecordedCodec
  codecName: string
  frame: FrameLength
  extradata?: Uint8Array
}

function describeTranscoded(entry: TrackEntry): AudioStreamInfo | undefined {
  const recorded = recordedFormat(entry)
  if (recorded === undefined) return undefined
  const { codec, codecName, frame, extradata } = recorded
  const { sampleRate, channels } = entry.audio
  const transcodedFrom: RecordedAudio = {
    codec,
    channels,
    sampleRate,
    ...(extradata && { extradata }),
  }
  const described = {
    codec: 'mp4a.40.2',
    codecName,
    channels: Math.min(channels, 2),
    sampleRate: sampleRate === 44_100 ? 44_100 : 48_000,
    transcodedFrom,
  }
  return { ...base(entry), ...track(entry, described, frame) }
}

function fixed(ticks: number): FrameLength {
  return { kind: 'fixed', ticks }
}

const UNKNOWN: FrameLength = { kind: 'unknown' }

function recordedFormat(entry: TrackEntry): Recorded | undefined {
  const { codec, audio, codecPrivate } = entry
  if (codec === 'A_MPEG/L3') {
    return { codec: 'mp3', codecName: 'MP3', frame: fixed(audio.sampleRate < 32_000 ? 576 : 1152) }
  }
  if (codec === 'A_MPEG/L2') return { codec: 'mp2', codecName: 'MP2', frame: fixed(1152) }
  if (codec === 'A_VORBIS') {
    return { codec: 'vorbis', codecName: 'Vorbis', frame: UNKNOWN, extradata: codecPrivate }
  }
  if (codec === 'A_TRUEHD') return { codec: 'truehd', codecName: 'TrueHD', frame: UNKNOWN }
  if (codec.startsWith('A_EAC3')) return { codec: 'eac3', codecName: 'E-AC-3', frame: UNKNOWN }
  if (codec.startsWith('A_AC3')) return { codec: 'ac3', codecName: 'AC-3', frame: fixed(1536) }
  if (codec.startsWith('A_DTS')) return { codec: 'dts', codecName: 'DTS', frame: UNKNOWN }
  if (codec === 'A_MS/ACM') return acm(codecPrivate)
  return pcm(codec, audio)
}

function pcm(codec: string, { bits, channels }: TrackEntry['audio']): Recorded | undefined {
  const codecs: Record<string, RecordedCodec | undefined> = {
    'A_PCM/INT/LIT 8': 'pcm_u8',
    'A_PCM/INT/LIT 16': 'pcm_s16le',
    'A_PCM/INT/LIT 24': 'pcm_s24le',
    'A_PCM/INT/LIT 32': 'pcm_s32le',
    'A_PCM/FLOAT/IEEE 32': 'pcm_f32le',
    'A_PCM/INT/BIG 8': 'pcm_u8',
    'A_PCM/INT/BIG 16': 'pcm_s16be',
    'A_PCM/INT/BIG 24': 'pcm_s24be',
  }
  const found = codecs[`${codec} ${bits}`]
  const sampleBytes = (bits / 8) * channels
  return found && { codec: found, codecName: 'PCM', frame: { kind: 'pcm', sampleBytes } }
}

/** WAVEFORMATEX: the format tag, channels, and after further fields the bits per sample. */
function acm(format: Uint8Array): Recorded | undefined {
  if (format.length < 16) return undefined
  const view = new DataView(format.buffer, format.byteOffset, format.byteLength)
  const channels = view.getUint16(2, true)
  const frame: FrameLength = { kind: 'pcm', sampleBytes: channels }
  switch (view.getUint16(0, true)) {
    case 1:
      return pcm('A_PCM/INT/LIT', { bits: view.getUint16(14, true), channels, ...NO_RATES })
    case 6:
      return { codec: 'pcm_alaw', codecName: 'A-law', frame }
    case 7:
      return { codec: 'pcm_mulaw', codecName: 'mu-law', frame }
    case 0x50:
      return { codec: 'mp2', codecName: 'MP2', frame: fixed(1152) }
    case 0x55:
      return { codec: 'mp3', codecName: 'MP3', frame: UNKNOWN }
    case 0x2000:
      return { codec: 'ac3', codecName: 'AC-3', frame: fixed(1536) }
    default:
      return undefined
  }
}

const NO_RATES = { sampleRate: 0, outputRate: 0 }
