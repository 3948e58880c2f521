// Decodes video. Runs only in the child process, because native code parses untrusted bytes.
import { Codec, CodecContext, FFmpegError, Frame, Packet } from 'node-av/lib'
import { DECODERS } from '../thumbnails/decode-key-frame.ts'
import { openCodec } from '../child/open-codec.ts'
import type { RecordedVideo } from './video-job.ts'

/** Decoding and encoding run at the same time. The number of threads changes no pixel. */
const THREADS = 2
/** The largest frame of H.264 level 5.2: bounds the memory of a decoder. */
export const MAX_PIXELS = 4096 * 2304

/**
 * Calls `onFrame` with each frame in the order of their times; its `pts` is the time of its sample.
 * It is valid during the call. Frames that cannot be decoded are left out.
 *
 * @throws Error if the decoder does not open
 */
export function decodeVideo(video: RecordedVideo, onFrame: (frame: Frame) => void): void {
  const codec = Codec.findDecoderByName(DECODERS[video.codec])
  if (codec === null) throw new Error(`no decoder for ${video.codec}`)
  using context = new CodecContext()
  context.allocContext3(codec)
  if (video.extradata !== undefined) context.extraData = Buffer.from(video.extradata)
  context.threadCount = THREADS
  openCodec(context, codec, { max_pixels: MAX_PIXELS })
  using packet = new Packet()
  packet.alloc()
  using frame = new Frame()
  frame.alloc()
  const receive = (): void => {
    while (context.receiveFrameSync(frame) >= 0) {
      onFrame(frame)
      frame.unref()
    }
  }
  let at = 0
  video.sizes.forEach((size, number) => {
    packet.data = Buffer.from(video.bytes.subarray(at, at + size))
    packet.pts = BigInt(video.ticks[number] ?? 0)
    packet.isKeyframe = number === 0
    at += size
    // An error is ignored: what follows a corrupt frame may be decodable.
    context.sendPacketSync(packet)
    packet.unref()
    receive()
  })
  FFmpegError.throwIfError(context.sendPacketSync(null), 'decode')
  receive()
}
