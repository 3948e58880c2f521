// AudioSpecificConfig for AAC tracks of old Matroska files, whose codec's name says what today its set-up does.
import type { TrackEntry } from './track-entry.ts'

const RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
  7350,
]
const OBJECT_TYPES = new Map<string, number>([
  ['MAIN', 1],
  ['LC', 2],
  ['SSR', 3],
  ['LTP', 4],
])
const LC = 2
const SBR = 5

/** The set-up (ISO/IEC 14496-3 1.6.2.1) that `A_AAC/MPEG4/LC/SBR` and the like stand for; undefined where the rate is none of AAC's. */
export function aacConfig({ codec, audio }: TrackEntry): Uint8Array | undefined {
  const [, , profile = 'LC', extension] = codec.split('/')
  const isSbr = extension === 'SBR'
  const rate = RATES.indexOf(audio.sampleRate)
  const outputRate = RATES.indexOf(audio.outputRate || audio.sampleRate * 2)
  if (rate < 0 || audio.channels > 7 || audio.channels < 1) return undefined
  const objectType = OBJECT_TYPES.get(profile) ?? LC
  if (!isSbr || outputRate < 0) return packed([objectType, 5], [rate, 4], [audio.channels, 4])
  return packed([SBR, 5], [rate, 4], [audio.channels, 4], [outputRate, 4], [objectType, 5])
}

/** Bits, most significant first, filled up with zeros to whole bytes. */
function packed(...fields: [value: number, bits: number][]): Uint8Array {
  const text = fields.map(([value, bits]) => value.toString(2).padStart(bits, '0')).join('')
  const bytes = text.match(/.{1,8}/g) ?? []
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte.padEnd(8, '0'), 2))
}
