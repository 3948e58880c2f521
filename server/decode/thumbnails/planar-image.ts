// Images of planes in memory: black ones, and copies of one into another.
import { planeBytes } from './render-message.ts'
import type { PlanarImage } from './render-message.ts'

const BLACK_LUMA = 0
const GREY_CHROMA = 128

/** Both dimensions are even. */
export function createBlackImage(size: Pick<PlanarImage, 'width' | 'height'>): PlanarImage {
  const { width, height } = size
  const planes = new Uint8Array(planeBytes(size)).fill(GREY_CHROMA)
  planes.fill(BLACK_LUMA, 0, width * height)
  return { width, height, planes }
}

/** Copies an image to an even position of a larger one. */
export function copyPlanes(
  from: PlanarImage,
  to: PlanarImage,
  { x, y }: { x: number; y: number },
): void {
  let fromStart = 0
  let toStart = 0
  for (const divisor of [1, 2, 2]) {
    const width = from.width / divisor
    const height = from.height / divisor
    const stride = to.width / divisor
    for (let row = 0; row < height; row += 1) {
      const source = fromStart + row * width
      const target = toStart + (y / divisor + row) * stride + x / divisor
      to.planes.set(from.planes.subarray(source, source + width), target)
    }
    fromStart += width * height
    toStart += stride * (to.height / divisor)
  }
}
