// The moment of another session at the same time. Pure.
import type { SessionAround } from './use-around.ts'

type Timed = Pick<SessionAround, 'offsetSeconds' | 'durationSeconds'>

/** The positions of this session between which both were recorded. */
export function sharedTime(
  { offsetSeconds, durationSeconds }: Timed,
  ownSeconds: number,
): { from: number; to: number } {
  return {
    from: Math.max(0, offsetSeconds),
    to: Math.min(ownSeconds, offsetSeconds + durationSeconds),
  }
}

/** The position in the other session, in whole seconds: the nearest one that both have. */
export function momentIn(
  { offsetSeconds }: Timed,
  { from, to }: ReturnType<typeof sharedTime>,
  seconds: number,
): number {
  // At the end itself, there is nothing left to play.
  return Math.floor(Math.max(from, Math.min(seconds, to - 1)) - offsetSeconds)
}
