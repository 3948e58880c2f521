// The form in which operators name what they hide: `alice`, or `alice/2026-01-31/1001`.
import type { SessionReference } from './paths.ts'

/** A streamer or one session. */
export type NameToHide =
  | { kind: 'streamer'; streamer: string }
  | ({ kind: 'session' } & SessionReference)

/** Characters of the reason in the log. */
export const MAX_REASON_LENGTH = 500

/** Undefined for any other form. */
export function parseNameToHide(text: string): NameToHide | undefined {
  const [streamer, date, sessionId, ...rest] = text.split('/')
  if (streamer && date === undefined) return { kind: 'streamer', streamer }
  if (streamer && date && sessionId && rest.length === 0) {
    return { kind: 'session', streamer, date, sessionId }
  }
  return undefined
}
