// How far this visitor has watched each session, stored in this browser only.
import { parseSessionKey } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { createStoredEntries } from './stored-entries.ts'

export interface WatchedSession {
  positionSeconds: number
  /** Of a growing session, its length at that time. */
  durationSeconds: number
}

type Values = [positionSeconds: number, durationSeconds: number]

const entries = createStoredEntries({
  storageKey: 'aftercast.watched',
  limit: 200,
  isValid: (values): values is Values =>
    values.length === 2 && values.every((value) => Number.isFinite(value)),
})

/** Within the first seconds there is nothing to continue, and within the last ones nothing left. */
const FIRST_SECONDS = 15
const LAST_SECONDS = 5

/** The stored position; undefined if there is none, or if storage is off. `open` may throw. */
export function readWatched(
  session: SessionReference,
  open?: () => Storage,
): WatchedSession | undefined {
  const found = entries.find(session, open)
  return found && { positionSeconds: found[0], durationSeconds: found[1] }
}

/**
 * Stores the position. The start of a session is not stored, so that a visitor who only opens it
 * again can still continue.
 */
export function saveWatched(
  session: SessionReference,
  { positionSeconds, durationSeconds }: WatchedSession,
  open?: () => Storage,
): void {
  if (positionSeconds < FIRST_SECONDS) return
  entries.write(session, [Math.floor(positionSeconds), Math.floor(durationSeconds)], open)
}

/** The share of each session that was watched in part, 0 to 1, by `sessionKey`; read once. */
export function readWatchedShares(open?: () => Storage): ReadonlyMap<string, number> {
  const inPart = entries
    .read(open)
    .filter(([, position, duration]) => canContinueAt(position, duration))
  return new Map(inPart.map(([key, position, duration]) => [key, position / duration]))
}

export interface ContinuableSession extends WatchedSession {
  session: SessionReference
}

/** The sessions that a visitor may want to continue, the last one first; at most `limit`. */
export function readContinuable(limit: number, open?: () => Storage): ContinuableSession[] {
  const all = entries.read(open).toReversed()
  return all
    .flatMap(([key, positionSeconds, durationSeconds]) => {
      const session = parseSessionKey(key)
      if (!session || !canContinueAt(positionSeconds, durationSeconds)) return []
      return [{ session, positionSeconds, durationSeconds }]
    })
    .slice(0, limit)
}

/** Whether a visitor may want to continue there. */
export function canContinueAt(positionSeconds: number, durationSeconds: number): boolean {
  return positionSeconds >= FIRST_SECONDS && positionSeconds <= durationSeconds - LAST_SECONDS
}
