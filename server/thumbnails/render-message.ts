// Messages between the server and the image decoder process, and the limits of both sides.
import type { KeyFrame } from '../media/media-index.ts'
import type { ImageFormat } from './image-format.ts'

/** Larger key frames are refused before they are sent to the decoder. */
export const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024
/** The decoder refuses larger frames before it allocates them. */
export const MAX_IMAGE_PIXELS = 8192 * 8192
/** Maximum size of a thumbnail in pixels; images are scaled down, never up. */
export const MAX_THUMBNAIL_WIDTH = 640
export const MAX_THUMBNAIL_HEIGHT = 1280

/** One key frame to decode, scale and encode. */
export interface RenderJob {
  frame: KeyFrame
  format: ImageFormat
}

/** An encoded image with its brightness. */
export interface RenderedImage {
  bytes: Uint8Array
  width: number
  height: number
  /** Mean of the luma samples, 0 (black) to 255 (white). */
  meanLuma: number
  /** Standard deviation of the luma samples; 0 for a uniform colour. */
  lumaDeviation: number
  /** The decoder reported errors and concealed them. */
  hasErrors: boolean
}
