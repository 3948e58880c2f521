// The forms in which operators name what they hide: `alice`, `alice/2026-01-31/1001`, or the URL of
// a page.
import { parseNames } from './paths.ts'
import type { SessionReference } from './paths.ts'

/** A streamer or one session. */
export type NameToHide =
  | { kind: 'streamer'; streamer: string }
  | ({ kind: 'session' } & SessionReference)

/** A user of chats, of one streamer or of all. */
export interface ChatUserToHide {
  kind: 'chat-user'
  user: string
  streamer?: string
}

/** Characters of the reason in the log. */
export const MAX_REASON_LENGTH = 500

/** Longer than any name or URL of a page. */
const MAX_TEXT_LENGTH = 4096

/** Undefined for any other form. */
export function parseNameToHide(text: string): NameToHide | undefined {
  const trimmed = text.trim()
  if (trimmed.length > MAX_TEXT_LENGTH) return undefined
  return /^https?:/i.test(trimmed) ? nameOfPage(trimmed) : nameOf(trimmed.split('/'))
}

/** `/s/alice`, `/p/alice/2026-01-31/1001`, `/w/…` or `/embed/…`, maybe below a base path. */
function nameOfPage(text: string): NameToHide | undefined {
  const names = URL.canParse(text)
    ? parseNames(new URL(text).pathname.replace(/\/$/, ''))
    : undefined
  if (names === undefined) return undefined
  if (names.at(-2) === 's') return nameOf(names.slice(-1))
  return ['p', 'w', 'embed'].includes(names.at(-4) ?? '') ? nameOf(names.slice(-3)) : undefined
}

function nameOf(names: readonly string[]): NameToHide | undefined {
  const [streamer, date, sessionId, ...rest] = names
  if (streamer && date === undefined) return { kind: 'streamer', streamer }
  if (streamer && date && sessionId && rest.length === 0) {
    return { kind: 'session', streamer, date, sessionId }
  }
  return undefined
}
