// Brings the 33-bit clock of PES packets to the session's timeline, for the packets of one segment.
import { MAX_FORWARD_SECONDS } from '../../timeline/timeline-rules.ts'
import { PES_TIMESCALE, unwrapStamp } from '../packets/pes.ts'

export interface SessionClock {
  /** Nothing is decoded before: what went before on another clock has its own times up to here. */
  opensAtTicks: number
  /** Seconds on the session's timeline of a 33-bit stamp. */
  at(stamp: number | undefined): number | undefined
  /** Ticks on the session's timeline of a 33-bit stamp. */
  ticksAt(stamp: number): number
  /** Whether a time in seconds can belong to the segment. */
  isInside(seconds: number): boolean
}

export interface ClockOptions {
  /** Time on the recording's clock at which the session begins. */
  shiftTicks: number
  /** Where the segment begins and ends on the session's timeline. */
  startTicks: number
  endTicks: number
  /** What is earlier is left out: the beginning of a section whose clock is its own. */
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
