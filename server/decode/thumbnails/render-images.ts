// Decodes one key frame to a thumbnail, or to a tile of a storyboard, and encodes sheets of tiles.
// Runs only in the child process.
import { AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG } from 'node-av/constants'
import type { Frame } from 'node-av/lib'
import { copiedFrame } from '../child/copied-frame.ts'
import { decodeKeyFrame } from './decode-key-frame.ts'
import { encodeImage, rangeOf } from './encode-image.ts'
import { copyPlanes, createBlackImage } from './planar-image.ts'
import { THUMBNAIL_BOUNDS } from './render-message.ts'
import type { PlanarImage, RenderedImage, RenderJob, TileJob } from './render-message.ts'
import { scaleUpright } from './scale-image.ts'

/** What a loop filter changes is invisible in a tile. */
const FAST_DECODING = { skip_loop_filter: 'all' }
/** Of most JPEGs; the next ones only for a sheet that would be too large. */
const QUANTISERS = [5, 10, 20]
const COARSEST_QUANTISER = 31
/** A usual sheet has a third of this. */
const MAX_USUAL_SHEET_BYTES = 256 * 1024

/** The planes of the frame, centred in a black tile. Throws if the bytes cannot be decoded. */
export function renderTile({ frame, width, height }: TileJob): Uint8Array {
  using image = decodeKeyFrame(frame, FAST_DECODING)
  using scaled = scaleUpright(image, {
    rotationDegrees: frame.rotationDegrees,
    range: 'full',
    bounds: { width, height },
    scaler: 'area',
  })
  const tile = createBlackImage({ width, height })
  // toBuffer returns the planes without padding.
  const content = { width: scaled.width, height: scaled.height, planes: scaled.toBuffer() }
  copyPlanes(content, tile, {
    x: centred(width, scaled.width),
    y: centred(height, scaled.height),
  })
  return tile.planes
}

/** An even margin, for 4:2:0 chroma. */
function centred(outer: number, inner: number): number {
  return 2 * Math.floor((outer - inner) / 4)
}

/** The JPEG of a sheet, coarser if it would be very large. */
export function encodeSheet({ width, height, planes }: PlanarImage): Uint8Array {
  using image = copiedFrame(planes, { width, height, format: AV_PIX_FMT_YUVJ420P })
  image.colorRange = AVCOL_RANGE_JPEG
  for (const quantiser of QUANTISERS) {
    const bytes = encodeImage(image, 'jpeg', quantiser)
    if (bytes.length <= MAX_USUAL_SHEET_BYTES) return bytes
  }
  return encodeImage(image, 'jpeg', COARSEST_QUANTISER)
}

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
