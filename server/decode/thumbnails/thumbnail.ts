// A thumbnail as requests get it.
import { createHash } from 'node:crypto'
import type { ImageFormat, ImageType } from './image-format.ts'

/** Which image a request needs. */
export interface ThumbnailRequest {
  format: ImageFormat
  /** Aborted when the request is abandoned. */
  signal: AbortSignal
}

/** An image with its type. */
export interface Image {
  bytes: Uint8Array
  contentType: ImageType
}

/** An image, ready to be sent. */
export interface Thumbnail extends Image {
  /** Changes with the bytes; used as an ETag. */
  version: string
}

export function toThumbnail(image: Image): Thumbnail {
  const version = createHash('sha256').update(image.bytes).digest('base64url').slice(0, 22)
  return { ...image, version }
}
