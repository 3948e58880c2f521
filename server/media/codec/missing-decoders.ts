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

/**
 * The decoders that a video needs and many browsers lack: HEVC plays only with the hardware for it,
 * and not in Firefox on Linux; AV1 not on older phones and in Safari on older machines.
 *
 * @param codec RFC 6381
 */
export function missingDecoders(codec: string): MissingDecoder[] {
  const [entry = '', profile = '', , depth] = codec.split('.')
  switch (entry) {
    case 'hvc1':
    case 'hev1':
      // Main 10 (ISO/IEC 14496-15 E.3).
      return profile === '2' ? ['HEVC', '10 bit'] : ['HEVC']
    case 'av01':
      return depth === '08' ? ['AV1'] : ['AV1', '10 bit']
    case 'vp09':
      return VP9_PROFILES[profile] ?? []
    default:
      return H264_PROFILES[profile.slice(0, 2).toLowerCase()] ?? []
  }
}
