// Computes the size of a scaled image: within bounds, with the aspect ratio of the image, even in
// both dimensions.

/** Shape of a decoded image. */
export interface ImageShape {
  width: number
  height: number
  /** Sample aspect ratio (width over height of a pixel); 1 if unknown. */
  pixelAspect: number
  /** Clockwise rotation that shows the image upright. */
  rotationDegrees: 0 | 90 | 180 | 270
}

/** Largest size of an image after its rotation; images are scaled down, never up. */
export interface ImageBounds {
  width: number
  height: number
}

const MAX_PIXEL_ASPECT = 8

/** Size in pixels BEFORE rotation; even, for 4:2:0 chroma, and at least 2. */
export function fitImage(
  shape: ImageShape,
  bounds: ImageBounds,
): { width: number; height: number } {
  const aspect = plausibleAspect(shape.pixelAspect)
  const turned = shape.rotationDegrees === 90 || shape.rotationDegrees === 270
  const maxWidth = turned ? bounds.height : bounds.width
  const maxHeight = turned ? bounds.width : bounds.height
  const displayWidth = shape.width * aspect
  const scale = Math.min(1, maxWidth / displayWidth, maxHeight / shape.height)
  return {
    width: evenSize(displayWidth * scale, displayWidth),
    height: evenSize(shape.height * scale, shape.height),
  }
}

/** Anamorphic recordings have an aspect near 1; anything far from it is a corrupt header. */
function plausibleAspect(aspect: number): number {
  return aspect >= 1 / MAX_PIXEL_ASPECT && aspect <= MAX_PIXEL_ASPECT ? aspect : 1
}

/** The nearest even number that does not exceed the source size. */
function evenSize(size: number, sourceSize: number): number {
  return Math.max(2, Math.min(Math.round(size / 2) * 2, Math.floor(sourceSize / 2) * 2))
}
