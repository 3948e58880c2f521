// Sessions that visitors request before they are inspected: the scan inspects these first.
import type { Worker } from 'node:cluster'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { SessionReference } from '../../shared/paths.ts'
import { sessionKey } from '../../shared/paths.ts'

export type OnRequested = (session: SessionReference) => void

/** A session is reported once in this time, whatever the number of visitors. */
const INTERVAL_MS = 30_000
const MAX_SESSIONS = 1000

/** Message of a worker to the process that scans. */
const messageShape = z.object({
  requested: z.object({ streamer: z.string(), date: z.string(), sessionId: z.string() }),
})

/**
 * Calls `report` at most once per session and interval.
 *
 * @param now milliseconds of a monotonic clock
 */
export function limitRequests(
  report: OnRequested,
  now: () => number = () => performance.now(),
): OnRequested {
  const limits = { max: MAX_SESSIONS, ttl: INTERVAL_MS, ttlResolution: 0, perf: { now } }
  const reported = new LRUCache<string, true>(limits)
  return ({ streamer, date, sessionId }) => {
    const session = { streamer, date, sessionId }
    const key = sessionKey(session)
    if (reported.has(key)) return
    reported.set(key, true)
    report(session)
  }
}

/** For workers: reports requested sessions to the primary, which scans. */
export function reportToPrimary(worker: Worker): OnRequested {
  // Without a callback, a closed channel would emit an error that ends the process.
  return (session) => worker.process.send?.({ requested: session }, () => undefined)
}

/** The session that a worker's message reports, if it is one of these messages. */
export function readRequested(message: unknown): SessionReference | undefined {
  return messageShape.safeParse(message).data?.requested
}
