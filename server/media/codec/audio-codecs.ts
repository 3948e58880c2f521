// Audio codecs: their names in containers, whether browsers play them, how others are transcoded,
// and their frames.
import { mpegFrameAt } from './audio-frame.ts'
import type { AudioFrame } from './audio-frame.ts'
import { dolbyFrameAt } from './dolby-frame.ts'
import { dtsFrameAt } from './dts-frame.ts'

interface AudioNames {
  /** Display name. */
  name: string
  /** Bytes of one sample of PCM. */
  sampleBytes?: number
  /** Sample entries, with the object type of the esds box if several codecs share one. */
  mp4?: readonly string[]
  /** A name that ends with `/` has variants. PCM with its bits, ACM with its format tag. */
  matroska?: readonly string[]
  /** Stream types of MPEG-TS (ISO/IEC 13818-1 table 2-34, ATSC A/53), and registrations. */
  ts?: readonly (number | string)[]
  /** Descriptor tags of private streams in MPEG-TS (ETSI EN 300 468 annex D, G). */
  descriptor?: readonly number[]
  /** SoundFormat of FLV, and the four-character codes of Enhanced RTMP. */
  flv?: readonly (number | string)[]
}

/** By FFmpeg's names. */
const CODECS = {
  aac: {
    name: 'AAC',
    mp4: ['mp4a'],
    matroska: ['A_AAC', 'A_AAC/'],
    ts: [0x0f],
    flv: [10, 'mp4a'],
  },
  opus: { name: 'Opus', mp4: ['Opus'], matroska: ['A_OPUS'], ts: ['Opus'], flv: ['Opus'] },
  flac: { name: 'FLAC', mp4: ['fLaC'], matroska: ['A_FLAC'], flv: ['fLaC'] },
  aac_latm: { name: 'AAC in LATM', ts: [0x11] },
  mp3: {
    name: 'MP3',
    mp4: ['mp4a.69', 'mp4a.6b', '.mp3', 'ms?U'],
    matroska: ['A_MPEG/L3', 'A_MS/ACM 0x55'],
    flv: [2, 14, '.mp3'],
  },
  mp2: { name: 'MP2', matroska: ['A_MPEG/L2', 'A_MS/ACM 0x50'] },
  ac3: {
    name: 'AC-3',
    mp4: ['mp4a.a5', 'ac-3', 'sac3'],
    matroska: ['A_AC3', 'A_AC3/', 'A_MS/ACM 0x2000'],
    ts: [0x81, 'AC-3'],
    descriptor: [0x6a],
    flv: ['ac-3'],
  },
  eac3: {
    name: 'E-AC-3',
    mp4: ['mp4a.a6', 'ec-3'],
    matroska: ['A_EAC3', 'A_EAC3/'],
    ts: [0x84, 0x87, 'EAC3'],
    descriptor: [0x7a],
    flv: ['ec-3'],
  },
  dts: {
    name: 'DTS',
    mp4: ['mp4a.a9', 'dtsc', 'dtsh', 'dtsl', 'dtse'],
    matroska: ['A_DTS', 'A_DTS/'],
    ts: [0x82, 0x8a, 'DTS1', 'DTS2', 'DTS3'],
    descriptor: [0x7b],
  },
  truehd: { name: 'TrueHD', mp4: ['mlpa'], matroska: ['A_TRUEHD'] },
  vorbis: { name: 'Vorbis', matroska: ['A_VORBIS'] },
  pcm_s16le: { name: 'PCM', sampleBytes: 2, matroska: ['A_PCM/INT/LIT 16'], flv: [0, 3] },
  pcm_s16be: { name: 'PCM', sampleBytes: 2, matroska: ['A_PCM/INT/BIG 16'] },
  pcm_s24le: { name: 'PCM', sampleBytes: 3, matroska: ['A_PCM/INT/LIT 24'] },
  pcm_s24be: { name: 'PCM', sampleBytes: 3, matroska: ['A_PCM/INT/BIG 24'] },
  pcm_s32le: { name: 'PCM', sampleBytes: 4, matroska: ['A_PCM/INT/LIT 32'] },
  pcm_f32le: { name: 'PCM', sampleBytes: 4, matroska: ['A_PCM/FLOAT/IEEE 32'] },
  pcm_u8: { name: 'PCM', sampleBytes: 1, matroska: ['A_PCM/INT/LIT 8', 'A_PCM/INT/BIG 8'] },
  pcm_alaw: { name: 'G.711 A-law', sampleBytes: 1, flv: [7] },
  pcm_mulaw: { name: 'G.711 µ-law', sampleBytes: 1, flv: [8] },
} satisfies Record<string, AudioNames>

export type AudioCodec = keyof typeof CODECS
export const AUDIO_CODECS: Readonly<Record<AudioCodec, AudioNames>> = CODECS

/** Codecs that browsers play in fMP4. */
export type PlayedAudio = 'aac' | 'opus' | 'flac'
/** Codecs that no browser plays in HLS: they are transcoded to AAC. */
export type TranscodedCodec = Exclude<AudioCodec, PlayedAudio>

/** Decoder parameters of transcoded audio. */
export interface AudioFormat {
  codec: TranscodedCodec
  channels: number
  sampleRate: number
  /**
   * Decoder configuration in FFmpeg's form (CodecPrivate, or its equivalent from the container).
   */
  extradata?: Uint8Array
}

/** A codec as a container names it; without `codec`, it is neither played nor transcoded. */
export interface NamedAudio {
  codec?: AudioCodec
  name: string
}

/** What single containers name differently, and what is not supported there. */
const SPECIAL: readonly (NamedAudio & AudioNames)[] = [
  // Of any layer: only the frames show which.
  { codec: 'mp3', name: 'MPEG audio', ts: [0x03, 0x04] },
  // Of 16 or 24 bits, as its frames define.
  { codec: 'pcm_s16be', name: 'LPCM', ts: [0x80] },
  { codec: 'dts', name: 'DTS-HD', ts: [0x85, 0x86] },
  { codec: 'pcm_alaw', name: 'A-law', matroska: ['A_MS/ACM 0x6'] },
  { codec: 'pcm_mulaw', name: 'mu-law', matroska: ['A_MS/ACM 0x7'] },
  { name: 'TrueHD', ts: [0x83] },
  { name: 'encrypted AAC', ts: [0xcf] },
  { name: 'ADPCM', flv: [1] },
  { name: 'Nellymoser', flv: [4, 5, 6] },
  { name: 'Speex', flv: [11] },
]

/** The codecs of a container by their names there. */
export function audioCodecsIn(
  container: Exclude<keyof AudioNames, 'name' | 'sampleBytes'>,
): ReadonlyMap<string | number, NamedAudio> {
  const rows: (NamedAudio & AudioNames)[] = [...SPECIAL]
  for (const [codec, names] of Object.entries(CODECS)) {
    if (isAudioCodec(codec)) rows.push({ codec, ...names })
  }
  return new Map<string | number, NamedAudio>(
    rows.flatMap((row) => (row[container] ?? []).map((key) => [key, row] as const)),
  )
}

function isAudioCodec(name: string): name is AudioCodec {
  return name in CODECS
}

/** Whether browsers play the codec in fMP4. */
export function isPlayedAudio(codec: AudioCodec): codec is PlayedAudio {
  return codec === 'aac' || codec === 'opus' || codec === 'flac'
}

/**
 * The frame with its header at `at`, for codecs whose frames describe themselves in all containers;
 * undefined for others and if there is none.
 */
export function describedFrameAt(
  codec: AudioCodec,
  bytes: Uint8Array,
  at: number,
): AudioFrame | undefined {
  if (codec === 'mp3' || codec === 'mp2') {
    const frame = mpegFrameAt(bytes, at)
    return (frame?.layer === 3) === (codec === 'mp3') ? frame : undefined
  }
  if (codec === 'ac3' || codec === 'eac3') return dolbyFrameAt(bytes, at)
  return codec === 'dts' ? dtsFrameAt(bytes, at) : undefined
}

/** What transcoding results in: AAC-LC (RFC 6381). */
export const AAC_LC = 'mp4a.40.2'
/** Rates of transcoded audio. Other audio is resampled to the first. */
const SENT_RATES: readonly number[] = [48_000, 44_100]

/** How audio is described that no browser plays in HLS: it is sent as stereo AAC-LC at most. */
export function transcodedAudio(codecName: string, transcodedFrom: AudioFormat) {
  const { channels, sampleRate } = transcodedFrom
  return {
    codec: AAC_LC,
    codecName,
    channels: Math.min(channels, 2),
    sampleRate: SENT_RATES.find((rate) => rate === sampleRate) ?? 48_000,
    transcodedFrom,
  }
}
