// How a session is named outside of the page's own code: in heads, feeds, sitemaps and embeds.
import type { SessionReference } from '../../../../shared/paths.ts'

/** The title of its sidecars, and its names. */
export function sessionTitle(session: SessionReference, title: string | undefined): string {
  const names = `${session.streamer} - ${session.date} - ${session.sessionId}`
  return title === undefined ? names : `${title} · ${names}`
}

/** For a session without a description. */
export function sessionDescription(
  { streamer, date }: Pick<SessionReference, 'streamer' | 'date'>,
  state: 'live' | 'recorded',
): string {
  return state === 'live'
    ? `${streamer} is live since ${date}.`
    : `${streamer} live on ${date}, recorded.`
}
