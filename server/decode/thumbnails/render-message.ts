// Messages between the server and the image decoder process, and the limits of both sides.
import type { KeyFrame } from '../../media/media-index.ts'
import type { ImageBounds } from './fit-image.ts'
import type { ImageFormat } from './image-format.ts'

/** Larger key frames are refused before they are sent to the decoder. */
export const MAX_KEY_FRAME_BYTES = 16 * 1024 * 1024
/** The decoder refuses larger frames before it allocates them. */
export const MAX_IMAGE_PIXELS = 8192 * 8192
/** A JPEG of a sheet with the most pixels has less, however incompressible. */
export const MAX_ENCODED_BYTES = 2 * 1024 * 1024
/** Largest size of a thumbnail in pixels. */
export const THUMBNAIL_BOUNDS: ImageBounds = { width: 640, height: 1280 }

/** Pixels of an emote: those of Twitch and others have at most 128 by 512. */
export const MAX_EMOTE_PIXELS = 1024 * 1024
/** Of a picture in a sprite, which is shown with half of it. */
export const EMOTE_HEIGHT = 56
export const MAX_EMOTE_WIDTH = 4 * EMOTE_HEIGHT
export const BYTES_PER_PIXEL = 4

/**
 * A job of the child: an image to encode, a tile of a sheet, a sheet of tiles, a picture of a
 * sprite, or a sprite of pictures.
 */
export type DecoderJob =
  | ({ kind: 'image' } & RenderJob)
  | ({ kind: 'tile' } & TileJob)
  | ({ kind: 'sheet' } & PlanarImage)
  | ({ kind: 'emote' } & EmoteImage)
  | ({ kind: 'sprite' } & SpriteImage)

/** One key frame to decode, scale and encode. */
export interface RenderJob {
  frame: KeyFrame
  format: ImageFormat
}

/** One key frame to decode, and to fit into a tile of this size. Both dimensions are even. */
export interface TileJob {
  frame: KeyFrame
  width: number
  height: number
}

/** An image of even dimensions, 8-bit 4:2:0, full range, BT.601. */
export interface PlanarImage {
  width: number
  height: number
  /** Luma, then both planes of chroma, without padding. */
  planes: Uint8Array
}

/** A PNG, GIF or WebP, maybe animated; or any other bytes. */
export interface EmoteImage {
  data: Uint8Array
}

/** A picture of EMOTE_HEIGHT: BGRA, without padding. */
export interface EmotePicture {
  width: number
  pixels: Uint8Array
}

/** Pictures, and where they are. */
export interface SpriteImage {
  width: number
  height: number
  pictures: readonly (EmotePicture & { x: number; y: number })[]
}

/** Size of the planes of an image. */
export function planeBytes({ width, height }: Pick<PlanarImage, 'width' | 'height'>): number {
  return (width * height * 3) / 2
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
