// How large a thumbnail becomes: the picture's shape kept, within the card's size, even in both directions.
import { MAX_THUMBNAIL_HEIGHT, MAX_THUMBNAIL_WIDTH } from './render-message.ts'

/** A decoded picture's shape. */
export interface ImageShape {
  width: number
  height: number
  /** Width of one pixel over its height (sample aspect ratio); 1 where unknown. */
  pixelAspect: number
  /** Clockwise turn that shows the picture upright. */
  rotationDegrees: 0 | 90 | 180 | 270
}

const MAX_PIXEL_ASPECT = 8

/** Size in pixels to scale to BEFORE the picture is turned upright; even (4:2:0 chroma) and at least 2. */
export function fitImage(shape: ImageShape): { width: number; height: number } {
  const aspect = plausibleAspect(shape.pixelAspect)
  const turned = shape.rotationDegrees === 90 || shape.rotationDegrees === 270
  const maxWidth = turned ? MAX_THUMBNAIL_HEIGHT : MAX_THUMBNAIL_WIDTH
  const maxHeight = turned ? MAX_THUMBNAIL_WIDTH : MAX_THUMBNAIL_HEIGHT
  const shownWidth = shape.width * aspect
  const scale = Math.min(1, maxWidth / shownWidth, maxHeight / shape.height)
  return {
    width: evenSize(shownWidth * scale, shownWidth),
    height: evenSize(shape.height * scale, shape.height),
  }
}

/** Squeezed recordings have an aspect near 1; anything far from it is a broken header. */
function plausibleAspect(aspect: number): number {
  return aspect >= 1 / MAX_PIXEL_ASPECT && aspect <= MAX_PIXEL_ASPECT ? aspect : 1
}

/** The nearest even number that is not above the source's size. */
function evenSize(size: number, sourceSize: number): number {
  return Math.max(2, Math.min(Math.round(size / 2) * 2, Math.floor(sourceSize / 2) * 2))
}
