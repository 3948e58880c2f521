// Encodes a minute and repeats its packets into an MP4 and a TS. A process of its own: it loads
// FFmpeg.
import {
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_LOG_ERROR,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBX264,
} from 'node-av/constants'
import { Codec, CodecContext, FFmpegError, FormatContext, Frame, Log } from 'node-av/lib'
import { Dictionary, Packet, Rational } from 'node-av/lib'
import type { AVMediaType } from 'node-av/constants'
import type { Stream } from 'node-av/lib'
import type { MediaFormat, MediaOutput, MediaPlan } from './make-media.ts'

const FRAME_RATE = 30
const GOP_FRAMES = 2 * FRAME_RATE
const SAMPLE_RATE = 48_000
const AUDIO_FRAME_SAMPLES = 1024
const AUDIO_BIT_RATE = 128_000n
/** Kilobits per second by frame height; the buffer model makes the encoder respect it. */
const VIDEO_KILOBITS = { 1080: 6000, 360: 1000 } as const

/** FFmpeg's names of the containers. */
const MUXERS: Record<MediaFormat, string> = {
  mp4: 'mp4',
  fmp4: 'mp4',
  ts: 'mpegts',
  mkv: 'matroska',
  flv: 'flv',
}
/** One fragment per GOP, and nothing to write after the last one. */
const FRAGMENTED = { movflags: 'frag_keyframe+empty_moov+default_base_moof+skip_trailer' }

/** Encoded video or audio frames that can be repeated, with times in frames. */
interface Track {
  context: CodecContext
  packets: { data: Buffer; shownAt: number; decodedAt: number; isKey: boolean }[]
}

Log.setLevel(AV_LOG_ERROR)
// make-media.ts is the only caller and shares the type.
makeMedia(JSON.parse(process.argv[2] ?? '') as MediaPlan)

function makeMedia(plan: MediaPlan): void {
  const video = encodeVideo(plan)
  const audio = encodeAudio(plan.encodedSeconds)
  for (const output of plan.outputs) writeFile({ ...output, plan }, video, audio)
}

function encodeVideo({ encodedSeconds, pictureHeight: height }: MediaPlan): Track {
  const width = (height * 16) / 9
  const kilobits = VIDEO_KILOBITS[height]
  const context = openEncoder(FF_ENCODER_LIBX264, (encoder) => {
    encoder.width = width
    encoder.height = height
    encoder.pixelFormat = AV_PIX_FMT_YUV420P
    encoder.timeBase = new Rational(1, FRAME_RATE)
    encoder.framerate = new Rational(FRAME_RATE, 1)
    const rate = `bitrate=${kilobits}:vbv-maxrate=${kilobits}:vbv-bufsize=${kilobits}:nal-hrd=cbr`
    const gop = `keyint=${GOP_FRAMES}:min-keyint=${GOP_FRAMES}:scenecut=0:open-gop=0:bframes=3`
    encoder.setOption('preset', 'superfast')
    encoder.setOption('x264-params', `${rate}:${gop}`)
  })
  const paint = createPainter(width, height)
  const packets: Track['packets'] = []
  for (let number = 0; number < encodedSeconds * FRAME_RATE; number += 1) {
    using frame = Frame.fromVideoBuffer(paint(number), {
      width,
      height,
      format: AV_PIX_FMT_YUV420P,
    })
    frame.pts = BigInt(number)
    FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode video')
    packets.push(...receive(context, 1))
  }
  FFmpegError.throwIfError(context.sendFrameSync(null), 'encode video')
  return { context, packets: [...packets, ...receive(context, 1)] }
}

/**
 * Frames of a rough, sliding texture: as hard to encode as a game stream.
 */
function createPainter(width: number, height: number): (number: number) => Buffer {
  const stride = width * 2
  const texture = Buffer.alloc(stride * height)
  let state = 1
  for (let at = 0; at < texture.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const wave = Math.sin((at % stride) / 37) + Math.sin(Math.floor(at / stride) / 23)
    texture[at] = 128 + wave * 40 + (state >>> 27)
  }
  const frame = Buffer.alloc((width * height * 3) / 2, 128)
  return (number) => {
    for (let row = 0; row < height; row += 1) {
      const shift = Math.round((Math.sin((number + row) / 90) + 1) * (width / 2))
      texture.copy(frame, row * width, row * stride + shift, row * stride + shift + width)
    }
    return frame
  }
}

function encodeAudio(seconds: number): Track {
  const context = openEncoder(FF_ENCODER_AAC, (encoder) => {
    encoder.sampleRate = SAMPLE_RATE
    encoder.sampleFormat = AV_SAMPLE_FMT_FLTP
    encoder.channelLayout = AV_CHANNEL_LAYOUT_STEREO
    encoder.bitRate = AUDIO_BIT_RATE
    encoder.timeBase = new Rational(1, SAMPLE_RATE)
  })
  const packets: Track['packets'] = []
  const samples = new Float32Array(AUDIO_FRAME_SAMPLES * 2)
  const frames = Math.floor((seconds * SAMPLE_RATE) / AUDIO_FRAME_SAMPLES)
  for (let number = 0; number < frames; number += 1) {
    for (let at = 0; at < samples.length; at += 1) {
      const time = number * AUDIO_FRAME_SAMPLES + (at % AUDIO_FRAME_SAMPLES)
      samples[at] = 0.3 * Math.sin(time / 17) + 0.2 * Math.sin((time * time) / 5e7)
    }
    using frame = Frame.fromAudioBuffer(Buffer.from(samples.buffer), {
      nbSamples: AUDIO_FRAME_SAMPLES,
      format: AV_SAMPLE_FMT_FLTP,
      sampleRate: SAMPLE_RATE,
      channelLayout: AV_CHANNEL_LAYOUT_STEREO,
    })
    frame.pts = BigInt(number * AUDIO_FRAME_SAMPLES)
    FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode audio')
    packets.push(...receive(context, AUDIO_FRAME_SAMPLES))
  }
  return { context, packets }
}

function openEncoder(
  name: Parameters<typeof Codec.findEncoderByName>[0],
  config: (encoder: CodecContext) => void,
) {
  const codec = Codec.findEncoderByName(name)
  if (codec === null) throw new Error(`FFmpeg has no ${name}`)
  const context = new CodecContext()
  context.allocContext3(codec)
  config(context)
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  FFmpegError.throwIfError(context.open2Sync(codec, null), `open ${name}`)
  return context
}

function receive(context: CodecContext, frameTicks: number): Track['packets'] {
  const packets: Track['packets'] = []
  using packet = new Packet()
  packet.alloc()
  while (context.receivePacketSync(packet) >= 0) {
    packets.push({
      data: Buffer.from(packet.data ?? []),
      shownAt: Number(packet.pts) / frameTicks,
      decodedAt: Number(packet.dts) / frameTicks,
      isKey: packet.isKeyframe,
    })
    packet.unref()
  }
  return packets
}

interface Output extends MediaOutput {
  plan: MediaPlan
}

function writeFile({ path, format, plan }: Output, video: Track, audio: Track): void {
  const muxer = new FormatContext()
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, MUXERS[format], path), 'open output')
  const frames = addStream(muxer, video, { type: AVMEDIA_TYPE_VIDEO, rate: FRAME_RATE })
  const audioTracks = addStream(muxer, audio, { type: AVMEDIA_TYPE_AUDIO, rate: SAMPLE_RATE })
  FFmpegError.throwIfError(muxer.openOutputSync(), 'open output')
  using dictionary = Dictionary.fromObject(format === 'fmp4' ? FRAGMENTED : {})
  FFmpegError.throwIfError(muxer.writeHeaderSync(dictionary), 'write header')
  const sets = format === 'ts' ? (video.context.extraData ?? Buffer.alloc(0)) : undefined
  const writeFrame = createWriter(muxer, frames, { track: video, rate: FRAME_RATE, sets })
  const audioRate = SAMPLE_RATE / AUDIO_FRAME_SAMPLES
  const writeAudio = createWriter(muxer, audioTracks, {
    track: audio,
    rate: audioRate,
    sets: undefined,
  })
  let audioTrack = 0
  for (let number = 0; number < plan.mediaSeconds * FRAME_RATE; number += 1) {
    writeFrame(number)
    for (; audioTrack / audioRate < (number + 1) / FRAME_RATE; audioTrack += 1)
      writeAudio(audioTrack)
  }
  FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write trailer')
  muxer.closeOutputSync()
  muxer.freeContext()
}

function addStream(
  muxer: FormatContext,
  { context }: Track,
  { type, rate }: { type: AVMediaType; rate: number },
): Stream {
  const stream = muxer.newStream(null)
  stream.timeBase = new Rational(1, rate)
  FFmpegError.throwIfError(context.parametersFromContext(stream.codecpar), 'describe stream')
  stream.codecpar.codecType = type
  return stream
}

/** Writes the packet with a number in coding order; after the last one, the first is repeated. */
function createWriter(
  muxer: FormatContext,
  stream: Stream,
  { track, rate, sets }: { track: Track; rate: number; sets: Buffer | undefined },
): (number: number) => void {
  const { packets } = track
  const packet = new Packet()
  packet.alloc()
  const { num, den } = stream.timeBase
  const ticks = (frames: number): bigint => BigInt(Math.round((frames * den) / num / rate))
  return (number) => {
    const source = packets[number % packets.length]
    if (source === undefined) throw new Error('the encoder gave nothing')
    const shift = number - (number % packets.length)
    const inBand = sets !== undefined && source.isKey
    packet.data = inBand ? Buffer.concat([sets, source.data]) : source.data
    packet.streamIndex = stream.index
    packet.isKeyframe = source.isKey
    packet.pts = ticks(source.shownAt + shift)
    packet.dts = ticks(source.decodedAt + shift)
    packet.duration = ticks(1)
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write packet')
  }
}
