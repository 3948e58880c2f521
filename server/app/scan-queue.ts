// Tracks how many recordings wait for their index, and for how long the queue has not been empty.
import type { ScanProgress } from '../library/catalog/scan/scan.ts'

/** The queue at one moment. */
export interface ScanQueue {
  recordings: number
  /** Time since the queue was last empty; 0 if it is empty. */
  ageMs: number
}

export interface ScanQueueTracker {
  update(this: void, progress: ScanProgress): void
  read(this: void): ScanQueue
}

/** @param now milliseconds of a monotonic clock */
export function createScanQueueTracker(now: () => number): ScanQueueTracker {
  let recordings = 0
  let sinceMs = 0
  return {
    update({ done, total }) {
      const waiting = Math.max(0, total - done)
      if (recordings === 0) sinceMs = now()
      recordings = waiting
    },
    read: () => ({ recordings, ageMs: recordings === 0 ? 0 : now() - sinceMs }),
  }
}
