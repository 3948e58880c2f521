// Converts the 33-bit clock of PES packets to the timeline of the session, for one segment.
import { MAX_FORWARD_SECONDS } from '../../timeline/timeline-rules.ts'
import { PES_TIMESCALE, unwrapStamp } from '../packets/pes.ts'

export interface SessionClock {
  /** Earliest decode time: earlier times belong to another clock. */
  opensAtTicks: number
  /** Seconds in the session of a 33-bit stamp. */
  at(stamp: number | undefined): number | undefined
  /** Ticks in the session of a 33-bit stamp. */
  ticksAt(stamp: number): number
  /** Whether a time in seconds can belong to the segment. */
  isInside(seconds: number): boolean
}

export interface ClockOptions {
  /** Time on the recording's clock at which the session begins. */
  shiftTicks: number
  /** Start and end of the segment in the session. */
  startTicks: number
  endTicks: number
  /** Earlier samples are omitted: they precede a section with its own clock. */
  opensAtTicks: number
}

/** A clock for the packets of one segment. */
export function createSessionClock(options: ClockOptions): SessionClock {
  const { shiftTicks, startTicks, endTicks, opensAtTicks } = options
  const earliest = Math.max(
    startTicks / PES_TIMESCALE - MAX_FORWARD_SECONDS,
    (opensAtTicks - 1) / PES_TIMESCALE,
  )
  const latest = endTicks / PES_TIMESCALE + MAX_FORWARD_SECONDS
  const ticksAt = (stamp: number) => unwrapStamp(stamp - shiftTicks, startTicks)
  return {
    opensAtTicks,
    ticksAt,
    at: (stamp) => (stamp === undefined ? undefined : ticksAt(stamp) / PES_TIMESCALE),
    isInside: (seconds) => seconds >= earliest && seconds <= latest,
  }
}
