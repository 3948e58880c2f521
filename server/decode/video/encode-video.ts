// Encodes a segment of video as H.264: decodes, chooses, scales and encodes its frames. Runs in the
// child process.
import { AV_PICTURE_TYPE_NONE, AV_PIX_FMT_YUV420P } from 'node-av/constants'
import { FFmpegError, Packet } from 'node-av/lib'
import type { CodecContext, Frame } from 'node-av/lib'
import { copiedFrame } from '../child/copied-frame.ts'
import { decodeVideo } from './decode-video.ts'
import { openEncoder } from './open-encoder.ts'
import { VideoScaler } from './scale-video.ts'
import type { EncodedFormat, EncodedFrames, EncodeJob } from './video-job.ts'

/** Luma and chroma of black (ITU-R BT.709 3). */
const BLACK = { luma: 16, chroma: 128 }

/**
 * The frames of the segment, at most thirty per second, at their times. Without any, the last one
 * before the segment, or black. Throws if decoder or encoder do not open.
 */
export function encodeVideo(job: EncodeJob): EncodedFrames {
  const { video, format, startTicks } = job
  using encoder = new FrameEncoder(job)
  using scaler = new VideoScaler(format, video.rotationDegrees)
  const own = new Set(video.ticks.subarray(video.leadInSamples))
  using held = new HeldFrame()
  let last: number | undefined
  decodeVideo(video, (frame) => {
    const ticks = Number(frame.pts)
    if (!own.has(ticks)) {
      if (last === undefined) held.hold(frame)
    } else if (isPicked(ticks, last, video.timescale)) {
      last = ticks
      using scaled = scaler.scale(frame)
      encoder.encode(scaled, ticks)
    }
  })
  if (last === undefined) {
    using frame = held.frame === undefined ? blackFrame(format) : scaler.scale(held.frame)
    encoder.encode(frame, startTicks)
  }
  return encoder.end()
}

/** The last frame that was decoded before the segment. */
class HeldFrame implements Disposable {
  frame: Frame | undefined

  hold(frame: Frame): void {
    this[Symbol.dispose]()
    this.frame = frame.clone() ?? undefined
  }

  [Symbol.dispose](): void {
    this.frame?.[Symbol.dispose]()
    this.frame = undefined
  }
}

class FrameEncoder implements Disposable {
  readonly #encoder: CodecContext
  readonly #packet = new Packet()
  readonly #samples: Buffer[] = []
  readonly #ticks: number[] = []

  constructor(job: EncodeJob) {
    this.#encoder = openEncoder(job.format, job)
    this.#packet.alloc()
    if (!this.#encoder.extraData?.equals(job.format.config)) {
      throw new Error('the encoder has other parameter sets than the init segment')
    }
  }

  encode(frame: Frame, ticks: number): void {
    frame.pts = BigInt(ticks)
    // That of the decoded frame would decide.
    frame.pictType = AV_PICTURE_TYPE_NONE
    FFmpegError.throwIfError(this.#encoder.sendFrameSync(frame), 'encode')
    this.#receive()
  }

  end(): EncodedFrames {
    FFmpegError.throwIfError(this.#encoder.sendFrameSync(null), 'encode')
    this.#receive()
    return {
      bytes: Buffer.concat(this.#samples),
      sizes: Uint32Array.from(this.#samples, ({ length }) => length),
      ticks: Float64Array.from(this.#ticks),
    }
  }

  [Symbol.dispose](): void {
    this.#packet[Symbol.dispose]()
    this.#encoder[Symbol.dispose]()
  }

  #receive(): void {
    while (this.#encoder.receivePacketSync(this.#packet) >= 0) {
      this.#samples.push(Buffer.from(this.#packet.data ?? []))
      this.#ticks.push(Number(this.#packet.pts))
      this.#packet.unref()
    }
  }
}

function blackFrame({ width, height }: EncodedFormat): Frame {
  const planes = Buffer.alloc((width * height * 3) / 2, BLACK.chroma)
  planes.fill(BLACK.luma, 0, width * height)
  return copiedFrame(planes, { width, height, format: AV_PIX_FMT_YUV420P })
}

const MAX_FRAMES_PER_SECOND = 30
/** Containers round times to a millisecond, so two frames can be this much closer. */
const ROUNDING_SECONDS = 0.0015

/** Whether the frame at `ticks` is in a rendition whose frame before it is at `lastTicks`. */
function isPicked(ticks: number, lastTicks: number | undefined, timescale: number): boolean {
  const distance = 1 / MAX_FRAMES_PER_SECOND - ROUNDING_SECONDS
  return lastTicks === undefined || ticks - lastTicks >= distance * timescale
}
