// Writes one session's recording: its video and audio loops repeated, with the clock running. Runs
// in the demo process.
import { AVFMT_FLAG_BITEXACT } from 'node-av/constants'
import { FFmpegError, FormatContext, Packet } from 'node-av/lib'
import type { CodecContext, Stream } from 'node-av/lib'
import type { CodedFrame } from './encoder.ts'
import type { DemoSession } from './demo-plan.ts'
import { AUDIO_FRAME_SAMPLES, SAMPLE_RATE } from './music.ts'
import type { MusicLoop } from './music.ts'
import { FRAME_RATE, GOP_FRAMES, LOOP_FRAMES, splitFrame } from './video.ts'
import type { VideoLoop } from './video.ts'

/** ISO/IEC 13818-1 2.7.2 allows at most 100; FFmpeg's 20 would cost as much as the audio. */
const PCR_PERIOD_MS = 80
/** Lets several AAC frames share a PES packet, as ffmpeg does by default. */
const MAX_DELAY_US = 700_000

/** What a recording is put together from; the clock is at least as long as the session. */
export interface RecordingContent {
  video: VideoLoop
  clock: readonly Buffer[]
  music: MusicLoop
}

/** Writes the file at `path`; it must not exist. */
export function writeRecording(
  path: string,
  { container, lengthSeconds }: DemoSession,
  { video, clock, music }: RecordingContent,
): void {
  const muxer = new FormatContext()
  const format = container === 'ts' ? 'mpegts' : 'mp4'
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, format, path), 'open output')
  const images = addStream(muxer, video.encoder)
  const sounds = addStream(muxer, music.encoder)
  muxer.setFlags(AVFMT_FLAG_BITEXACT)
  if (container === 'mp4-fast') muxer.setOption('movflags', '+faststart')
  if (container === 'ts') {
    muxer.setOption('pcr_period', PCR_PERIOD_MS)
    muxer.setOption('max_delay', MAX_DELAY_US)
  }
  FFmpegError.throwIfError(muxer.openOutputSync(), 'open output')
  FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write header')
  const write = createWriter(muxer)
  for (let number = 0, audio = 0; number < lengthSeconds * FRAME_RATE; number++) {
    const frame = assemble(video, clock, number)
    // B-frames are decoded one frame ahead.
    write(images, { ...frame, dts: number - 1, isKeyframe: number % GOP_FRAMES === 0 })
    const until = ((number + 1) / FRAME_RATE) * SAMPLE_RATE
    for (; audio * AUDIO_FRAME_SAMPLES < until; audio++) {
      const pts = audio * AUDIO_FRAME_SAMPLES
      write(sounds, { data: itemAt(music.frames, audio).data, pts, dts: pts, isKeyframe: true })
    }
  }
  FFmpegError.throwIfError(muxer.writeTrailerSync(), 'write trailer')
  muxer.closeOutputSync()
  muxer.freeContext()
}

interface Track {
  stream: Stream
  encoder: CodecContext
}

function addStream(muxer: FormatContext, encoder: CodecContext): Track {
  const stream = muxer.newStream(null)
  stream.timeBase = encoder.timeBase
  FFmpegError.throwIfError(encoder.parametersFromContext(stream.codecpar), 'describe stream')
  return { stream, encoder }
}

/** The frame at an index in coding order. The clock changes every second. */
function assemble({ frames }: VideoLoop, clock: readonly Buffer[], number: number): CodedFrame {
  const { data, pts } = itemAt(frames, number)
  const shownAt = pts + number - (number % LOOP_FRAMES)
  if (shownAt % FRAME_RATE !== 0) return { data, pts: shownAt }
  const strip = itemAt(clock, shownAt / FRAME_RATE)
  return { data: Buffer.concat([splitFrame(data).scene, strip]), pts: shownAt }
}

function itemAt<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length]
  if (item === undefined) throw new Error('an empty loop')
  return item
}

/** Writes frames whose times are in ticks of their encoder. */
function createWriter(muxer: FormatContext) {
  const packet = new Packet()
  packet.alloc()
  return ({ stream, encoder }: Track, frame: CodedFrame & { dts: number; isKeyframe: boolean }) => {
    packet.data = frame.data
    packet.streamIndex = stream.index
    packet.isKeyframe = frame.isKeyframe
    packet.pts = BigInt(frame.pts)
    packet.dts = BigInt(frame.dts)
    packet.duration = BigInt(encoder.frameSize || 1)
    packet.rescaleTs(encoder.timeBase, stream.timeBase)
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write frame')
  }
}
