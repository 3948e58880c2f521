// Sidecar images, which operators put next to recordings: which file applies, and what is served of
// it.
import { sniffImageType } from './image-format.ts'
import type { Image } from './thumbnail.ts'

/** A larger sidecar is ignored in favour of a rendered image. */
export const MAX_SIDECAR_BYTES = 10 * 1024 * 1024

const EXTENSIONS = ['jpg', 'jpeg', 'png', 'webp', 'avif']

/** An image file in the library, read through the caller's storage. */
export interface Sidecar {
  /** Identifies this version of the file. */
  key: string
  sizeBytes: number
  /** Reads the file, or its start; called only if `sizeBytes` is within the limit. */
  read(maxBytes?: number): Promise<Uint8Array>
}

/**
 * The name of the image for `base` in a folder: `1001.jpg` for the recording `1001`, `avatar.*` for
 * a streamer. Names are compared in NFC, extensions without case; the order of preference is jpg,
 * jpeg, png, webp, avif.
 */
export function findSidecar(names: readonly string[], base: string): string | undefined {
  const wanted = base.normalize('NFC')
  const spellings = new Map<string, string>()
  for (const name of names) {
    const dot = name.lastIndexOf('.')
    if (dot > 0 && name.slice(0, dot).normalize('NFC') === wanted) {
      spellings.set(name.slice(dot + 1).toLowerCase(), name)
    }
  }
  const extension = EXTENSIONS.find((candidate) => spellings.has(candidate))
  return extension === undefined ? undefined : spellings.get(extension)
}

/**
 * The bytes of the sidecar with their detected type; undefined if it is too large or not an image.
 */
export async function readSidecar(sidecar: Sidecar): Promise<Image | undefined> {
  if (sidecar.sizeBytes > MAX_SIDECAR_BYTES) return undefined
  const bytes = await sidecar.read()
  const contentType = sniffImageType(bytes)
  if (contentType === undefined || bytes.length > MAX_SIDECAR_BYTES) return undefined
  return { bytes, contentType }
}
