// AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1): which AAC it is, how many channels, how many samples a second.
import type { Esds } from './esds.ts'

/** AAC as browsers play it. */
export interface AudioConfig {
  /** `mp4a.40.2` and like (RFC 6381 3.3). */
  codec: string
  /** Samples per second of the decoded sound. */
  sampleRate: number
  /** Samples per second of the core, half of it where the band is replicated (SBR). */
  coreRate: number
  /** Undefined where a program config element says it, which is not parsed. */
  channels: number | undefined
}

const RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
  7350,
]
const CHANNELS = [
  undefined,
  1,
  2,
  3,
  4,
  5,
  6,
  8,
  undefined,
  undefined,
  undefined,
  7,
  8,
  undefined,
  8,
]

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

/** Reads what an esds box says of AAC; undefined where it is no AAC that browsers play. */
export function parseAudioConfig({ objectType, specific }: Esds): AudioConfig | undefined {
  if (objectType !== MPEG4_AUDIO && !MPEG2_AAC.has(objectType)) return undefined
  if (specific === undefined) return undefined
  const bits = bitReader(specific)
  const signalled = readObjectType(bits)
  const coreRate = readRate(bits)
  const channels = CHANNELS[bits(4)]
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

/** The set-up of AAC-LC without extensions, two bytes; undefined where the rate has no index. */
export function audioSpecificConfig({
  sampleRate,
  channels,
}: {
  sampleRate: number
  channels: 1 | 2
}): Uint8Array | undefined {
  const rate = RATES.indexOf(sampleRate)
  if (rate < 0) return undefined
  return Uint8Array.of((LC << 3) | (rate >> 1), ((rate & 1) << 7) | (channels << 3))
}

interface Core {
  objectType: number
  sampleRate: number
  channels: number | undefined
}

/** SBR and PS signalled behind the core's set-up, which old decoders do not see (1.6.6). */
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

type Bits = (count: number) => number

/** Reads up to 24 bits at a time, most significant first; zeros behind the end. */
function bitReader(bytes: DataView): Bits {
  let position = 0
  return (count) => {
    let value = 0
    for (let read = 0; read < count; read += 1, position += 1) {
      const at = position >> 3
      const byte = at < bytes.byteLength ? bytes.getUint8(at) : 0
      value = value * 2 + ((byte >> (7 - (position & 7))) & 1)
    }
    return value
  }
}

function readObjectType(bits: Bits): number {
  const short = bits(5)
  return short === 31 ? 32 + bits(6) : short
}

/** 0 where the index is reserved. */
function readRate(bits: Bits): number {
  const index = bits(4)
  return index === 15 ? bits(24) : (RATES[index] ?? 0)
}
