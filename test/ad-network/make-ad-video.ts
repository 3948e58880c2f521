// Makes the stand-in network's video ads: changing grey in H.264, a few kilobytes.
import { readFile } from 'node:fs/promises'
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_LOG_QUIET,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX264,
} from 'node-av/constants'
import {
  Codec,
  CodecContext,
  FFmpegError,
  FormatContext,
  Frame,
  Log,
  Packet,
  Rational,
} from 'node-av/lib'

const width = 160
const height = 90
const framesPerSecond = 10

/** The bytes of an MP4 with its sample tables first. Also writes them to `path`. */
export async function makeAdVideo(path: string, seconds: number): Promise<Buffer> {
  Log.setLevel(AV_LOG_QUIET)
  const encoder = openEncoder()
  const muxer = new FormatContext()
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, 'mp4', path), 'open output')
  const stream = muxer.newStream(null)
  stream.timeBase = encoder.timeBase
  FFmpegError.throwIfError(stream.codecpar.fromContext(encoder), 'describe video')
  muxer.setOption('movflags', '+faststart')
  FFmpegError.throwIfError(muxer.openOutputSync(), 'open output')
  FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write header')
  using packet = new Packet()
  packet.alloc()
  const frames = seconds * framesPerSecond
  for (let number = 0; number <= frames; number += 1) {
    // One call more than frames: it flushes the encoder.
    send(encoder, number < frames ? number : undefined)
    while (encoder.receivePacketSync(packet) >= 0) {
      packet.streamIndex = stream.index
      packet.duration = 1n
      packet.rescaleTs(encoder.timeBase, stream.timeBase)
      FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write frame')
      packet.unref()
    }
  }
  FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write trailer')
  muxer.closeOutputSync()
  muxer.freeContext()
  encoder.freeContext()
  return readFile(path)
}

function openEncoder(): CodecContext {
  const codec = Codec.findEncoderByName(FF_ENCODER_LIBX264)
  if (codec === null) throw new Error('no H.264 encoder')
  const context = new CodecContext()
  context.allocContext3(codec)
  context.width = width
  context.height = height
  context.pixelFormat = AV_PIX_FMT_YUV420P
  context.timeBase = new Rational(1, framesPerSecond)
  context.framerate = new Rational(framesPerSecond, 1)
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  context.setOption('preset', 'ultrafast')
  context.setOption('x264-params', 'keyint=20:threads=1')
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open encoder')
  return context
}

function send(encoder: CodecContext, number: number | undefined): void {
  if (number === undefined) {
    FFmpegError.throwIfError(encoder.sendFrameSync(null), 'encode')
    return
  }
  const pixels = Buffer.alloc((width * height * 3) / 2, 128)
  pixels.fill(16 + ((number * 7) % 200), 0, width * height)
  using frame = Frame.fromVideoBuffer(pixels, { width, height, format: AV_PIX_FMT_YUV420P })
  frame.pts = BigInt(number)
  FFmpegError.throwIfError(encoder.sendFrameSync(frame), 'encode')
}
