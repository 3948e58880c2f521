// Which formats of video browsers often lack a decoder for.

/** By their name in reports. */
export type MissingDecoder = 'HEVC' | 'AV1' | '10 bit' | '4:2:2' | '4:4:4'

/** Chroma and depth of the H.264 profiles that browsers rarely decode (ITU-T H.264 A.2). */
const H264_PROFILES: Partial<Record<string, MissingDecoder[]>> = {
  '6e': ['10 bit'],
  '7a': ['10 bit', '4:2:2'],
  f4: ['4:4:4'],
}
/** VP9 profiles (VP Codec ISO Media File Format Binding): 1 and 3 have other chroma than 4:2:0. */
const VP9_PROFILES: Partial<Record<string, MissingDecoder[]>> = {
  '01': ['4:4:4'],
  '02': ['10 bit'],
  '03': ['10 bit', '4:4:4'],
}

const TEN_BIT = ['10 bit'] as const
/** AV1 profiles (AV1 5.5.2): the last one also has 12 bits. */
const AV1_PROFILES: Partial<Record<string, MissingDecoder[]>> = { '1': ['4:4:4'], '2': ['4:2:2'] }

/**
 * The decoders that a video needs and many browsers lack: HEVC plays only with the hardware for it,
 * and not in Firefox on Linux; AV1 not on older phones and in Safari on older machines.
 *
 * @param codec RFC 6381
 */
export function missingDecoders(codec: string): MissingDecoder[] {
  const [entry = '', profile = '', , depth, ...more] = codec.split('.')
  switch (entry) {
    case 'hvc1':
    case 'hev1':
      // Main 10, and the range extensions (ISO/IEC 14496-15 E.3).
      if (profile === '2') return ['HEVC', '10 bit']
      return profile === '4' ? ['HEVC', ...extendedFormat([depth, ...more])] : ['HEVC']
    case 'av01':
      return ['AV1', ...(depth === '08' ? [] : TEN_BIT), ...(AV1_PROFILES[profile] ?? [])]
    case 'vp09':
      return VP9_PROFILES[profile] ?? []
    default:
      return H264_PROFILES[profile.slice(0, 2).toLowerCase()] ?? []
  }
}

/** Bits of the second and third byte of the constraint flags (ITU-T H.265 A.3.5). */
const MAX_8_BIT = 0x02
const MAX_422 = 0x01
const MAX_420 = 0x80

/** What a video in HEVC's range extensions may contain, by its constraint flags in hex. */
function extendedFormat(flags: readonly (string | undefined)[]): MissingDecoder[] {
  const [, second = 0, third = 0] = flags.map((text = '') => parseInt(text, 16) || 0)
  const depth = (second & MAX_8_BIT) === 0 ? TEN_BIT : []
  if ((third & MAX_420) !== 0) return [...depth]
  return [...depth, (second & MAX_422) === 0 ? '4:4:4' : '4:2:2']
}
