// Cuts the gathered sound of a segment into frames, and gives each its time on the session's timeline.
import type { SampleRun } from '../media-reader.ts'
import { makeSampleRun } from '../sample-run.ts'
import type { Sample } from '../sample-run.ts'
import type { PesUnit } from './elementary-stream.ts'
import { PES_TIMESCALE } from './pes.ts'
import { framePayload, isPositioned, soundFrameAt } from './sound-frame.ts'
import type { SoundFrame, SoundSetUp } from './sound-frame.ts'
import type { SessionClock } from './session-clock.ts'

/** Times that differ by less than two ticks of the recording's clock differ by rounding alone. */
const ROUNDING_SECONDS = 2 / PES_TIMESCALE

export interface GatheredSound {
  bytes: Uint8Array
  units: readonly PesUnit[]
  /** Frames of PES packets that begin here or behind are left out. */
  end: number
}

/** The frames that begin in the segment, as one run; undefined where there are none. */
export function soundRun(
  sound: SoundSetUp,
  gathered: GatheredSound,
  clock: SessionClock,
): SampleRun | undefined {
  const samples: Sample[] = []
  const payloads: Uint8Array[] = []
  const { timescale } = sound
  let next: number | undefined
  for (const { at, frame, unit, isFirst } of findFrames(sound, gathered)) {
    const payload = framePayload(sound, gathered.bytes.subarray(at, at + frame.bytes))
    const stamped = isFirst ? clock.at(unit.stamps?.pts) : undefined
    const ticks = stamped === undefined ? next : placeFrame(stamped * timescale, next, timescale)
    if (ticks === undefined) continue
    next = ticks + Math.round(frame.samples * rateRatio(sound, frame))
    if (payload === undefined || !fits(sound, frame) || !clock.isInside(ticks / timescale)) continue
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

/** The time of a frame in ticks: where the one before ends, if its own time says the same. */
function placeFrame(stamped: number, expected: number | undefined, timescale: number): number {
  if (expected !== undefined && Math.abs(stamped - expected) <= ROUNDING_SECONDS * timescale) {
    return expected
  }
  return Math.round(stamped)
}

/** Frames of another rate than the run's last longer or shorter in its ticks. */
function rateRatio({ timescale }: SoundSetUp, { sampleRate = timescale }: SoundFrame): number {
  return timescale / sampleRate
}

/** What browsers play goes by one set-up; a decoder of other sound reads each frame's own. */
function fits(sound: SoundSetUp, frame: SoundFrame): boolean {
  if (sound.codec !== 'aac') return true
  return frame.sampleRate === sound.timescale && frame.channels === sound.channels
}

interface PlacedFrame {
  at: number
  frame: SoundFrame
  unit: PesUnit
  /** The first one that begins in its PES packet: the packet's time is its own. */
  isFirst: boolean
}

/** Whole frames in the order of the stream. Bytes that are none are passed over. */
function* findFrames(
  sound: SoundSetUp,
  { bytes, units, end }: GatheredSound,
): Generator<PlacedFrame> {
  let number = 0
  let stampedUnit = -1
  let isInStep = false
  for (let at = 0; at < bytes.length;) {
    while ((units[number + 1]?.at ?? Infinity) <= at) number++
    const unit = units[number]
    if (unit === undefined || unit.position >= end) return
    const frame = soundFrameAt(sound.codec, bytes, at)
    const isFound =
      frame !== undefined &&
      (isInStep || isConfirmed(sound, { at, frame }, { bytes, units, number }))
    if (!isFound) {
      isInStep = false
      at = nextStart(sound, at, units[number + 1]?.at ?? bytes.length)
      continue
    }
    if (at + frame.bytes > bytes.length) return
    yield { at, frame, unit, isFirst: stampedUnit !== number }
    stampedUnit = number
    isInStep = !isPositioned(sound.codec)
    at += frame.bytes
  }
}

function nextStart({ codec }: SoundSetUp, at: number, nextUnit: number): number {
  return isPositioned(codec) ? Math.max(nextUnit, at + 1) : at + 1
}

/** What looks like a frame is one where another follows, or its PES packet ends with it. */
function isConfirmed(
  { codec }: SoundSetUp,
  { at, frame }: { at: number; frame: SoundFrame },
  { bytes, units, number }: { bytes: Uint8Array; units: readonly PesUnit[]; number: number },
): boolean {
  const end = at + frame.bytes
  if (isPositioned(codec)) return units[number]?.at === at
  if (end === bytes.length || soundFrameAt(codec, bytes, end) !== undefined) return true
  return units[number]?.at === at && units[number + 1]?.at === end
}
