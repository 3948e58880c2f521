// Tags by which reverse proxies and CDNs can be purged: `Surrogate-Key` (Varnish, Fastly) and
// `Cache-Tag` (Cloudflare, Akamai).
import { createHash } from 'node:crypto'
import type { SessionReference } from '../../../shared/paths.ts'

const HASH_DIGITS = 16

/** Headers of what belongs to a streamer as a whole. The name is in NFC. */
export function streamerTags(streamer: string): Record<string, string> {
  return tagHeaders([streamerTag(streamer)])
}

/** Headers of every response of a session. Names are in NFC. */
export function sessionTags(session: SessionReference): Record<string, string> {
  return tagHeaders([sessionTag(session), streamerTag(session.streamer)])
}

/** Headers of the chat of a session, of which one user may be hidden. Names are in NFC. */
export function chatTags(session: SessionReference): Record<string, string> {
  const { streamer } = session
  const chats = [chatTag(streamer), chatTag(undefined)]
  return tagHeaders([sessionTag(session), streamerTag(streamer), ...chats])
}

/** The tag of all chats of a streamer, or of the site. The name is in NFC. */
export function chatTag(streamer: string | undefined): string {
  return tagOf('chat', streamer === undefined ? [] : [streamer])
}

/** The tag of what lists all names of the site: its sitemaps. */
export const SITE_TAG = tagOf('site', [])

/** Headers of what lists all names of the site. */
export function siteTags(): Record<string, string> {
  return tagHeaders([SITE_TAG])
}

/** The tag of all that belongs to a streamer. The name is in NFC. */
export function streamerTag(streamer: string): string {
  return tagOf('streamer', [streamer])
}

/** The tag of a session alone. Names are in NFC. */
export function sessionTag({ streamer, date, sessionId }: SessionReference): string {
  return tagOf('session', [streamer, date, sessionId])
}

/** A hash, because a name may contain what a header cannot, and be too long for one. */
function tagOf(kind: string, names: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex')
  return `${kind}-${hash.slice(0, HASH_DIGITS)}`
}

function tagHeaders(tags: readonly string[]): Record<string, string> {
  return { 'surrogate-key': tags.join(' '), 'cache-tag': tags.join(',') }
}
