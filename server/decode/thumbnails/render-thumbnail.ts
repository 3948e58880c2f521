// Decodes one key frame, and encodes it scaled and upright. Runs only in the child process.
import { AVCOL_RANGE_JPEG } from 'node-av/constants'
import type { Frame } from 'node-av/lib'
import { decodeKeyFrame } from './decode-key-frame.ts'
import { encodeImage, rangeOf } from './encode-image.ts'
import { THUMBNAIL_BOUNDS } from './render-message.ts'
import type { RenderedImage, RenderJob } from './render-message.ts'
import { scaleUpright } from './scale-image.ts'

/** Decodes and encodes one image. Throws if the bytes cannot be decoded. */
export function renderThumbnail(job: RenderJob): RenderedImage {
  using image = decodeKeyFrame(job.frame)
  using scaled = scaleUpright(image, {
    rotationDegrees: job.frame.rotationDegrees,
    range: rangeOf(job.format),
    bounds: THUMBNAIL_BOUNDS,
    scaler: 'bicubic',
  })
  return {
    bytes: encodeImage(scaled, job.format),
    width: scaled.width,
    height: scaled.height,
    ...measureLuma(scaled),
    hasErrors: image.decodeErrorFlags !== 0,
  }
}

/** Mean and deviation of the luma plane, scaled to 0 to 255 for either range. */
function measureLuma(image: Frame): { meanLuma: number; lumaDeviation: number } {
  const [plane] = image.data ?? []
  const [stride = 0] = image.linesize
  if (plane === undefined) throw new Error('the image has no samples')
  // Each of these is a call into the binding, too slow for the inner loop.
  const { width, height } = image
  let sum = 0
  let squares = 0
  for (let y = 0; y < height; y++) {
    for (let x = y * stride; x < y * stride + width; x++) {
      const luma = plane[x] ?? 0
      sum += luma
      squares += luma * luma
    }
  }
  const count = width * height
  const mean = sum / count
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean))
  if (image.colorRange === AVCOL_RANGE_JPEG) return { meanLuma: mean, lumaDeviation: deviation }
  const stretch = 255 / (235 - 16)
  return { meanLuma: Math.max(0, (mean - 16) * stretch), lumaDeviation: deviation * stretch }
}
