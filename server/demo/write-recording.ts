// Writes one session's recording: its video and audio loops repeated, with the clock running. Runs
// in the demo process.
import { AVFMT_FLAG_BITEXACT } from 'node-av/constants'
import { Dictionary, FFmpegError, FormatContext, Packet } from 'node-av/lib'
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

/** Of several tracks (ISO 639-2). */
const LANGUAGES = ['eng', 'deu']

/** What a recording is put together from; the clock is at least as long as the session. */
export interface RecordingContent {
  video: VideoLoop
  clock: readonly Buffer[]
  /** A track for each. */
  music: readonly MusicLoop[]
}

/** Writes the seconds `from` to `to` of a session to `path`; the file must not exist. */
export function writeRecording(
  path: string,
  { container, from, to }: Pick<DemoSession, 'container'> & { from: number; to: number },
  { video, clock, music }: RecordingContent,
): void {
  const muxer = new FormatContext()
  const isTs = container === 'ts' || container === 'parts'
  const format = isTs ? 'mpegts' : 'mp4'
  FFmpegError.throwIfError(muxer.allocOutputContext2(null, format, path), 'open output')
  const images = addStream(muxer, video.encoder)
  const sounds = music.map(({ encoder }, track) =>
    addStream(muxer, encoder, music.length > 1 ? LANGUAGES[track] : undefined),
  )
  muxer.setFlags(AVFMT_FLAG_BITEXACT)
  if (container === 'mp4-fast') muxer.setOption('movflags', '+faststart')
  if (isTs) {
    muxer.setOption('pcr_period', PCR_PERIOD_MS)
    muxer.setOption('max_delay', MAX_DELAY_US)
  }
  FFmpegError.throwIfError(muxer.openOutputSync(), 'open output')
  FFmpegError.throwIfError(muxer.writeHeaderSync(null), 'write header')
  const writeImage = createWriter(muxer, images)
  const writeSounds = sounds.map((track) => createWriter(muxer, track))
  let audio = Math.ceil((from * SAMPLE_RATE) / AUDIO_FRAME_SAMPLES)
  for (let number = from * FRAME_RATE; number < to * FRAME_RATE; number++) {
    const frame = assemble(video, clock, number)
    // B-frames are decoded one frame ahead.
    writeImage({ ...frame, dts: number - 1, isKeyframe: number % GOP_FRAMES === 0 })
    const until = ((number + 1) / FRAME_RATE) * SAMPLE_RATE
    for (; audio * AUDIO_FRAME_SAMPLES < until; audio++) {
      const pts = audio * AUDIO_FRAME_SAMPLES
      for (const [track, { frames }] of music.entries()) {
        const { data } = itemAt(frames, audio)
        itemAt(writeSounds, track)({ data, pts, dts: pts, isKeyframe: true })
      }
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

function addStream(muxer: FormatContext, encoder: CodecContext, language?: string): Track {
  const stream = muxer.newStream(null)
  stream.timeBase = encoder.timeBase
  FFmpegError.throwIfError(encoder.parametersFromContext(stream.codecpar), 'describe stream')
  if (language !== undefined) stream.metadata = Dictionary.fromObject({ language })
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

/** Writes frames whose times are in ticks of their encoder, after the header. */
function createWriter(muxer: FormatContext, { stream, encoder }: Track) {
  const packet = new Packet()
  packet.alloc()
  const { index } = stream
  const duration = BigInt(encoder.frameSize || 1)
  const [from, to] = [encoder.timeBase, stream.timeBase]
  return (frame: CodedFrame & { dts: number; isKeyframe: boolean }) => {
    packet.data = frame.data
    packet.streamIndex = index
    packet.isKeyframe = frame.isKeyframe
    packet.pts = BigInt(frame.pts)
    packet.dts = BigInt(frame.dts)
    packet.duration = duration
    packet.rescaleTs(from, to)
    FFmpegError.throwIfError(muxer.writeFrameSync(packet), 'write frame')
  }
}
