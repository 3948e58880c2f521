// Encodes an image. Runs only in the child process.
import {
  AV_CODEC_FLAG_BITEXACT,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_QSCALE,
  AVCOL_SPC_SMPTE170M,
  AVSEEK_SIZE,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBWEBP,
  FF_ENCODER_MJPEG,
} from 'node-av/constants'
import type { AVCodecFlag, FFEncoderCodec } from 'node-av/constants'
import {
  Codec,
  CodecContext,
  FFmpegError,
  FormatContext,
  IOContext,
  Packet,
  Rational,
} from 'node-av/lib'
import type { Frame } from 'node-av/lib'
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

const SEEK_CURRENT = 1
const SEEK_END = 2
const IO_BUFFER_BYTES = 4096

/**
 * One AV1 frame as an AVIF file (ISO/IEC 23000-22), made in memory with FFmpeg's muxer. `encoder`
 * is the one that encoded the packet.
 */
function wrapAvif(packet: Packet, encoder: CodecContext): Uint8Array {
  const file = createMemoryFile()
  using io = new IOContext()
  io.allocContextWithCallbacks(IO_BUFFER_BYTES, 1, null, file.write, file.seek)
  const muxer = new FormatContext()
  try {
    FFmpegError.throwIfError(muxer.allocOutputContext2(null, 'avif', null), 'open AVIF')
    muxer.pb = io
    const stream = muxer.newStream(null)
    stream.timeBase = new Rational(1, 1)
    FFmpegError.throwIfError(encoder.parametersFromContext(stream.codecpar), 'open AVIF')
    FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write AVIF')
    packet.streamIndex = 0
    packet.pts = 0n
    packet.dts = 0n
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write AVIF')
    FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write AVIF')
    io.flushSync()
    return file.bytes()
  } finally {
    // This code owns the I/O context: detach it first, or it would be freed twice.
    muxer.pb = null
    muxer.freeContext()
  }
}

interface MemoryFile {
  write: (chunk: Buffer) => number
  seek: (offset: bigint, whence: number) => bigint
  bytes: () => Uint8Array
}

/** A growing in-memory file with the callbacks of FFmpeg's I/O context. */
function createMemoryFile(): MemoryFile {
  let content = Buffer.alloc(64 * 1024)
  let position = 0
  let end = 0
  return {
    write(chunk: Buffer): number {
      const needed = position + chunk.length
      if (needed > content.length) content = Buffer.concat([content, Buffer.alloc(needed)])
      chunk.copy(content, position)
      position = needed
      end = Math.max(end, position)
      return chunk.length
    },
    seek(offset: bigint, whence: number): bigint {
      if (whence === AVSEEK_SIZE) return BigInt(end)
      const origin = whence === SEEK_CURRENT ? position : whence === SEEK_END ? end : 0
      position = origin + Number(offset)
      return BigInt(position)
    },
    bytes: (): Uint8Array => Uint8Array.from(content.subarray(0, end)),
  }
}
