// The image formats of thumbnails: negotiation by Accept header, and detection by first bytes.

/** Rendered formats, in order of preference. */
const IMAGE_FORMATS = ['avif', 'webp', 'jpeg'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

/** Media types that are served; PNG occurs only as a sidecar. */
export type ImageType = `image/${ImageFormat}` | 'image/png'

const MAX_ACCEPT_LENGTH = 1024

/**
 * The format for an Accept header (RFC 9110 12.5.1). A format other than JPEG must be named; a
 * wildcard, or no header, means JPEG. The highest quality value wins, then AVIF before WebP before
 * JPEG.
 */
export function chooseImageFormat(accept: string | undefined): ImageFormat {
  const qualities = parseAccept(accept ?? '')
  const wildcard = qualities.get('image/*') ?? qualities.get('*/*') ?? 0
  let best: ImageFormat = 'jpeg'
  let bestQuality = 0
  for (const format of IMAGE_FORMATS) {
    const quality = qualities.get(`image/${format}`) ?? (format === 'jpeg' ? wildcard : 0)
    if (quality > bestQuality) [best, bestQuality] = [format, quality]
  }
  return best
}

/** Quality value (0 to 1) of each media range; malformed ones are ignored. */
function parseAccept(accept: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const item of accept.slice(0, MAX_ACCEPT_LENGTH).split(',')) {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = weight === undefined ? 1 : Number(weight.slice(2) || Number.NaN)
    if (quality >= 0 && quality <= 1) qualities.set(range, quality)
  }
  return qualities
}

/**
 * Detects the type of an image; undefined for unsupported ones (SVG is refused because it can
 * contain scripts).
 */
export function sniffImageType(bytes: Uint8Array): ImageType | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 32)).toString(
    'latin1',
  )
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp'
  // AVIF (ISO/IEC 23000-22): the major brand, or one of the first compatible ones.
  if (head.slice(4, 8) === 'ftyp' && /^avi[fs]|^mi[fa]1.*avi[fs]/s.test(head.slice(8))) {
    return 'image/avif'
  }
  return undefined
}
