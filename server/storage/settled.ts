// When a recording counts as finished: once nobody has written to it for a while.
import type { FileStat } from './storage.ts'

/**
 * Whether the file has been still for `settleSeconds`, by its own time. A time in the future counts as still: the file
 * was not written to now.
 */
export function isSettled({ modifiedMs }: FileStat, settleSeconds: number, nowMs: number): boolean {
  const ageMs = nowMs - modifiedMs
  return ageMs < 0 || ageMs > settleSeconds * 1000
}
