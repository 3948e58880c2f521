// The size of a sidecar image, from the start of its file.
import { sniffImageType } from './image-format.ts'
import { MAX_SIDECAR_BYTES } from './sidecar.ts'
import type { Sidecar } from './sidecar.ts'

/** In pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** More than the metadata before the size takes in most files. */
const START_BYTES = 128 * 1024
/** Of AVIF, whose boxes are parsed in quadratic time. */
const AVIF_START_BYTES = 16 * 1024

/** Undefined for a file that is not served, or whose start does not have the size. */
export async function sidecarSize(sidecar: Sidecar): Promise<ImageSize | undefined> {
  if (sidecar.sizeBytes > MAX_SIDECAR_BYTES) return undefined
  const start = await sidecar.read(START_BYTES)
  const type = sniffImageType(start)
  if (type === undefined) return undefined
  try {
    const parsed = type === 'image/avif' ? start.subarray(0, AVIF_START_BYTES) : start
    // Not before it is needed: it is a module per format.
    const { imageSize } = await import('image-size')
    const { width, height, orientation = 1 } = imageSize(parsed)
    // Exif 4.6.5.1.6: from 5 on, rows are columns.
    return orientation >= 5 ? { width: height, height: width } : { width, height }
  } catch {
    return undefined
  }
}
