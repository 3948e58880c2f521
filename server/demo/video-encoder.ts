// H.264 by x264, configured so that slices of two encoders can form one frame. Runs in the demo
// process.
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX264,
} from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import type { CodecParameters } from 'node-av/lib'
import { splitNals } from '../media/codec/nal-unit.ts'
import { parseSlice, parseSliceFormat } from './slices.ts'
import type { Slice, SliceFormat } from './slices.ts'

/** Frames per second and per GOP: a key frame every two seconds. */
export const FRAME_RATE = 20
export const GOP_FRAMES = 40
/** NAL units of one packet: parameter sets, SEI and slices. */
const MAX_NALS = 64

export interface VideoShape {
  width: number
  height: number
  /** Constant rate factor. */
  crf: number
  /** Frames between key frames. */
  gopFrames: number
  /** x264's preset. Default superfast. */
  preset?: 'ultrafast' | 'superfast'
}

/** One coded frame: its slice, and its display position in frames. */
export interface CodedFrame {
  slice: Slice
  shownAt: number
}

/** Settings under which slices fit: no entropy state, weights or references beyond the simplest. */
const X264_PARAMETERS = [
  'scenecut=0:bframes=3:b-adapt=0:b-pyramid=none:ref=1:weightp=0:weightb=0:cabac=0:8x8dct=0',
  'stitchable=1:mvrange=32:level=31:slices=1:mbtree=0:rc-lookahead=0:sync-lookahead=0:threads=1',
].join(':')

/** An encoder for planar 4:2:0 frames in display order. */
export class VideoEncoder {
  readonly #context = new CodecContext()
  readonly #shape: VideoShape
  readonly #parameterSets: Uint8Array[]
  readonly format: SliceFormat
  #pushed = 0

  constructor(shape: VideoShape) {
    this.#shape = shape
    const codec = Codec.findEncoderByName(FF_ENCODER_LIBX264)
    if (codec === null) throw new Error('no H.264 encoder')
    const context = this.#context
    context.allocContext3(codec)
    context.width = shape.width
    context.height = shape.height
    context.pixelFormat = AV_PIX_FMT_YUV420P
    context.timeBase = new Rational(1, FRAME_RATE)
    context.framerate = new Rational(FRAME_RATE, 1)
    context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
    const parameters = `keyint=${shape.gopFrames}:min-keyint=${shape.gopFrames}:${X264_PARAMETERS}`
    for (const [name, value] of [
      ['preset', shape.preset ?? 'superfast'],
      ['crf', shape.crf],
      ['x264-params', parameters],
    ] as const) {
      FFmpegError.throwIfError(context.setOption(name, value), name)
    }
    FFmpegError.throwIfError(context.open2Sync(codec, null), 'open encoder')
    this.#parameterSets = splitNals(context.extraData ?? new Uint8Array(), MAX_NALS).filter((nal) =>
      [7, 8].includes((nal[0] ?? 0) & 31),
    )
    this.format = parseSliceFormat(this.#parameterSets[0] ?? new Uint8Array())
  }

  /** Sequence and picture parameter sets. */
  get parameterSets(): readonly Uint8Array[] {
    return this.#parameterSets
  }

  /** Size in bytes of the planar frame that `push` takes. */
  get frameBytes(): number {
    return (this.#shape.width * this.#shape.height * 3) / 2
  }

  /** Fills in what a muxer needs: codec, size, parameter sets. */
  describe(parameters: CodecParameters): void {
    FFmpegError.throwIfError(this.#context.parametersFromContext(parameters), 'describe video')
  }

  push(planes: Buffer): CodedFrame[] {
    using frame = Frame.fromVideoBuffer(planes, {
      width: this.#shape.width,
      height: this.#shape.height,
      format: AV_PIX_FMT_YUV420P,
    })
    return this.pushFrame(frame)
  }

  pushFrame(frame: Frame): CodedFrame[] {
    frame.pts = BigInt(this.#pushed++)
    FFmpegError.throwIfError(this.#context.sendFrameSync(frame), 'encode')
    return this.#receive()
  }

  /** The remaining frames; ends the encoder. */
  finish(): CodedFrame[] {
    FFmpegError.throwIfError(this.#context.sendFrameSync(null), 'encode')
    const rest = this.#receive()
    this.#context.freeContext()
    return rest
  }

  #receive(): CodedFrame[] {
    const frames: CodedFrame[] = []
    using packet = new Packet()
    packet.alloc()
    while (this.#context.receivePacketSync(packet) >= 0) {
      const nals = splitNals(Uint8Array.from(packet.data ?? []), MAX_NALS)
      const coded = nals.find((nal) => [1, 5].includes((nal[0] ?? 0) & 31))
      if (coded === undefined) throw new Error('a packet without a frame')
      frames.push({ slice: parseSlice(coded, this.format), shownAt: Number(packet.pts) })
      packet.unref()
    }
    return frames
  }
}
