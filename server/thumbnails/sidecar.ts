// Images that an operator put beside the recordings: which file it is, and what may be served of it.
import { sniffImageType } from './image-format.ts'
import type { ImageType } from './image-format.ts'

/** A sidecar that is larger is not served; a made picture is. */
export const MAX_SIDECAR_BYTES = 10 * 1024 * 1024

const EXTENSIONS = ['jpg', 'jpeg', 'png', 'webp', 'avif']

/** An image file in the library, for the caller's storage to read. */
export interface Sidecar {
  sizeBytes: number
  /** Reads the whole file; asked only where `sizeBytes` is within the bound. */
  read(): Promise<Uint8Array>
}

/**
 * The name of the image that belongs to `base`: `1001.jpg` among the names of its folder for a recording `1001`, `avatar.*` for
 * a streamer. Names are compared in NFC, extensions without case; of several, the first in the order jpg, jpeg, png, webp, avif.
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

/** The sidecar's bytes with the type that they really have; undefined where it is too large or no image. */
export async function readSidecar(
  sidecar: Sidecar,
): Promise<{ bytes: Uint8Array; contentType: ImageType } | undefined> {
  if (sidecar.sizeBytes > MAX_SIDECAR_BYTES) return undefined
  const bytes = await sidecar.read()
  const contentType = sniffImageType(bytes)
  if (contentType === undefined || bytes.length > MAX_SIDECAR_BYTES) return undefined
  return { bytes, contentType }
}
