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

/** An image, ready to be sent. The caller releases it. */
export interface Thumbnail extends Image {
  /** Changes with the bytes; used as an ETag. */
  version: string
  /** Call when nothing sends the bytes any more. */
  release: (this: void) => void
}

/** Changes with the bytes. */
export function imageVersion(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
}
