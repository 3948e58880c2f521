// H.264: its names in containers, and its codec string.
import type { VideoFormat } from './video-format.ts'

export const h264 = {
  codecName: 'H.264',
  entry: 'avc1',
  box: 'avcC',
  // `avc3` stays, as its parameter sets are in the samples.
  entries: { avc1: 'avc1', avc3: 'avc3' },
  matroska: ['V_MPEG4/ISO/AVC'],
  ts: [0x1b],
  flv: [7, 'avc1'],
  format: avcCodec,
} satisfies VideoFormat

/** `avc1.PPCCLL` from AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1). */
export function avcCodec(avcC: DataView, entryType: string): string | undefined {
  if (avcC.byteLength < 7) return undefined
  return `${entryType}.${Buffer.from(avcC.buffer, avcC.byteOffset + 1, 3).toString('hex')}`
}
