// Images of emotes: discs of one colour on transparency, in the formats that chat files embed.
import {
  AV_LOG_QUIET,
  AV_PIX_FMT_BGRA,
  AV_PIX_FMT_RGBA,
  FF_ENCODER_LIBWEBP,
  FF_ENCODER_LIBWEBP_ANIM,
  FF_ENCODER_PNG,
} from 'node-av/constants'
import type { AVPixelFormat, FFEncoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Log, Packet, Rational } from 'node-av/lib'

/** Red, green, blue: 0 to 255. */
export type Colour = readonly [number, number, number]

interface Size {
  width: number
  height: number
}

export const RED: Colour = [255, 0, 0]
export const GREEN: Colour = [0, 160, 0]
export const BLUE: Colour = [0, 0, 255]

export function makePng(size: Size, colour: Colour): Buffer {
  return encode(FF_ENCODER_PNG, AV_PIX_FMT_RGBA, { size, colours: [colour] })
}

export function makeWebp(size: Size, colour: Colour, options: EncoderOptions = {}): Buffer {
  return encode(FF_ENCODER_LIBWEBP, AV_PIX_FMT_BGRA, { size, colours: [colour], options })
}

/** A frame of each colour. */
export function makeAnimatedWebp(size: Size, colours: readonly Colour[]): Buffer {
  return encode(FF_ENCODER_LIBWEBP_ANIM, AV_PIX_FMT_BGRA, { size, colours })
}

/** Whether the pixel is in the disc. */
function isInside({ width, height }: Size, x: number, y: number): boolean {
  return Math.hypot(x - width / 2, y - height / 2) < Math.min(width, height) / 2
}

type EncoderOptions = Record<string, string>

interface Pictures {
  size: Size
  colours: readonly Colour[]
  options?: EncoderOptions
}

function encode(
  encoder: FFEncoderCodec,
  format: AVPixelFormat,
  { size, colours, options = {} }: Pictures,
): Buffer {
  Log.setLevel(AV_LOG_QUIET)
  const codec = Codec.findEncoderByName(encoder)
  if (codec === null) throw new Error(`no encoder ${encoder}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  Object.assign(context, { ...size, pixelFormat: format, timeBase: new Rational(1, 10) })
  for (const [name, value] of Object.entries(options)) context.setOption(name, value)
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open')
  const encoded: Buffer[] = []
  for (const [nth, colour] of [...colours, null].entries()) {
    if (colour === null) FFmpegError.throwIfError(context.sendFrameSync(null), 'flush')
    else {
      using frame = Frame.fromVideoBuffer(draw(size, colour, format), { ...size, format })
      frame.pts = BigInt(nth)
      FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode')
    }
    using packet = new Packet()
    packet.alloc()
    while (context.receivePacketSync(packet) >= 0) {
      encoded.push(Buffer.from(packet.data ?? []))
      packet.unref()
    }
  }
  return Buffer.concat(encoded)
}

function draw(size: Size, [red, green, blue]: Colour, format: AVPixelFormat): Buffer {
  const channels = format === AV_PIX_FMT_RGBA ? [red, green, blue] : [blue, green, red]
  const pixels: number[] = []
  for (let y = 0; y < size.height; y += 1) {
    for (let x = 0; x < size.width; x += 1) {
      pixels.push(...channels, isInside(size, x, y) ? 255 : 0)
    }
  }
  return Buffer.from(pixels)
}

/** GIF89a, appendix F: with codes of 8 bits, a byte is a code. */
const GIF_CLEAR = 128
const GIF_END = 129
/** More would make the codes longer. */
const CODES_UNTIL_CLEAR = 100
const TRANSPARENT = 127

/** A frame of each colour. */
export function makeGif(size: Size, colours: readonly Colour[]): Buffer {
  const header = Buffer.from('GIF89a\0\0\0\0\xf6\0\0', 'latin1')
  header.writeUInt16LE(size.width, 6)
  header.writeUInt16LE(size.height, 8)
  const palette = Buffer.alloc(128 * 3)
  for (const [nth, colour] of colours.entries()) palette.set(colour, nth * 3)
  const frames = colours.map((_, nth) => {
    const control = Buffer.from([0x21, 0xf9, 4, 0x09, 10, 0, TRANSPARENT, 0])
    const descriptor = Buffer.from([0x2c, 0, 0, 0, 0, ...header.subarray(6, 10), 0, 7])
    return Buffer.concat([control, descriptor, ...gifBlocks(gifCodes(size, nth)), Buffer.of(0)])
  })
  return Buffer.concat([header, palette, ...frames, Buffer.of(0x3b)])
}

function gifCodes(size: Size, colour: number): number[] {
  const codes: number[] = []
  for (let at = 0; at < size.width * size.height; at += 1) {
    if (at % CODES_UNTIL_CLEAR === 0) codes.push(GIF_CLEAR)
    const [x, y] = [at % size.width, Math.floor(at / size.width)]
    codes.push(isInside(size, x, y) ? colour : TRANSPARENT)
  }
  return [...codes, GIF_END]
}

function gifBlocks(codes: readonly number[]): Buffer[] {
  const blocks: Buffer[] = []
  for (let at = 0; at < codes.length; at += 255) {
    const block = codes.slice(at, at + 255)
    blocks.push(Buffer.from([block.length, ...block]))
  }
  return blocks
}
