// Converts the gathered video of a segment to samples of fMP4 with times in the session.
import type { SampleRun } from '../../media-reader.ts'
import { parseFieldFormat } from '../../codec/video-parameters.ts'
import { missingSets, prefixOf } from '../../codec/parameter-sets.ts'
import { nalRole, splitNals } from '../../codec/nal-unit.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'
import { makeSampleRun } from '../../sample-run.ts'
import type { Sample } from '../../sample-run.ts'
import { DEFAULT_FRAME_SECONDS } from '../../timeline/timeline-rules.ts'
import { joinAccessUnits, LENGTH_BYTES, splitAccessUnits } from './access-units.ts'
import type { AccessUnit } from './access-units.ts'
import type { PesUnit } from '../packets/elementary-stream.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import type { SessionClock } from './session-clock.ts'

const LONE_FRAME_TICKS = DEFAULT_FRAME_SECONDS * PES_TIMESCALE
const MAX_PARAMETER_SETS = 64

export interface GatheredFrames {
  codec: VideoCodec
  bytes: Uint8Array
  units: readonly PesUnit[]
  /** Frames of PES packets that begin here or later are omitted. */
  end: number
  /** Whether the first frame can be decoded alone. */
  beginsWithKey: boolean
  /** Parameter sets in the init segment, as Annex B. */
  parameterSets: Uint8Array
  /** Parameter sets in force that the first frame does not have. */
  sets: readonly Uint8Array[]
}

/** The frames as one run; undefined without frames. */
export function frameRun(gathered: GatheredFrames, clock: SessionClock): SampleRun | undefined {
  const behind = gathered.units.find(({ position }) => position >= gathered.end)
  const bytes = gathered.bytes.subarray(0, behind?.at)
  const inForce = splitNals(gathered.parameterSets, MAX_PARAMETER_SETS)
  const sps = inForce.find((nal) => nalRole(gathered.codec, nal[0] ?? 0) === 'sps')
  const split = splitAccessUnits(bytes, {
    codec: gathered.codec,
    isDropped: (nal) => isInForce(gathered.codec, inForce, nal),
    fields: gathered.codec === 'h264' && sps ? parseFieldFormat(sps) : undefined,
  })
  const { timed, stepTicks } = timeFrames(split.units, gathered.units, clock)
  const last = timed.at(-1)
  if (last === undefined) return undefined
  const samples = timed.flatMap(({ frame, decodeTicks, presentationTicks }, i): Sample[] => {
    if (frame.sizeBytes === 0) return []
    const isKey = frame.isKey || (i === 0 && gathered.beginsWithKey)
    return [
      {
        offset: 0,
        sizeBytes: frame.sizeBytes,
        decodeTicks: Math.max(decodeTicks, clock.opensAtTicks),
        presentationTicks,
        isKey,
      },
    ]
  })
  const run = makeSampleRun(samples, {
    kind: 'video',
    timescale: PES_TIMESCALE,
    nextDecodeTicks: behind?.stamps
      ? clock.ticksAt(behind.stamps.dts)
      : last.decodeTicks + stepTicks,
  })
  if (run === undefined) return undefined
  const { offsets: _, ...rest } = run
  const skipped = split.units.length - timed.length
  const sets = missingSets(gathered.codec, gathered.sets, { recorded: inForce, own: [] })
  const prefix = prefixOf(sets, LENGTH_BYTES)
  rest.sizes[0] = (rest.sizes[0] ?? 0) + prefix.length
  const samplesBytes = joinAccessUnits(split, bytes, skipped)
  return {
    ...rest,
    bytes: prefix.length === 0 ? samplesBytes : Buffer.concat([prefix, samplesBytes]),
  }
}

/** Parameter sets of the init segment are omitted from samples; others stay. */
function isInForce(codec: VideoCodec, known: readonly Uint8Array[], nal: Uint8Array): boolean {
  const role = nalRole(codec, nal[0] ?? 0)
  if (role !== 'sps' && role !== 'parameters') return false
  return known.some((each) => Buffer.compare(each, nal) === 0)
}

interface TimedFrame {
  frame: AccessUnit
  decodeTicks: number
  presentationTicks: number
}

/**
 * The first frame that begins in a PES packet has its times; later ones follow at the last
 * distance. Frames before the first time are omitted.
 */
function timeFrames(
  frames: readonly AccessUnit[],
  units: readonly PesUnit[],
  clock: SessionClock,
): { timed: TimedFrame[]; stepTicks: number } {
  const timed: TimedFrame[] = []
  let number = 0
  let stampedUnit = -1
  let stepTicks = LONE_FRAME_TICKS
  for (const frame of frames) {
    while ((units[number + 1]?.at ?? Infinity) <= frame.at) number++
    const stamps = stampedUnit === number ? undefined : units[number]?.stamps
    stampedUnit = number
    const last = timed.at(-1)
    if (stamps !== undefined) {
      const decodeTicks = clock.ticksAt(stamps.dts)
      const distance = decodeTicks - (last?.decodeTicks ?? decodeTicks)
      if (distance > 0 && distance < PES_TIMESCALE) stepTicks = distance
      timed.push({ frame, decodeTicks, presentationTicks: clock.ticksAt(stamps.pts) })
    } else if (last !== undefined) {
      const decodeTicks = last.decodeTicks + stepTicks
      timed.push({ frame, decodeTicks, presentationTicks: last.presentationTicks + stepTicks })
    }
  }
  return { timed, stepTicks }
}
