// Writes one session's recording: its video and audio loops repeated, with the
// clock running. Runs in the demo's own process.
import { AVFMT_FLAG_BITEXACT, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants'
import { FFmpegError, FormatContext, Packet, Rational } from 'node-av/lib'
import type { Stream } from 'node-av/lib'
import type { StripPair } from './clock-strip.ts'
import { STRIP_HEIGHT, STRIP_WIDTH } from './clock-strip.ts'
import type { DemoSession } from './demo-plan.ts'
import { AUDIO_FRAME_SAMPLES, SAMPLE_RATE } from './music.ts'
import type { MusicLoop } from './music.ts'
import { lowerSlice, skippedLowerSlice, topSlice } from './slices.ts'
import type { LowerSlicePosition, Slice } from './slices.ts'
import { FRAME_RATE, GOP_FRAMES, VideoEncoder } from './video-encoder.ts'
import type { CodedFrame } from './video-encoder.ts'
import { LOOP_FRAMES, SCENE_HEIGHT } from './video-loop.ts'

const VIDEO_HEIGHT = 540
const MACROBLOCK = 16
/**
 * The longest that ISO/IEC 13818-1 2.7.2 allows is 100; FFmpeg's 20 would cost as much as the
 * audioFrame.
 */
const PCR_PERIOD_MS = 80
/** Lets several AAC frames share a PES packet, as ffmpeg does by default. */
const MAX_DELAY_US = 700_000
const START_CODE = Uint8Array.of(0, 0, 0, 1)

/** What a recording is put together from. */
export interface RecordingContent {
  /** One loop in coding order. */
  frames: CodedFrame[]
  /** The clock, at least as long as the session. */
  clock: StripPair[]
  music: MusicLoop
}

/**
 * Parameter sets of the full frame, and the position of the clock in it. The same for every
 * session.
 */
export interface FullFrame {
  encoder: VideoEncoder
  place: LowerSlicePosition
}

/** An encoder of the whole frame's size writes the parameter sets; it encodes nothing. */
export function describeFullFrame(): FullFrame {
  const encoder = new VideoEncoder({
    width: STRIP_WIDTH,
    height: VIDEO_HEIGHT,
    crf: 30,
    gopFrames: GOP_FRAMES,
  })
  const columns = STRIP_WIDTH / MACROBLOCK
  const place = {
    firstMacroblock: columns * (SCENE_HEIGHT / MACROBLOCK),
    macroblocks: columns * (STRIP_HEIGHT / MACROBLOCK),
    format: encoder.format,
  }
  return { encoder, place }
}

/** Writes the file at `path`; it must not exist. */
export function writeRecording(
  { path, session }: { path: string; session: DemoSession },
  whole: FullFrame,
  content: RecordingContent,
): void {
  const muxer = new FormatContext()
  const format = session.container === 'ts' ? 'mpegts' : 'mp4'
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, format, path), 'open output')
  const video = addStream(muxer, new Rational(1, FRAME_RATE))
  whole.encoder.describe(video.codecpar)
  video.codecpar.codecType = AVMEDIA_TYPE_VIDEO
  const audio = addStream(muxer, new Rational(1, SAMPLE_RATE))
  content.music.describe(audio.codecpar)
  audio.codecpar.codecType = AVMEDIA_TYPE_AUDIO
  muxer.setFlags(AVFMT_FLAG_BITEXACT)
  if (session.container === 'mp4-fast') muxer.setOption('movflags', '+faststart')
  if (session.container === 'ts') {
    muxer.setOption('pcr_period', PCR_PERIOD_MS)
    muxer.setOption('max_delay', MAX_DELAY_US)
  }
  FFmpegError.throwIfError(muxer.openOutputSync(), 'open output')
  FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write header')
  writePackets(muxer, { video, audio, session, whole, content })
  FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write trailer')
  muxer.closeOutputSync()
  muxer.freeContext()
}

function addStream(muxer: FormatContext, timeBase: Rational): Stream {
  const stream = muxer.newStream(null)
  stream.timeBase = timeBase
  return stream
}

interface PacketSource {
  video: Stream
  audio: Stream
  session: DemoSession
  whole: FullFrame
  content: RecordingContent
}

function writePackets(muxer: FormatContext, source: PacketSource): void {
  const { session, content } = source
  const frames = session.lengthSeconds * FRAME_RATE
  const videoTicks = source.video.timeBase.den / source.video.timeBase.num / FRAME_RATE
  const audioTicks = source.audio.timeBase.den / source.audio.timeBase.num / SAMPLE_RATE
  const audioFrames = Math.ceil((session.lengthSeconds * SAMPLE_RATE) / AUDIO_FRAME_SAMPLES)
  const assemble = createAssembler(source)
  using packet = new Packet()
  packet.alloc()
  let audioFrame = 0
  for (let number = 0; number < frames; number++) {
    const { shownAt, bytes } = assemble(number)
    packet.data = bytes
    packet.streamIndex = source.video.index
    packet.isKeyframe = number % GOP_FRAMES === 0
    packet.pts = BigInt(shownAt * videoTicks)
    // B-frames are decoded one frame ahead.
    packet.dts = BigInt((number - 1) * videoTicks)
    packet.duration = BigInt(videoTicks)
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write frame')
    const until = ((number + 1) / FRAME_RATE) * SAMPLE_RATE
    for (; audioFrame < audioFrames && audioFrame * AUDIO_FRAME_SAMPLES < until; audioFrame++) {
      const frame = content.music.frames[audioFrame % content.music.frames.length]
      packet.data = Buffer.from(frame ?? [])
      packet.streamIndex = source.audio.index
      packet.isKeyframe = true
      packet.pts = packet.dts = BigInt(Math.round(audioFrame * AUDIO_FRAME_SAMPLES * audioTicks))
      packet.duration = BigInt(Math.round(AUDIO_FRAME_SAMPLES * audioTicks))
      FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write audio')
    }
  }
}

/**
 * Assembles the coded frame at an index in coding order: the scene's slice above the clock's.
 */
function createAssembler({ session, whole, content }: PacketSource) {
  const parameterSets = whole.encoder.parameterSets.flatMap((set) => [START_CODE, set])
  const loop = content.frames.map(({ slice, shownAt }) => ({
    slice,
    shownAt,
    top: topSlice(slice),
    still: slice.isIdr ? undefined : skippedLowerSlice(slice, whole.place),
  }))
  return (number: number): { shownAt: number; bytes: Buffer } => {
    const frame = loop[number % LOOP_FRAMES]
    if (frame === undefined) throw new Error('the loop is short')
    const shownAt = frame.shownAt + number - (number % LOOP_FRAMES)
    const strip = findStrip(content.clock, shownAt)
    const lower = strip ? lowerSlice(frame.slice, strip, whole.place) : frame.still
    if (lower === undefined || (strip && !frame.slice.isReference)) {
      throw new Error('the clock changes in a frame that cannot carry it')
    }
    const sets = session.container === 'ts' && frame.slice.isIdr ? parameterSets : []
    return { shownAt, bytes: Buffer.concat([...sets, frame.top, lower]) }
  }
}

/** The coded strip of a frame at which the clock changes. */
function findStrip(clock: StripPair[], shownAt: number): Slice | undefined {
  const pair = clock[Math.floor(shownAt / GOP_FRAMES)]
  if (shownAt % GOP_FRAMES === 0) return pair?.even
  return shownAt % GOP_FRAMES === FRAME_RATE ? pair?.odd : undefined
}
