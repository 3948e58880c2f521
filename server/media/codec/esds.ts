// The esds box (ISO/IEC 14496-14 5.6): MPEG-4 descriptors (ISO/IEC 14496-1 7.2.6).

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
