// Decodes the first picture of an emote, and encodes the pictures of a chat as one image. Runs only
// in the child process.
import { AV_PIX_FMT_BGRA, FF_DECODER_GIF, FF_DECODER_PNG } from 'node-av/constants'
import { FF_DECODER_WEBP, FF_DECODER_WEBP_ANIM } from 'node-av/constants'
import { FilterGraph } from 'node-av/lib'
import { copiedFrame } from '../child/copied-frame.ts'
import { decodeImage } from './decode-key-frame.ts'
import type { EncodedImage } from './decode-key-frame.ts'
import { encodeImage } from './encode-image.ts'
import { buildChain, runChain } from './filter-chain.ts'
import { sniffImageType } from './image-format.ts'
import {
  BYTES_PER_PIXEL,
  EMOTE_HEIGHT,
  MAX_EMOTE_PIXELS,
  MAX_EMOTE_WIDTH,
} from './render-message.ts'
import type { EmoteImage, EmotePicture, SpriteImage } from './render-message.ts'
import { sourceArguments } from './scale-image.ts'

/** The chunks of a WebP file (RFC 9649 2.3). */
const WEBP_CHUNKS = 12
const CHUNK_HEAD = 8

const LIMITS = { max_pixels: MAX_EMOTE_PIXELS }

/** Throws if the bytes cannot be decoded, or the picture is too large or too wide. */
export function renderEmote({ data }: EmoteImage): EmotePicture {
  using image = decodeImage({ ...findPicture(Buffer.from(data)), options: LIMITS })
  const width = 2 * Math.max(1, Math.round((image.width * EMOTE_HEIGHT) / image.height / 2))
  if (width > MAX_EMOTE_WIDTH) throw new Error('the emote is too wide')
  using graph = new FilterGraph()
  graph.alloc()
  const chain = buildChain(graph, [
    ['buffer', sourceArguments(image)],
    // What is transparent has a colour, too, which must not reach what is not.
    ['format', 'pix_fmts=gbrap'],
    ['premultiply', 'inplace=1'],
    ['scale', `w=${width}:h=${EMOTE_HEIGHT}:flags=bicubic+accurate_rnd+bitexact`],
    ['unpremultiply', 'inplace=1'],
    ['format', 'pix_fmts=bgra'],
    ['buffersink', ''],
  ])
  image.pts = 0n
  using scaled = runChain(chain, image)
  const pixels = scaled.toBuffer()
  if (isInvisible(pixels)) throw new Error('the picture is transparent')
  return { width, pixels }
}

/** As the first frame of some animations, and of truncated ones. */
function isInvisible(pixels: Uint8Array): boolean {
  for (let alpha = BYTES_PER_PIXEL - 1; alpha < pixels.length; alpha += BYTES_PER_PIXEL) {
    if (pixels[alpha] !== 0) return false
  }
  return true
}

/** What FFmpeg's demuxers would pass to which decoder. */
function findPicture(data: Buffer): Omit<EncodedImage, 'options'> {
  if (data.toString('latin1', 0, 4) === 'GIF8') return { decoder: FF_DECODER_GIF, data }
  const type = sniffImageType(data)
  if (type === 'image/png') return { decoder: FF_DECODER_PNG, data }
  if (type !== 'image/webp') throw new Error('no image')
  for (let at = WEBP_CHUNKS; at + CHUNK_HEAD <= data.length;) {
    const start = at + CHUNK_HEAD
    const sizeBytes = data.readUInt32LE(at + 4)
    // An animation (2.7.1): the canvas is in the first chunk, a frame in each of these.
    if (data.toString('latin1', at, at + 4) === 'ANMF') {
      const size = { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
      const frame = data.subarray(start, start + sizeBytes)
      return { decoder: FF_DECODER_WEBP_ANIM, data: frame, size }
    }
    at = start + sizeBytes + (sizeBytes % 2)
  }
  return { decoder: FF_DECODER_WEBP, data }
}

/** The WebP of all pictures at their positions. */
export function encodeSprite({ width, height, pictures }: SpriteImage): Uint8Array {
  const pixels = Buffer.alloc(width * height * BYTES_PER_PIXEL)
  for (const picture of pictures) {
    const rowBytes = picture.width * BYTES_PER_PIXEL
    for (let row = 0; row < EMOTE_HEIGHT; row += 1) {
      const start = ((picture.y + row) * width + picture.x) * BYTES_PER_PIXEL
      pixels.set(picture.pixels.subarray(row * rowBytes, (row + 1) * rowBytes), start)
    }
  }
  using image = copiedFrame(pixels, { width, height, format: AV_PIX_FMT_BGRA })
  return encodeImage(image, 'webp')
}
