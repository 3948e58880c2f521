// When something of a session is looked up again. Files and folders follow this one rule.

/**
 * How old the data may be. `cached`: for immutable URLs: recordings of any age, and folders as they
 * were listed a second ago. `recent`: a second, for playlists. `current`: looked up for this
 * request, because another process may have listed what this one has not seen.
 */
export type Freshness = 'cached' | 'recent' | 'current'

/** Minimum interval between `current` lookups of one session. */
export const CURRENT_EVERY_MS = 250

const RECENT_MS = 1000

/** Whether a lookup at this time is `recent`. Both times are of a monotonic clock. */
export function isRecent(lookedUpMs: number, nowMs: number): boolean {
  return nowMs - lookedUpMs < RECENT_MS
}
