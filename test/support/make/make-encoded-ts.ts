// Makes short MPEG-TS recordings with FFmpeg's encoders and muxer (node-av), in codecs that
// recorders write.
import {
  AV_CHANNEL_LAYOUT_5POINT1,
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_LOG_QUIET,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
  AV_SAMPLE_FMT_S32,
} from 'node-av/constants'
import type { AVSampleFormat } from 'node-av/constants'
import { Dictionary, FFmpegError, FormatContext, Frame, Log, Rational } from 'node-av/lib'
import type { CodecContext, Packet, Stream } from 'node-av/lib'
import { encodeFrames, openEncoder } from '../ffmpeg.ts'

/** `encoder` is FFmpeg's name. */
export interface EncodedVideo {
  encoder: 'libx264' | 'libx265' | 'mpeg2video'
  /** Encoder options, e.g. `{ 'x265-params': 'bframes=2' }`. */
  options?: Record<string, string>
}

export interface EncodedAudio {
  encoder: 'aac' | 'mp2' | 'libmp3lame' | 'ac3' | 'eac3' | 'dca' | 'libopus' | 'pcm_bluray'
  channels: 1 | 2 | 6
  sampleRate?: number
  /** ISO 639-2. */
  language?: string
}

export interface EncodedTs {
  seconds: number
  video?: EncodedVideo
  audioTracks: EncodedAudio[]
  /** Options of FFmpeg's mpegts muxer, e.g. `{ mpegts_flags: 'latm' }`. */
  muxer?: Record<string, string | number>
}

const WIDTH = 160
const HEIGHT = 96
const FRAMES_PER_SECOND = 25
const GOP_FRAMES = 25

/** Writes the recording: video that brightens, and tones. */
export async function makeEncodedTs(path: string, recording: EncodedTs): Promise<void> {
  Log.setLevel(AV_LOG_QUIET)
  const muxer = new FormatContext()
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, 'mpegts', path), 'open output')
  const packets = [
    ...(recording.video ? encodeVideo(muxer, recording.video, recording.seconds) : []),
    ...recording.audioTracks.flatMap((audio) => encodeAudio(muxer, audio, recording.seconds)),
  ].sort((a, b) => a.seconds - b.seconds)
  for (const [name, value] of Object.entries(recording.muxer ?? {})) muxer.setOption(name, value)
  FFmpegError.throwIfError(await muxer.openOutput(), 'open output')
  FFmpegError.throwIfError(await muxer.writeHeader(null), 'write header')
  for (const { packet, stream, timeBase } of packets) {
    packet.streamIndex = stream.index
    packet.rescaleTs(timeBase, stream.timeBase)
    FFmpegError.throwIfError(await muxer.interleavedWriteFrame(packet), 'write')
    packet.free()
  }
  FFmpegError.throwIfError(await muxer.writeTrailer(), 'write trailer')
  await muxer.closeOutput()
  muxer.freeContext()
}

interface TimedPacket {
  packet: Packet
  stream: Stream
  timeBase: Rational
  seconds: number
}

function encodeVideo(
  muxer: FormatContext,
  { encoder, options = {} }: EncodedVideo,
  seconds: number,
): TimedPacket[] {
  const context = openEncoder(encoder, (made) => {
    made.width = WIDTH
    made.height = HEIGHT
    made.pixelFormat = AV_PIX_FMT_YUV420P
    made.timeBase = new Rational(1, FRAMES_PER_SECOND)
    made.framerate = new Rational(FRAMES_PER_SECOND, 1)
    made.gopSize = GOP_FRAMES
    const preset = encoder === 'mpeg2video' ? {} : { preset: 'ultrafast' }
    for (const [name, value] of Object.entries({ ...preset, ...options }))
      FFmpegError.throwIfError(made.setOption(name, value), name)
  })
  const luma = WIDTH * HEIGHT
  const frames = Array.from({ length: seconds * FRAMES_PER_SECOND }, (_, number) => {
    const videoFrame = Buffer.alloc((luma * 3) / 2, 128)
    for (let at = 0; at < luma; at += 1) videoFrame[at] = (at * 3 + number * 7 + (at >> 7)) & 0xff
    const shape = { width: WIDTH, height: HEIGHT, format: AV_PIX_FMT_YUV420P }
    const frame = Frame.fromVideoBuffer(videoFrame, shape)
    frame.pts = BigInt(number)
    return frame
  })
  return encode(addStream(muxer, context), context, frames)
}

function encodeAudio(muxer: FormatContext, audio: EncodedAudio, seconds: number): TimedPacket[] {
  const { encoder, channels, sampleRate = 48_000 } = audio
  const isPcm = encoder === 'pcm_bluray'
  const context = openEncoder(encoder, (made) => {
    made.sampleRate = sampleRate
    made.sampleFormat = SAMPLE_FORMATS[encoder] ?? AV_SAMPLE_FMT_FLTP
    made.channelLayout = LAYOUTS[channels]
    made.timeBase = new Rational(1, sampleRate)
    if (!isPcm) made.bitRate = channels === 6 ? 384_000n : 128_000n
    if (encoder === 'dca') {
      made.bitRate = 768_000n
      made.setOption('strict', -2)
    }
  })
  const size = isPcm ? sampleRate / 200 : context.frameSize
  const frames = Array.from({ length: Math.floor((seconds * sampleRate) / size) }, (_, number) => {
    const frame = Frame.fromAudioBuffer(
      tone(context.sampleFormat, { channels, first: number * size, count: size }),
      {
        nbSamples: size,
        format: context.sampleFormat,
        sampleRate,
        channelLayout: LAYOUTS[channels],
      },
    )
    frame.pts = BigInt(number * size)
    return frame
  })
  const stream = addStream(muxer, context)
  if (audio.language) stream.metadata = Dictionary.fromObject({ language: audio.language })
  return encode(stream, context, frames)
}

const LAYOUTS = {
  1: AV_CHANNEL_LAYOUT_MONO,
  2: AV_CHANNEL_LAYOUT_STEREO,
  6: AV_CHANNEL_LAYOUT_5POINT1,
} as const
const SAMPLE_FORMATS: Partial<Record<EncodedAudio['encoder'], AVSampleFormat>> = {
  mp2: AV_SAMPLE_FMT_S16,
  libopus: AV_SAMPLE_FMT_S16,
  pcm_bluray: AV_SAMPLE_FMT_S16,
  dca: AV_SAMPLE_FMT_S32,
}

/** Another tone in every channel, in the sample format of an encoder. */
function tone(
  format: AVSampleFormat,
  { channels, first, count }: { channels: number; first: number; count: number },
): Buffer {
  const isFloat = format === AV_SAMPLE_FMT_FLTP
  const width = format === AV_SAMPLE_FMT_S16 ? 2 : 4
  const bytes = Buffer.alloc(count * channels * width)
  for (let channel = 0; channel < channels; channel += 1) {
    for (let at = 0; at < count; at += 1) {
      const value = 0.4 * Math.sin(((first + at) * (channel + 2)) / 40)
      const place = (isFloat ? channel * count + at : at * channels + channel) * width
      if (isFloat) bytes.writeFloatLE(value, place)
      else if (width === 2) bytes.writeInt16LE(Math.round(value * 32_767), place)
      else bytes.writeInt32LE(Math.round(value * 0x7fffff00), place)
    }
  }
  return bytes
}

function addStream(muxer: FormatContext, context: CodecContext): Stream {
  const stream = muxer.newStream(null)
  stream.timeBase = new Rational(1, 90_000)
  FFmpegError.throwIfError(context.parametersFromContext(stream.codecpar), 'describe')
  return stream
}

function encode(stream: Stream, context: CodecContext, frames: Frame[]): TimedPacket[] {
  const packets: TimedPacket[] = []
  const { timeBase } = context
  encodeFrames(context, frames, (encoded) => {
    const packet = encoded.clone()
    if (packet === null) throw new Error('out of memory')
    const seconds = (Number(packet.dts) * timeBase.num) / timeBase.den
    packets.push({ packet, stream, timeBase, seconds })
  })
  context.freeContext()
  return packets
}
