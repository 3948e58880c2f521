// Writes a streamer's poster: one frame of a scene as JPEG. Runs in the demo process.
import { writeFileSync } from 'node:fs'
import { AV_CODEC_FLAG_QSCALE, AV_PIX_FMT_YUVJ420P, FF_ENCODER_MJPEG } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import { CANVAS_HEIGHT, CANVAS_WIDTH } from './canvas.ts'
import type { Scene } from './canvas.ts'
import type { Palette } from './palette.ts'
import { paint } from './video-loop.ts'

/** FF_QP2LAMBDA times a fine quantiser. */
const QUALITY = 118 * 3

/** Writes the frame in the middle of the scene's loop. */
export function writePoster(path: string, scene: Scene, palette: Palette): void {
  const canvas = new Uint8Array(CANVAS_WIDTH * CANVAS_HEIGHT)
  scene(canvas, 0.5)
  const planes = Buffer.alloc(canvas.length * 1.5)
  paint(planes, canvas, palette)
  const codec = Codec.findEncoderByName(FF_ENCODER_MJPEG)
  if (codec === null) throw new Error('no JPEG encoder')
  using context = new CodecContext()
  context.allocContext3(codec)
  const shape = { width: CANVAS_WIDTH, height: CANVAS_HEIGHT, format: AV_PIX_FMT_YUVJ420P }
  context.width = shape.width
  context.height = shape.height
  context.pixelFormat = shape.format
  context.timeBase = new Rational(1, 1)
  context.setFlags(AV_CODEC_FLAG_QSCALE)
  context.globalQuality = QUALITY
  FFmpegError.throwIfError(context.open2Sync(codec, null), 'open JPEG encoder')
  using frame = Frame.fromVideoBuffer(planes, shape)
  frame.quality = QUALITY
  FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode poster')
  FFmpegError.throwIfError(context.sendFrameSync(null), 'encode poster')
  using packet = new Packet()
  packet.alloc()
  FFmpegError.throwIfError(context.receivePacketSync(packet), 'encode poster')
  writeFileSync(path, packet.data ?? new Uint8Array())
}
