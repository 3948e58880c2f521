// Encodes samples as AAC frames on the session's frame grid. Runs only in the child process.
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBFDK_AAC,
} from 'node-av/constants'
import type { AVSampleFormat, FFEncoderCodec } from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, Frame, Packet, Rational } from 'node-av/lib'
import { FRAME_SAMPLES } from './audio-job.ts'
import type { AudioOutput } from './audio-job.ts'
import { openCodec } from '../child/open-codec.ts'

interface AacEncoder {
  codec: FFEncoderCodec
  sampleFormat: AVSampleFormat
  options: Record<string, string | number>
  bitsPerChannel?: bigint
}

/**
 * The first one available in this build of FFmpeg is used. With libfdk_aac, a frame does not depend
 * on distant earlier samples (constant quality, no bit reservoir, integer arithmetic): segments
 * encoded separately are byte for byte the frames of one continuous encoding. It takes 60 ms for 6
 * s, and 95 ms with its afterburner.
 */
const ENCODERS: readonly AacEncoder[] = [
  {
    codec: FF_ENCODER_LIBFDK_AAC,
    sampleFormat: AV_SAMPLE_FMT_S16,
    options: { vbr: 5, afterburner: 0 },
  },
  {
    codec: FF_ENCODER_AAC,
    sampleFormat: AV_SAMPLE_FMT_FLTP,
    options: { aac_coder: 'fast' },
    bitsPerChannel: 96_000n,
  },
]

/** Samples per channel, starting with frame `firstFrame`; a whole number of frames. */
export interface FramedSamples {
  channels: Float32Array[]
  firstFrame: number
}

/** The encoded frames by number. Silence is assumed before the first sample and after the last. */
export function encodeAac(
  { channels, firstFrame }: FramedSamples,
  output: AudioOutput,
): Map<number, Uint8Array> {
  const { context, sampleFormat } = openEncoder(output)
  using encoder = context
  const frames = new Map<number, Uint8Array>()
  const count = (channels[0]?.length ?? 0) / FRAME_SAMPLES
  for (let at = 0; at < count; at += 1) {
    using frame = frameOf(channels, at * FRAME_SAMPLES, { output, sampleFormat })
    frame.pts = BigInt((firstFrame + at) * FRAME_SAMPLES)
    FFmpegError.throwIfError(encoder.sendFrameSync(frame), 'encode audio')
    receiveFrames(encoder, frames)
  }
  FFmpegError.throwIfError(encoder.sendFrameSync(null), 'encode audio')
  receiveFrames(encoder, frames)
  return frames
}

function openEncoder(output: AudioOutput) {
  for (const { codec: name, sampleFormat, options, bitsPerChannel } of ENCODERS) {
    const codec = Codec.findEncoderByName(name)
    if (codec === null) continue
    const context = new CodecContext()
    context.allocContext3(codec)
    context.sampleRate = output.sampleRate
    context.sampleFormat = sampleFormat
    context.channelLayout = layoutOf(output)
    context.timeBase = new Rational(1, output.sampleRate)
    if (bitsPerChannel !== undefined) context.bitRate = bitsPerChannel * BigInt(output.channels)
    context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
    openCodec(context, codec, options)
    return { context, sampleFormat }
  }
  throw new Error('no AAC encoder')
}

function layoutOf({ channels }: AudioOutput) {
  return channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO
}

function frameOf(
  channels: readonly Float32Array[],
  start: number,
  { output, sampleFormat }: { output: AudioOutput; sampleFormat: AVSampleFormat },
): Frame {
  const planes = channels.map((samples) => samples.subarray(start, start + FRAME_SAMPLES))
  const bytes = sampleFormat === AV_SAMPLE_FMT_S16 ? interleave(planes) : joinPlanes(planes)
  return Frame.fromAudioBuffer(bytes, {
    nbSamples: FRAME_SAMPLES,
    format: sampleFormat,
    sampleRate: output.sampleRate,
    channelLayout: layoutOf(output),
  })
}

function joinPlanes(planes: readonly Float32Array[]): Buffer {
  return Buffer.concat(
    planes.map(
      ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    ),
  )
}

/** Interleaved 16-bit samples, clipped. */
function interleave(planes: readonly Float32Array[]): Buffer {
  const samples = new Int16Array(planes.length * FRAME_SAMPLES)
  planes.forEach((plane, channel) => {
    plane.forEach((value, at) => {
      const scaled = Math.round(value * 32_767)
      samples[at * planes.length + channel] = Math.max(-32_768, Math.min(32_767, scaled))
    })
  })
  return Buffer.from(samples.buffer)
}

function receiveFrames(encoder: CodecContext, frames: Map<number, Uint8Array>): void {
  using packet = new Packet()
  packet.alloc()
  while (encoder.receivePacketSync(packet) >= 0) {
    frames.set(Number(packet.pts) / FRAME_SAMPLES, Uint8Array.from(packet.data ?? []))
    packet.unref()
  }
}
