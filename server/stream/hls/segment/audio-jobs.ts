// Divides a segment's audio into transcoder jobs of bounded length, and silence. Pure.
import type { AudioFormat } from '../../../media/codec/audio-codecs.ts'
import { FRAME_SAMPLES, MAX_JOB_BYTES } from '../../../decode/audio/audio-job.ts'
import type { AudioJob, AudioOutput, AudioPackets } from '../../../decode/audio/audio-job.ts'
import { frameBeforeBoundary, LEAD_IN_SECONDS } from './audio-plan.ts'

/** Limits of one job. */
const JOB_SECONDS = 10
const JOB_BYTES = MAX_JOB_BYTES / 2
/** A longer gap is not encoded, except for a second of silence at each end. */
const GAP_SECONDS = 3
const GAP_EDGE_SECONDS = 1

/** A segment's audio, as it was recorded. */
export interface RecordedAudio {
  format: AudioFormat
  output: AudioOutput
  packets: AudioPackets
  /** Packets of the previous segment. */
  leadInPackets: number
  end: AudioJob['end']
  fromFrame: number
  toFrame: number
}

/** Consecutive frames of a segment. */
export type RecordedAudioChunk =
  | { kind: 'job'; job: AudioJob }
  | { kind: 'silence'; frames: number }

/** Start of a chunk; it ends where the next one starts. */
type Mark = AudioMark | { kind: 'silence'; frame: number }

interface AudioMark {
  kind: 'audio'
  frame: number
  packet: number
  /** First packet of the lead-in. */
  leadIn: number
}

/** Chunks with all frames from `fromFrame` to `toFrame`, in order. */
export function divideAudio(audio: RecordedAudio): RecordedAudioChunk[] {
  const marks = markChunks(audio)
  const starts = startsOf(audio.packets.sizes)
  const chunks: RecordedAudioChunk[] = []
  let fromFrame = audio.fromFrame
  marks.forEach((mark, number) => {
    const nextFrame = marks[number + 1]?.frame ?? audio.toFrame
    const toFrame = Math.max(fromFrame, Math.min(nextFrame, audio.toFrame))
    if (toFrame === fromFrame) return
    const position = { marks, number, starts, fromFrame, toFrame }
    if (mark.kind === 'silence') chunks.push({ kind: 'silence', frames: toFrame - fromFrame })
    else chunks.push({ kind: 'job', job: jobOf(audio, mark, position) })
    fromFrame = toFrame
  })
  return chunks
}

function markChunks({ packets, leadInPackets, output, fromFrame, toFrame }: RecordedAudio): Mark[] {
  const seconds = (packet: number) => (packets.ticks[packet] ?? 0) / packets.timescale
  const frameAt = (time: number) => Math.floor((time * output.sampleRate) / FRAME_SAMPLES)
  const count = packets.sizes.length
  let before = (fromFrame * FRAME_SAMPLES) / output.sampleRate
  let leadIn = leadInPackets
  if (leadInPackets > 0) {
    // Split points can be far apart, and the lead-in has all audio between two of them.
    const since = seconds(leadInPackets - 1) - LEAD_IN_SECONDS
    leadIn = firstWithin(packets, { packet: leadInPackets, since, from: 0 })
    before = Math.max(before, seconds(leadInPackets - 1))
  }
  let current: AudioMark = { kind: 'audio', frame: fromFrame, packet: leadInPackets, leadIn }
  const marks: Mark[] = [current]
  let bytes = 0
  for (let packet = leadInPackets; packet < count; packet += 1) {
    const time = seconds(packet)
    bytes += packets.sizes[packet] ?? 0
    if (time - before > GAP_SECONDS) {
      marks.push({ kind: 'silence', frame: frameAt(before + GAP_EDGE_SECONDS) })
      const frame = frameAt(time - GAP_EDGE_SECONDS)
      marks.push((current = { kind: 'audio', frame, packet, leadIn: packet }))
      bytes = 0
    } else if (time - seconds(current.packet) >= JOB_SECONDS || bytes > JOB_BYTES) {
      const since = time - LEAD_IN_SECONDS
      const frame = frameBeforeBoundary(seconds(packet - 1), output.sampleRate)
      const first = firstWithin(packets, { packet, since, from: current.leadIn })
      marks.push((current = { kind: 'audio', frame, packet, leadIn: first }))
      bytes = 0
    }
    before = Math.max(before, time)
  }
  if ((toFrame * FRAME_SAMPLES) / output.sampleRate - before > GAP_SECONDS)
    marks.push({ kind: 'silence', frame: frameAt(before + GAP_EDGE_SECONDS) })
  return marks
}

/** The first packet from `from` to `packet` that starts at `since` seconds or later. */
function firstWithin(
  { ticks, timescale }: AudioPackets,
  { packet, since, from }: { packet: number; since: number; from: number },
): number {
  let first = packet
  while (first > from && (ticks[first - 1] ?? 0) >= since * timescale) first -= 1
  return first
}

interface MarkPosition {
  marks: readonly Mark[]
  number: number
  /** As `startsOf` returns them. */
  starts: Float64Array
  fromFrame: number
  toFrame: number
}

function jobOf(audio: RecordedAudio, mark: AudioMark, position: MarkPosition): AudioJob {
  const { format, output, packets } = audio
  const { marks, number, starts, fromFrame, toFrame } = position
  // No two chunks of silence follow each other.
  const nextAudio = marks.slice(number + 1, number + 3).find((other) => other.kind === 'audio')
  const continues = marks[number + 1]?.kind === 'audio'
  return {
    format,
    output,
    packets: slicePackets(packets, starts, {
      from: mark.leadIn,
      to: nextAudio?.packet ?? packets.sizes.length,
    }),
    leadInPackets: mark.packet - mark.leadIn,
    end: nextAudio === undefined ? audio.end : continues ? 'joined' : 'open',
    fromFrame,
    toFrame,
  }
}

/** Position of each packet's first byte, and of the end. */
function startsOf(sizes: Uint32Array): Float64Array {
  const starts = new Float64Array(sizes.length + 1)
  sizes.forEach((size, packet) => {
    starts[packet + 1] = (starts[packet] ?? 0) + size
  })
  return starts
}

function slicePackets(
  packets: AudioPackets,
  starts: Float64Array,
  { from, to }: { from: number; to: number },
): AudioPackets {
  return {
    bytes: packets.bytes.subarray(starts[from], starts[to]),
    sizes: packets.sizes.slice(from, to),
    ticks: packets.ticks.slice(from, to),
    timescale: packets.timescale,
  }
}
