// HEVC: its names in containers, and its codec string.
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
  const profileByte = hvcC.getUint8(1)
  const space = ['', 'A', 'B', 'C'][profileByte >> 6] ?? ''
  const profile = `${space}${profileByte & 0x1f}`
  const compatibility = reverseBits(hvcC.getUint32(2)).toString(16)
  const tier = (profileByte & 0x20) === 0 ? 'L' : 'H'
  const constraints = [6, 7, 8, 9, 10, 11].map((at) => hvcC.getUint8(at))
  while (constraints.at(-1) === 0) constraints.pop()
  const level = `${tier}${hvcC.getUint8(12)}`
  const tail = constraints.map((byte) => byte.toString(16).toUpperCase())
  return [entryType, profile, compatibility, level, ...tail].join('.')
}

function reverseBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit += 1) {
    if ((value & (1 << bit)) !== 0) reversed += 2 ** (31 - bit)
  }
  return reversed
}
