// Encodes video with FFmpeg's encoders (node-av) as frames of NAL units, so that tests can leave
// out or change parameter sets before they write a recording.
import {
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV420P10LE,
  AV_PIX_FMT_YUV422P,
  AV_PIX_FMT_YUV422P10LE,
} from 'node-av/constants'
import { FFmpegError, Rational } from 'node-av/lib'
import type { Frame } from 'node-av/lib'
import { copiedFrame } from '../../../server/decode/child/copied-frame.ts'
import { encodeFrames, openEncoder } from '../ffmpeg.ts'

/** One frame in decode order; times in frames. */
export interface EncodedFrame {
  /** Without start codes. */
  nals: Buffer[]
  pts: number
  dts: number
  isKey: boolean
}

export interface EncodeOptions {
  codec: 'h264' | 'hevc'
  frames: number
  /** Frames from key frame to key frame. */
  gop: number
  /** Parameters of x264 or x265, e.g. `bframes=3`. */
  params?: string
  /** Default 4:2:0 of 8 bits. */
  pixels?: PixelForm
}

/** Chroma subsampling, and bits per component. */
export type PixelForm = '420' | '420 10' | '422' | '422 10'

const PIXEL_FORMATS = {
  '420': AV_PIX_FMT_YUV420P,
  '420 10': AV_PIX_FMT_YUV420P10LE,
  '422': AV_PIX_FMT_YUV422P,
  '422 10': AV_PIX_FMT_YUV422P10LE,
} as const

export const ENCODED_WIDTH = 128
export const ENCODED_HEIGHT = 96
export const ENCODED_FRAME_RATE = 25

/** Video that brightens, with the parameter sets at every key frame. */
export function encodeVideo(options: EncodeOptions): EncodedFrame[] {
  const { codec, frames, gop, params = '', pixels = '420' } = options
  const name = codec === 'h264' ? 'libx264' : 'libx265'
  const common = `keyint=${gop}:min-keyint=${gop}:scenecut=0:repeat-headers=1:annexb=1`
  const own =
    codec === 'h264'
      ? 'threads=1:b-adapt=0'
      : 'pools=1:frame-threads=1:log-level=none:open-gop=0:b-adapt=0'
  const settings = [common, own, ...(params === '' ? [] : [params])].join(':')
  const context = openEncoder(name, (made) => {
    made.width = ENCODED_WIDTH
    made.height = ENCODED_HEIGHT
    made.pixelFormat = PIXEL_FORMATS[pixels]
    made.timeBase = new Rational(1, ENCODED_FRAME_RATE)
    made.framerate = new Rational(ENCODED_FRAME_RATE, 1)
    FFmpegError.throwIfError(made.setOption('preset', 'ultrafast'), 'preset')
    FFmpegError.throwIfError(made.setOption(`${name.slice(3)}-params`, settings), settings)
  })
  const encoded: EncodedFrame[] = []
  const bright = Array.from({ length: frames }, (_, number) => brightFrame(number, pixels))
  encodeFrames(context, bright, ({ data, pts, dts, isKeyframe }) => {
    const nals = splitStartCodes(Buffer.from(data ?? []))
    encoded.push({ nals, pts: Number(pts), dts: Number(dts), isKey: isKeyframe })
  })
  context.freeContext()
  return encoded
}

function brightFrame(number: number, pixels: PixelForm): Frame {
  const luma = ENCODED_WIDTH * ENCODED_HEIGHT
  const eight = Buffer.alloc(pixels.startsWith('420') ? (luma * 3) / 2 : luma * 2, 128)
  eight.fill(16 + (number % 200), 0, luma)
  eight.fill(235, (number * 16) % luma, ((number * 16) % luma) + 64)
  const frame = copiedFrame(pixels.endsWith(' 10') ? tenBits(eight) : eight, {
    width: ENCODED_WIDTH,
    height: ENCODED_HEIGHT,
    format: PIXEL_FORMATS[pixels],
  })
  frame.pts = BigInt(number)
  return frame
}

function tenBits(eight: Uint8Array): Uint8Array {
  return new Uint8Array(Uint16Array.from(eight, (value) => value * 4).buffer)
}

function splitStartCodes(bytes: Buffer): Buffer[] {
  const nals: Buffer[] = []
  const code = Buffer.from([0, 0, 1])
  let start = bytes.indexOf(code)
  while (start >= 0) {
    const next = bytes.indexOf(code, start + 3)
    const end = next < 0 ? bytes.length : next - (bytes[next - 1] === 0 ? 1 : 0)
    nals.push(bytes.subarray(start + 3, end))
    start = next
  }
  return nals
}

/** Whether a NAL unit is a VPS, SPS or PPS. */
export function isParameterSet(codec: EncodeOptions['codec'], nal: Uint8Array): boolean {
  const head = nal[0] ?? 0
  if (codec === 'h264') return [7, 8].includes(head & 0x1f)
  return [32, 33, 34].includes((head >>> 1) & 0x3f)
}

/** The frames, with parameter sets only in those for which `keeps` returns true. */
export function withSparseSets(
  codec: EncodeOptions['codec'],
  frames: readonly EncodedFrame[],
  keeps: (frame: EncodedFrame) => boolean,
): EncodedFrame[] {
  return frames.map((frame) => {
    if (keeps(frame)) return frame
    return { ...frame, nals: frame.nals.filter((nal) => !isParameterSet(codec, nal)) }
  })
}

/** NAL units with start codes. */
export function annexB({ nals }: EncodedFrame): Buffer {
  return Buffer.concat(nals.flatMap((nal) => [Buffer.from([0, 0, 0, 1]), nal]))
}

/** NAL units with lengths of four bytes. */
export function lengthPrefixed({ nals }: EncodedFrame): Buffer {
  return Buffer.concat(
    nals.flatMap((nal) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(nal.length)
      return [length, nal]
    }),
  )
}
