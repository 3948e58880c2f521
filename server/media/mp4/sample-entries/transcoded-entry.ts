// Sample entries of audio that no browser plays in fMP4 and that is transcoded.
import {
  AUDIO_CODECS,
  audioCodecsIn,
  isPlayedAudio,
  transcodedAudio,
} from '../../codec/audio-codecs.ts'
import type { AudioFormat, TranscodedCodec } from '../../codec/audio-codecs.ts'
import { DOLBY_CHANNELS, DOLBY_RATES } from '../../codec/dolby-frame.ts'
import type { AudioTrack } from '../../media-index.ts'

/** Fields of an audio sample entry. */
export interface AudioFields {
  channels: number
  bits: number
  sampleRate: number
  /** formatSpecificFlags of QuickTime's version 2. */
  flags?: number
  /** Contents of the child boxes, by type. */
  contents: ReadonlyMap<string, DataView>
}

/** Audio that is sent as AAC. */
export interface TranscodedAudio extends Omit<AudioTrack, 'kind' | 'language' | 'name'> {
  transcodedFrom: AudioFormat
  /** For PCM: bytes of one sample of all channels. */
  pcmFrameBytes?: number
}

const CODECS = audioCodecsIn('mp4')
const MAX_CHANNELS = 16
const MAX_SAMPLE_RATE = 192_000

/**
 * Describes an audio sample entry to be transcoded. `type` is its box type, followed by the object
 * type of its esds, if any (`mp4a.6b`). Undefined if it is not transcoded or its numbers are
 * implausible.
 */
export function parseTranscodedEntry(
  type: string,
  readFields: () => AudioFields,
): TranscodedAudio | undefined {
  const compressed = CODECS.get(type)
  const pcm = PCM_FORMATS.get(type)
  if (compressed === undefined && pcm === undefined) return undefined
  const fields = readFields()
  const codec = compressed?.codec ?? pcm?.(fields)
  if (codec === undefined || isPlayedAudio(codec)) return undefined
  const { channels, sampleRate } = codec === 'ac3' || codec === 'eac3' ? dolby(fields) : fields
  const isPlausible = channels >= 1 && channels <= MAX_CHANNELS && sampleRate >= 1
  if (!isPlausible || sampleRate > MAX_SAMPLE_RATE) return undefined
  const { sampleBytes } = AUDIO_CODECS[codec]
  const format = { codec, channels, sampleRate: Math.round(sampleRate) }
  return {
    ...transcodedAudio(compressed?.name ?? 'PCM', format),
    ...(sampleBytes !== undefined && { pcmFrameBytes: sampleBytes * channels }),
  }
}

type Endian = 'le' | 'be'

function signed(bits: number, endian: Endian): TranscodedCodec | undefined {
  if (bits === 16) return `pcm_s16${endian}`
  return bits === 24 ? `pcm_s24${endian}` : undefined
}

/** PCM formats (QuickTime File Format, audio codecs; ISO/IEC 23003-5 for `ipcm`). */
const PCM_FORMATS = new Map<string, (fields: AudioFields) => TranscodedCodec | undefined>([
  ['alaw', () => 'pcm_alaw'],
  ['ulaw', () => 'pcm_mulaw'],
  ['sowt', ({ bits }) => signed(bits, 'le')],
  ['twos', ({ bits }) => signed(bits, 'be')],
  ['in24', ({ contents }) => signed(24, waveEndian(contents))],
  ['raw ', ({ bits }) => (bits === 8 ? 'pcm_u8' : signed(bits, 'be'))],
  ['lpcm', linearPcm],
  ['ipcm', isoPcm],
])

/** kAudioFormatFlagIsFloat, IsBigEndian, IsSignedInteger. */
function linearPcm({ bits, flags = 0 }: AudioFields): TranscodedCodec | undefined {
  if ((flags & 1) !== 0) return undefined
  if (bits === 8 && (flags & 4) === 0) return 'pcm_u8'
  return (flags & 4) === 0 ? undefined : signed(bits, (flags & 2) === 0 ? 'le' : 'be')
}

/** pcmC: version and flags, format flags (1: little-endian), sample size in bits. */
function isoPcm({ contents }: AudioFields): TranscodedCodec | undefined {
  const pcmC = contents.get('pcmC')
  if (pcmC === undefined || pcmC.byteLength < 6) return undefined
  return signed(pcmC.getUint8(5), (pcmC.getUint8(4) & 1) === 1 ? 'le' : 'be')
}

/** QuickTime's `wave` box may contain an `enda` box that sets the byte order. */
function waveEndian(contents: ReadonlyMap<string, DataView>): Endian {
  const wave = contents.get('wave')
  for (let at = 0; wave !== undefined && at + 10 <= wave.byteLength;) {
    if (wave.getUint32(at + 4) === ENDA) return wave.getUint16(at + 8) === 1 ? 'le' : 'be'
    at += Math.max(wave.getUint32(at), 8)
  }
  return 'be'
}

const ENDA = 0x65_6e_64_61

/**
 * Prefers dac3 and dec3 (ETSI TS 102 366 annex F), which are more reliable than the entry's fields.
 */
function dolby({ contents, ...fields }: AudioFields): Pick<AudioFields, 'channels' | 'sampleRate'> {
  const dac3 = contents.get('dac3')
  const dec3 = contents.get('dec3')
  const bits = firstBits(dac3, 0) ?? firstBits(dec3, 16)
  if (bits === undefined) return fields
  const sampleRate = DOLBY_RATES[bits >>> 22] ?? fields.sampleRate
  // dac3: fscod 2, bsid 5, bsmod 3, acmod 3, lfeon 1; dec3 has a reserved bit and asvc before
  // bsmod.
  const acmodBit = dac3 === undefined ? 24 - 15 : 24 - 13
  const channels = DOLBY_CHANNELS[(bits >>> acmodBit) & 7] ?? 2
  return { sampleRate, channels: channels + ((bits >>> (acmodBit - 1)) & 1) }
}

/** 24 bits from a byte-aligned bit position; undefined beyond the end. */
function firstBits(view: DataView | undefined, position: number): number | undefined {
  const at = position / 8
  if (view === undefined || view.byteLength < at + 3) return undefined
  return view.getUint16(at) * 256 + view.getUint8(at + 2)
}
