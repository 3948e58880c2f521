// Decodes one key frame, and encodes it scaled and upright. Runs only in the child process, because
// native code parses untrusted bytes.
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_QSCALE,
  AVCOL_RANGE_JPEG,
  AVCOL_SPC_SMPTE170M,
  FF_DECODER_H264,
  FF_DECODER_HEVC,
  FF_DECODER_LIBDAV1D,
  FF_DECODER_MPEG2VIDEO,
  FF_DECODER_VP8,
  FF_DECODER_VP9,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBWEBP,
  FF_ENCODER_MJPEG,
} from 'node-av/constants'
import type { FFDecoderCodec, FFEncoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import type { KeyFrame } from '../media/media-index.ts'
import { wrapAvif } from './avif-file.ts'
import type { ImageFormat } from './image-format.ts'
import { MAX_IMAGE_PIXELS } from './render-message.ts'
import type { RenderedImage, RenderJob } from './render-message.ts'
import { scaleUpright } from './scale-image.ts'

/** No other decoder is ever opened. */
const DECODERS: Record<KeyFrame['codec'], FFDecoderCodec> = {
  h264: FF_DECODER_H264,
  hevc: FF_DECODER_HEVC,
  av1: FF_DECODER_LIBDAV1D,
  vp9: FF_DECODER_VP9,
  vp8: FF_DECODER_VP8,
  mpeg2video: FF_DECODER_MPEG2VIDEO,
}

interface ImageEncoder {
  codec: FFEncoderCodec
  options: Record<string, string | number>
  /** JPEG (JFIF) is full range; WebP and AVIF are encoded in limited range. All use BT.601. */
  range: 'full' | 'limited'
  /** Codec flags; QSCALE enables `quality`. */
  flags?: typeof AV_CODEC_FLAG_QSCALE
  quality?: number
}

/** FF_QP2LAMBDA: FFmpeg's quality unit per step of a quantiser scale. */
const LAMBDA_PER_QUANTISER = 118

/** With these settings a 640-pixel image has about 20 kB (JPEG), 12 kB (WebP) and 5 kB (AVIF). */
const ENCODERS: Record<ImageFormat, ImageEncoder> = {
  jpeg: {
    codec: FF_ENCODER_MJPEG,
    options: { huffman: 'optimal' },
    range: 'full',
    flags: AV_CODEC_FLAG_QSCALE,
    quality: 4 * LAMBDA_PER_QUANTISER,
  },
  webp: {
    codec: FF_ENCODER_LIBWEBP,
    options: { quality: 76, compression_level: 4 },
    range: 'limited',
  },
  avif: {
    codec: FF_ENCODER_LIBSVTAV1,
    // One thread. (avif=1 gives smaller files, but that encoder accepts one image per process.)
    options: { preset: 8, crf: 34, 'svtav1-params': 'lp=1' },
    range: 'limited',
    flags: AV_CODEC_FLAG_GLOBAL_HEADER,
  },
}

/** Decodes and encodes one image. Throws if the bytes cannot be decoded. */
export function renderThumbnail(job: RenderJob): RenderedImage {
  const encoder = ENCODERS[job.format]
  using image = decodeKeyFrame(job.frame)
  using scaled = scaleUpright(image, {
    rotationDegrees: job.frame.rotationDegrees,
    range: encoder.range,
  })
  return {
    bytes: encodeImage(scaled, job.format),
    width: scaled.width,
    height: scaled.height,
    ...measureLuma(scaled),
    hasErrors: image.decodeErrorFlags !== 0,
  }
}

function decodeKeyFrame(keyFrame: KeyFrame): Frame {
  const codec = Codec.findDecoderByName(DECODERS[keyFrame.codec])
  if (codec === null) throw new Error(`no decoder for ${keyFrame.codec}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  if (keyFrame.extradata !== undefined) context.extraData = Buffer.from(keyFrame.extradata)
  // One thread bounds the memory; showall also outputs a recovery point that is not an IDR frame.
  context.threadCount = 1
  openCodec(context, codec, {
    max_pixels: MAX_IMAGE_PIXELS,
    flags: '+output_corrupt',
    flags2: '+showall',
  })
  using packet = new Packet()
  packet.alloc()
  packet.data = Buffer.from(keyFrame.data)
  packet.isKeyframe = true
  FFmpegError.throwIfError(context.sendPacketSync(packet), 'decode')
  FFmpegError.throwIfError(context.sendPacketSync(null), 'decode')
  const frame = new Frame()
  frame.alloc()
  FFmpegError.throwIfError(context.receiveFrameSync(frame), 'decode')
  return frame
}

function encodeImage(image: Frame, format: ImageFormat): Uint8Array {
  const { codec: name, options, flags, quality } = ENCODERS[format]
  const codec = Codec.findEncoderByName(name)
  if (codec === null) throw new Error(`no encoder for ${format}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  context.width = image.width
  context.height = image.height
  context.pixelFormat =
    codec.pixelFormats?.find((pixel) => pixel === image.format) ?? pixelFormatMissing(format)
  context.timeBase = new Rational(1, 1)
  context.threadCount = 1
  context.colorRange = image.colorRange
  context.colorSpace = AVCOL_SPC_SMPTE170M
  if (flags !== undefined) context.setFlags(flags)
  if (quality !== undefined) image.quality = context.globalQuality = quality
  openCodec(context, codec, options)
  FFmpegError.throwIfError(context.sendFrameSync(image), 'encode')
  FFmpegError.throwIfError(context.sendFrameSync(null), 'encode')
  using packet = new Packet()
  packet.alloc()
  FFmpegError.throwIfError(context.receivePacketSync(packet), 'encode')
  if (format === 'avif') return wrapAvif(packet, context)
  if (packet.data === null) throw new Error('the encoder gave no bytes')
  return Uint8Array.from(packet.data)
}

/**
 * Sets options one by one: avcodec_open2 frees a Dictionary, and the binding would free it again.
 */
function openCodec(
  context: CodecContext,
  codec: Codec,
  options: Record<string, string | number>,
): void {
  for (const [name, value] of Object.entries(options)) {
    FFmpegError.throwIfError(context.setOption(name, value), `set ${name}`)
  }
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open codec')
}

function pixelFormatMissing(format: ImageFormat): never {
  throw new Error(`the ${format} encoder does not take 8-bit 4:2:0`)
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
