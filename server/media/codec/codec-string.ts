// Codec strings (RFC 6381) from configuration boxes; undefined if a record is too short.

/** `avc1.PPCCLL` from AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1). */
export function avcCodec(avcC: DataView, entryType: string): string | undefined {
  if (avcC.byteLength < 7) return undefined
  return `${entryType}.${[1, 2, 3].map((at) => hex(avcC.getUint8(at), 2)).join('')}`
}

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

/** `av01.P.LLT.DD` from AV1CodecConfigurationRecord (AV1 in ISOBMFF 2.3.3, string: 5). */
export function av1Codec(av1C: DataView): string | undefined {
  if (av1C.byteLength < 4) return undefined
  const profile = av1C.getUint8(1) >> 5
  const level = String(av1C.getUint8(1) & 0x1f).padStart(2, '0')
  const flags = av1C.getUint8(2)
  const tier = (flags & 0x80) === 0 ? 'M' : 'H'
  const deepBits = (flags & 0x20) === 0 ? '10' : '12'
  const bits = (flags & 0x40) === 0 ? '08' : deepBits
  return `av01.${profile}.${level}${tier}.${bits}`
}

/** `vp09.PP.LL.DD` from VPCodecConfigurationRecord, a full box (VP Codec ISO Media File Format). */
export function vp9Codec(vpcC: DataView): string | undefined {
  if (vpcC.byteLength < 7) return undefined
  const fields = [vpcC.getUint8(4), vpcC.getUint8(5), vpcC.getUint8(6) >> 4]
  return ['vp09', ...fields.map((field) => String(field).padStart(2, '0'))].join('.')
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function reverseBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit += 1) {
    if ((value & (1 << bit)) !== 0) reversed += 2 ** (31 - bit)
  }
  return reversed
}
