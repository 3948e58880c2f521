// Divides a segment's sound into jobs of bounded length for the transcoder, with silence where there is none. Pure.
import type { SoundFormat } from '../media/media-index.ts'
import { FRAME_SAMPLES, MAX_JOB_BYTES } from '../sound/sound-job.ts'
import type { SoundJob, SoundOutput, SoundPackets } from '../sound/sound-job.ts'
import { frameBeforeJoint, LEAD_IN_SECONDS } from './sound-plan.ts'

/** One job holds so much sound. */
const JOB_SECONDS = 10
const JOB_BYTES = MAX_JOB_BYTES / 2
/** What lies in a longer gap is not encoded, but for a second of silence on either side. */
const GAP_SECONDS = 3
const GAP_EDGE_SECONDS = 1

/** A segment's sound, as it was recorded. */
export interface RecordedSound {
  format: SoundFormat
  output: SoundOutput
  packets: SoundPackets
  /** Packets that belong to the segment before. */
  leadInPackets: number
  end: SoundJob['end']
  fromFrame: number
  toFrame: number
}

/** A piece of a segment's frames. */
export type SoundPiece = { kind: 'job'; job: SoundJob } | { kind: 'silence'; frames: number }

/** Where a piece begins; it ends where the next begins. */
type Mark = SoundMark | { kind: 'silence'; frame: number }

interface SoundMark {
  kind: 'sound'
  frame: number
  packet: number
  /** First packet of the lead-in. */
  leadIn: number
}

/** Pieces that hold the wanted frames, each once, in order. */
export function divideSound(sound: RecordedSound): SoundPiece[] {
  const marks = markPieces(sound)
  const pieces: SoundPiece[] = []
  let fromFrame = sound.fromFrame
  marks.forEach((mark, number) => {
    const wanted = marks[number + 1]?.frame ?? sound.toFrame
    const toFrame = Math.max(fromFrame, Math.min(wanted, sound.toFrame))
    if (toFrame === fromFrame) return
    if (mark.kind === 'silence') pieces.push({ kind: 'silence', frames: toFrame - fromFrame })
    else
      pieces.push({ kind: 'job', job: jobOf(sound, mark, { marks, number, fromFrame, toFrame }) })
    fromFrame = toFrame
  })
  return pieces
}

function markPieces({ packets, leadInPackets, output, fromFrame, toFrame }: RecordedSound): Mark[] {
  const seconds = (packet: number) => (packets.ticks[packet] ?? 0) / packets.timescale
  const frameAt = (time: number) => Math.floor((time * output.sampleRate) / FRAME_SAMPLES)
  const count = packets.sizes.length
  let before = (fromFrame * FRAME_SAMPLES) / output.sampleRate
  let leadIn = leadInPackets
  if (leadInPackets > 0) {
    // Cuts can be far apart, and all of the sound between two of them is here.
    const since = seconds(leadInPackets - 1) - LEAD_IN_SECONDS
    leadIn = firstWithin(packets, { packet: leadInPackets, since, from: 0 })
    before = Math.max(before, seconds(leadInPackets - 1))
  }
  let current: SoundMark = { kind: 'sound', frame: fromFrame, packet: leadInPackets, leadIn }
  const marks: Mark[] = [current]
  let bytes = 0
  for (let packet = leadInPackets; packet < count; packet += 1) {
    const time = seconds(packet)
    bytes += packets.sizes[packet] ?? 0
    if (time - before > GAP_SECONDS) {
      marks.push({ kind: 'silence', frame: frameAt(before + GAP_EDGE_SECONDS) })
      const frame = frameAt(time - GAP_EDGE_SECONDS)
      marks.push((current = { kind: 'sound', frame, packet, leadIn: packet }))
      bytes = 0
    } else if (time - seconds(current.packet) >= JOB_SECONDS || bytes > JOB_BYTES) {
      const since = time - LEAD_IN_SECONDS
      const frame = frameBeforeJoint(seconds(packet - 1), output.sampleRate)
      const first = firstWithin(packets, { packet, since, from: current.leadIn })
      marks.push((current = { kind: 'sound', frame, packet, leadIn: first }))
      bytes = 0
    }
    before = Math.max(before, time)
  }
  if ((toFrame * FRAME_SAMPLES) / output.sampleRate - before > GAP_SECONDS)
    marks.push({ kind: 'silence', frame: frameAt(before + GAP_EDGE_SECONDS) })
  return marks
}

/** The first packet from `from` on that begins at `since` seconds or later, at most `packet`. */
function firstWithin(
  { ticks, timescale }: SoundPackets,
  { packet, since, from }: { packet: number; since: number; from: number },
): number {
  let first = packet
  while (first > from && (ticks[first - 1] ?? 0) >= since * timescale) first -= 1
  return first
}

interface Place {
  marks: readonly Mark[]
  number: number
  fromFrame: number
  toFrame: number
}

function jobOf(sound: RecordedSound, mark: SoundMark, place: Place): SoundJob {
  const { format, output, packets } = sound
  const { marks, number, fromFrame, toFrame } = place
  const nextSound = marks.slice(number + 1).find((other) => other.kind === 'sound')
  const goesOn = marks[number + 1]?.kind === 'sound'
  return {
    format,
    output,
    packets: slicePackets(packets, mark.leadIn, nextSound?.packet ?? packets.sizes.length),
    leadInPackets: mark.packet - mark.leadIn,
    end: nextSound === undefined ? sound.end : goesOn ? 'joined' : 'open',
    fromFrame,
    toFrame,
  }
}

function slicePackets(packets: SoundPackets, from: number, to: number): SoundPackets {
  const bytesBefore = (packet: number) =>
    packets.sizes.subarray(0, packet).reduce((sum, size) => sum + size, 0)
  return {
    bytes: packets.bytes.subarray(bytesBefore(from), bytesBefore(to)),
    sizes: packets.sizes.slice(from, to),
    ticks: packets.ticks.slice(from, to),
    timescale: packets.timescale,
  }
}
