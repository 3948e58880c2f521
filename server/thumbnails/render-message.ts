// What crosses the border between the server and the decoder's process, and the limits that both sides keep.
import type { KeyFrame } from '../media/media-index.ts'
import type { ImageFormat } from './image-format.ts'

/** A compressed picture that is larger is refused before it is sent to the decoder. */
export const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024
/** Pictures with more pixels are refused by the decoder before it allocates them. */
export const MAX_IMAGE_PIXELS = 8192 * 8192
/** Size of a made thumbnail, in pixels; pictures are made smaller to fit, never larger. */
export const MAX_THUMBNAIL_WIDTH = 640
export const MAX_THUMBNAIL_HEIGHT = 1280

/** One picture to decode, make small and encode. */
export interface RenderJob {
  frame: KeyFrame
  format: ImageFormat
}

/** An encoded picture and what can be said about its light. */
export interface RenderedImage {
  bytes: Uint8Array
  width: number
  height: number
  /** Mean of the luma samples, 0 (black) to 255 (white). */
  meanLuma: number
  /** Standard deviation of the luma samples; 0 for one flat colour. */
  lumaDeviation: number
  /** The decoder met errors and filled holes in the picture. */
  damaged: boolean
}
