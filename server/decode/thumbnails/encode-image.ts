// Encodes an image. Runs only in the child process.
import {
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_QSCALE,
  AVCOL_SPC_SMPTE170M,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBWEBP,
  FF_ENCODER_MJPEG,
} from 'node-av/constants'
import type { AVCodecFlag, FFEncoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Packet, Rational } from 'node-av/lib'
import type { Frame } from 'node-av/lib'
import { wrapAvif } from './avif-file.ts'
import type { ImageFormat } from './image-format.ts'
import { openCodec } from '../child/open-codec.ts'

interface ImageEncoder {
  codec: FFEncoderCodec
  options: Record<string, string | number>
  /** JPEG (JFIF) is full range; WebP and AVIF are encoded in limited range. All use BT.601. */
  range: 'full' | 'limited'
  /** QSCALE enables `quality`. */
  flags?: AVCodecFlag[]
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
    // BITEXACT omits the comment with the version of the encoder.
    flags: [AV_CODEC_FLAG_QSCALE, AV_CODEC_FLAG_BITEXACT],
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
    flags: [AV_CODEC_FLAG_GLOBAL_HEADER],
  },
}

/** The colour range of a format. */
export function rangeOf(format: ImageFormat): ImageEncoder['range'] {
  return ENCODERS[format].range
}

/** @param quantiser of a JPEG, 1 (best) to 31; default as for thumbnails */
export function encodeImage(image: Frame, format: ImageFormat, quantiser?: number): Uint8Array {
  const { codec: name, options, flags, ...defaults } = ENCODERS[format]
  const quality = quantiser === undefined ? defaults.quality : quantiser * LAMBDA_PER_QUANTISER
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
  if (flags !== undefined) context.setFlags(...flags)
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

function pixelFormatMissing(format: ImageFormat): never {
  throw new Error(`the ${format} encoder does not take 8-bit 4:2:0`)
}
