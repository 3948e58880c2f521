// The line for a video that the browser has no decoder for.
import { translate } from '../../language/translate.ts'

/** Sample entries of ISO/IEC 14496-15 and the bindings of AV1 and VP9, without the profile. */
const NAMES: Partial<Record<string, string>> = {
  hvc1: 'HEVC',
  hev1: 'HEVC',
  av01: 'AV1',
  vp09: 'VP9',
  avc1: 'H.264',
}

/** `codec` is that of RFC 6381: `hvc1.1.6.L93.B0`. */
export function describeMissingCodec(codec: string): string {
  const name = NAMES[codec.slice(0, 4)] ?? codec
  return translate('This browser cannot play {name} ({codec}).', { name, codec })
}
