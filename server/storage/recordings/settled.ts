// Decides when a recording counts as finished: when it has not changed for a while.
import type { FileStat } from './storage.ts'

/** Whether the file cannot change, or has not for `settleSeconds`. */
export function isSettled(stat: FileStat, settleSeconds: number, nowMs: number): boolean {
  return stat.isImmutable === true || isUnchanged(stat, settleSeconds, nowMs)
}

/**
 * Whether the file has not changed for `settleSeconds`, by its own time. A time in the future
 * counts as unchanged.
 */
export function isUnchanged(
  { modifiedMs }: FileStat,
  settleSeconds: number,
  nowMs: number,
): boolean {
  const ageMs = nowMs - modifiedMs
  return ageMs < 0 || ageMs > settleSeconds * 1000
}
