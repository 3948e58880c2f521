// AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1): type, channels and sample rate of AAC, and the
// esds box around it (ISO/IEC 14496-14 5.6): MPEG-4 descriptors (ISO/IEC 14496-1 7.2.6).
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'

/** AAC as browsers play it. */
export interface AudioConfig {
  /** `mp4a.40.2` and like (RFC 6381 3.3). */
  codec: string
  /** Samples per second of the decoded audio. */
  sampleRate: number
  /** Samples per second of the core, half of it with SBR. */
  coreRate: number
  /** Undefined if only a program config element defines it, which is not parsed. */
  channels: number | undefined
}

/** Samples a second by sampling_frequency_index (1.6.3.3), which ADTS uses as well. */
export const AAC_RATES: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
  7350,
]
/** By channelConfiguration (1.6.3.5). */
const CHANNELS = new Map([1, 2, 3, 4, 5, 6].map((channels) => [channels, channels]))
CHANNELS.set(7, 8).set(11, 7).set(12, 8).set(14, 8)

const MPEG4_AUDIO = 0x40
const MPEG2_AAC = new Set([0x66, 0x67, 0x68])

const LC = 2
const SBR = 5
const PS = 29
const USAC = 42
/** Audio object types that browsers decode: Main, LC, SSR, LTP, HE, HEv2, xHE. */
const PLAYED = new Set([1, LC, 3, 4, SBR, PS, USAC])

const SBR_SYNC = 0x2b7
const PS_SYNC = 0x548

/** Parses the configuration in an esds box; undefined if it is not AAC that browsers play. */
export function parseAudioConfig({ objectType, specific }: Esds): AudioConfig | undefined {
  if (objectType !== MPEG4_AUDIO && !MPEG2_AAC.has(objectType)) return undefined
  if (specific === undefined) return undefined
  const { buffer, byteOffset, byteLength } = specific
  const { bits } = createBitReader(new Uint8Array(buffer, byteOffset, byteLength))
  const signalled = readObjectType(bits)
  const coreRate = readRate(bits)
  const channels = CHANNELS.get(bits(4))
  const isExplicit = signalled === SBR || signalled === PS
  const extension = isExplicit
    ? { objectType: signalled, sampleRate: readRate(bits) }
    : findExtension(bits, { objectType: signalled, sampleRate: coreRate, channels })
  if (!PLAYED.has(extension.objectType) || coreRate === 0) return undefined
  const isMpeg4 = objectType === MPEG4_AUDIO
  return {
    codec: isMpeg4 ? `mp4a.40.${extension.objectType}` : `mp4a.${objectType.toString(16)}`,
    sampleRate: extension.sampleRate,
    coreRate,
    channels: extension.objectType === PS ? 2 : channels,
  }
}

/** As `parseAudioConfig`, for an AudioSpecificConfig of MPEG-4 on its own. */
export function parseAacConfig(specific: Uint8Array): AudioConfig | undefined {
  const view = new DataView(specific.buffer, specific.byteOffset, specific.byteLength)
  return parseAudioConfig({ objectType: MPEG4_AUDIO, specific: view })
}

interface AacFormat {
  sampleRate: number
  channels: number
  /** Audio object type. Default LC. */
  objectType?: number
  /** Signals SBR with this rate, if the rate has an index. */
  outputRate?: number
}

/** The AudioSpecificConfig of AAC; undefined if the rate has no index. */
export function audioSpecificConfig(format: AacFormat): Uint8Array | undefined {
  const { sampleRate, channels, objectType = LC, outputRate = NaN } = format
  const rate = AAC_RATES.indexOf(sampleRate)
  const output = AAC_RATES.indexOf(outputRate)
  if (rate < 0) return undefined
  const core = (rate << 4) | channels
  if (output < 0) return packBits((objectType << 11) | (core << 3), 2)
  return packBits((SBR << 19) | (core << 11) | (output << 7) | (objectType << 2), 3)
}

function packBits(value: number, bytes: number): Uint8Array {
  const packed = Buffer.alloc(bytes)
  packed.writeUIntBE(value, 0, bytes)
  return Uint8Array.from(packed)
}

type Bits = BitReader['bits']

interface Core {
  objectType: number
  sampleRate: number
  channels: number | undefined
}

/**
 * SBR and PS signalled after the configuration of the core, where old decoders ignore it (1.6.6).
 */
function findExtension(bits: Bits, core: Core): Pick<Core, 'objectType' | 'sampleRate'> {
  if (core.objectType !== LC || core.channels === undefined) return core
  bits(1)
  if (bits(1) === 1) bits(14)
  bits(1)
  if (bits(11) !== SBR_SYNC || readObjectType(bits) !== SBR || bits(1) === 0) return core
  const sampleRate = readRate(bits)
  if (sampleRate === 0) return core
  const hasPs = bits(11) === PS_SYNC && bits(1) === 1
  return { objectType: hasPs ? PS : SBR, sampleRate }
}

function readObjectType(bits: Bits): number {
  const short = bits(5)
  return short === 31 ? 32 + bits(6) : short
}

/** 0 for a reserved index. */
function readRate(bits: Bits): number {
  const index = bits(4)
  return index === 15 ? bits(24) : (AAC_RATES[index] ?? 0)
}

/** The decoder configuration of an esds box. */
export interface Esds {
  /** Object type indication: 0x40 MPEG-4 audio, 0x66 to 0x68 MPEG-2 AAC, 0x6b MP3 … */
  objectType: number
  /** AudioSpecificConfig, if present. */
  specific?: DataView
}

const ES_DESCRIPTOR = 3
const DECODER_CONFIG = 4
const DECODER_SPECIFIC = 5

interface Descriptor {
  tag: number
  content: DataView
}

/** Parses the content of an esds box; undefined if its descriptors are invalid. */
export function parseEsds(content: DataView): Esds | undefined {
  const es = content.byteLength > 4 ? descriptorAt(content, 4) : undefined
  if (es?.tag !== ES_DESCRIPTOR || es.content.byteLength < 3) return undefined
  const config = descriptorAt(es.content, optionalFieldsEnd(es.content))
  if (config?.tag !== DECODER_CONFIG || config.content.byteLength < 13) return undefined
  const objectType = config.content.getUint8(0)
  const specific = descriptorAt(config.content, 13)
  return specific?.tag === DECODER_SPECIFIC
    ? { objectType, specific: specific.content }
    : { objectType }
}

/** ES_ID and flags, then the fields that the flags announce: dependsOn_ES_ID, URL, OCR_ES_Id. */
function optionalFieldsEnd(es: DataView): number {
  const flags = es.getUint8(2)
  const urlAt = (flags & 0x80) === 0 ? 3 : 5
  const hasUrl = (flags & 0x40) !== 0 && urlAt < es.byteLength
  const behindUrl = hasUrl ? urlAt + 1 + es.getUint8(urlAt) : urlAt
  return (flags & 0x20) === 0 ? behindUrl : behindUrl + 2
}

/**
 * A descriptor at `position`, truncated at the end of `bytes`. Its size has up to four bytes of
 * seven bits.
 */
function descriptorAt(bytes: DataView, position: number): Descriptor | undefined {
  if (position >= bytes.byteLength) return undefined
  let size = 0
  for (let at = position + 1; at < Math.min(position + 5, bytes.byteLength); at += 1) {
    const byte = bytes.getUint8(at)
    size = size * 128 + (byte & 0x7f)
    if ((byte & 0x80) !== 0) continue
    const length = Math.min(size, bytes.byteLength - at - 1)
    const content = new DataView(bytes.buffer, bytes.byteOffset + at + 1, length)
    return { tag: bytes.getUint8(position), content }
  }
  return undefined
}
