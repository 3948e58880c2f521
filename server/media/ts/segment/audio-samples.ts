// Splits the gathered audio of a segment into frames with times in the session.
import type { SampleRun } from '../../media-reader.ts'
import { makeSampleRun } from '../../sample-run.ts'
import type { Sample } from '../../sample-run.ts'
import type { PesUnit } from '../packets/elementary-stream.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import { framePayload, isPositioned, audioFrameAt } from '../packets/audio-frame.ts'
import type { AudioConfig, StreamFrame } from '../packets/audio-frame.ts'
import type { SessionClock } from './session-clock.ts'

/** Times closer than two ticks of the recording's clock differ only by rounding. */
const ROUNDING_SECONDS = 2 / PES_TIMESCALE

export interface GatheredAudio {
  bytes: Uint8Array
  units: readonly PesUnit[]
  /** Frames of PES packets that begin here or later are omitted. */
  end: number
}

/** The frames that begin in the segment, as one run; undefined without frames. */
export function audioRun(
  audio: AudioConfig,
  gathered: GatheredAudio,
  clock: SessionClock,
): SampleRun | undefined {
  const samples: Sample[] = []
  const payloads: Uint8Array[] = []
  const { timescale } = audio
  let next: number | undefined
  for (const { at, frame, unit, isFirst } of findFrames(audio, gathered)) {
    const payload = framePayload(audio, gathered.bytes.subarray(at, at + frame.bytes))
    const stamped = isFirst ? clock.at(unit.stamps?.pts) : undefined
    const ticks = stamped === undefined ? next : placeFrame(stamped * timescale, next, timescale)
    if (ticks === undefined) continue
    next = ticks + Math.round(frame.samples * rateRatio(audio, frame))
    if (payload === undefined || !fits(audio, frame) || !clock.isInside(ticks / timescale)) continue
    payloads.push(payload)
    samples.push({
      offset: 0,
      sizeBytes: payload.length,
      decodeTicks: ticks,
      presentationTicks: ticks,
      isKey: true,
    })
  }
  const run = makeSampleRun(samples, {
    kind: 'audio',
    timescale,
    ...(next !== undefined && { nextDecodeTicks: next }),
  })
  if (run === undefined) return undefined
  const { offsets: _, compositionOffsets: __, ...rest } = run
  return { ...rest, bytes: Buffer.concat(payloads) }
}

/** The time of a frame in ticks: the end of the previous one if its own time agrees. */
function placeFrame(stamped: number, expected: number | undefined, timescale: number): number {
  if (expected !== undefined && Math.abs(stamped - expected) <= ROUNDING_SECONDS * timescale) {
    return expected
  }
  return Math.round(stamped)
}

/** A frame of another rate has another duration in ticks of the run. */
function rateRatio({ timescale }: AudioConfig, { sampleRate = timescale }: StreamFrame): number {
  return timescale / sampleRate
}

/**
 * Audio that browsers play has one configuration; decoders of other audio read that of each frame.
 */
function fits(audio: AudioConfig, frame: StreamFrame): boolean {
  if (audio.codec !== 'aac') return true
  return frame.sampleRate === audio.timescale && frame.channels === audio.channels
}

interface PlacedFrame {
  at: number
  frame: StreamFrame
  unit: PesUnit
  /** The first frame that begins in its PES packet has the time of the packet. */
  isFirst: boolean
}

/** Whole frames in the order of the stream. Other bytes are skipped. */
function* findFrames(
  audio: AudioConfig,
  { bytes, units, end }: GatheredAudio,
): Generator<PlacedFrame> {
  let number = 0
  let stampedUnit = -1
  let isInStep = false
  for (let at = 0; at < bytes.length;) {
    while ((units[number + 1]?.at ?? Infinity) <= at) number++
    const unit = units[number]
    if (unit === undefined || unit.position >= end) return
    const frame = audioFrameAt(audio.codec, bytes, at)
    const isFound =
      frame !== undefined &&
      (isInStep || isConfirmed(audio, { at, frame }, { bytes, units, number }))
    if (!isFound) {
      isInStep = false
      at = nextStart(audio, at, units[number + 1]?.at ?? bytes.length)
      continue
    }
    if (at + frame.bytes > bytes.length) return
    yield { at, frame, unit, isFirst: stampedUnit !== number }
    stampedUnit = number
    isInStep = !isPositioned(audio.codec)
    at += frame.bytes
  }
}

function nextStart({ codec }: AudioConfig, at: number, nextUnit: number): number {
  return isPositioned(codec) ? Math.max(nextUnit, at + 1) : at + 1
}

/** A frame is valid if another follows, or its PES packet ends with it. */
function isConfirmed(
  { codec }: AudioConfig,
  { at, frame }: { at: number; frame: StreamFrame },
  { bytes, units, number }: { bytes: Uint8Array; units: readonly PesUnit[]; number: number },
): boolean {
  const end = at + frame.bytes
  if (isPositioned(codec)) return units[number]?.at === at
  if (end === bytes.length || audioFrameAt(codec, bytes, end) !== undefined) return true
  return units[number]?.at === at && units[number + 1]?.at === end
}
