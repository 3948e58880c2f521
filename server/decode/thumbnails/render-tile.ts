// Decodes one key frame into a tile of a storyboard, and encodes sheets of them. Runs only in the
// child process.
import { AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG } from 'node-av/constants'
import { Frame } from 'node-av/lib'
import { decodeKeyFrame } from './decode-key-frame.ts'
import { encodeImage } from './encode-image.ts'
import { copyPlanes, createBlackImage } from './planar-image.ts'
import type { PlanarImage, TileJob } from './render-message.ts'
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
  using image = Frame.fromVideoBuffer(Buffer.from(planes), {
    width,
    height,
    format: AV_PIX_FMT_YUVJ420P,
  })
  image.colorRange = AVCOL_RANGE_JPEG
  for (const quantiser of QUANTISERS) {
    const bytes = encodeImage(image, 'jpeg', quantiser)
    if (bytes.length <= MAX_USUAL_SHEET_BYTES) return bytes
  }
  return encodeImage(image, 'jpeg', COARSEST_QUANTISER)
}
