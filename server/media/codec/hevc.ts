// HEVC: its names in containers, and its codec string.
import { createBitReader } from './bit-reader.ts'
import type { BitReader } from './bit-reader.ts'
import type { VideoFormat } from './video-format.ts'

export const hevc = {
  codecName: 'HEVC',
  entry: 'hvc1',
  box: 'hvcC',
  // Always `hvc1`, because Apple does not play `hev1`.
  entries: { hvc1: 'hvc1', hev1: 'hvc1' },
  matroska: ['V_MPEGH/ISO/HEVC'],
  ts: [0x24, 'HEVC'],
  // 12 is not in the specification, but was written before four-character codes existed.
  flv: [12, 'hvc1'],
  format: hevcCodec,
} satisfies VideoFormat

/** `hvc1.A1.6.L93.B0` from HEVCDecoderConfigurationRecord (ISO/IEC 14496-15 8.3.3.1, annex E.3). */
export function hevcCodec(hvcC: DataView, entryType: string): string | undefined {
  if (hvcC.byteLength < 23) return undefined
  const profile = new Uint8Array(hvcC.buffer, hvcC.byteOffset + 1, 12)
  return `${entryType}.${readHevcProfile(createBitReader(profile))}`
}

/** `A1.6.L93.B0` from the general part of profile_tier_level (ISO/IEC 23008-2 7.3.3). */
export function readHevcProfile(reader: BitReader): string {
  const space = ['', 'A', 'B', 'C'][reader.bits(2)] ?? ''
  const tier = reader.flag() ? 'H' : 'L'
  const profile = reader.bits(5)
  const compatibility = reverseBits(reader.bits(32)).toString(16)
  const constraints = Array.from({ length: 6 }, () => reader.bits(8))
  while (constraints.at(-1) === 0) constraints.pop()
  const tail = constraints.map((byte) => byte.toString(16).toUpperCase())
  return [`${space}${profile}`, compatibility, `${tier}${reader.bits(8)}`, ...tail].join('.')
}

function reverseBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit += 1) {
    if ((value & (1 << bit)) !== 0) reversed += 2 ** (31 - bit)
  }
  return reversed
}
