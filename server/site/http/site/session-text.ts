// How a session is named and dated outside of the page's own code: in heads, feeds, sitemaps and
// embeds.
import { extname } from 'node:path'
import type { SessionReference } from '../../../../shared/paths.ts'
import { sessionDay } from '../../../../shared/session-day.ts'

/** The title of its sidecars, and its names. */
export function sessionTitle(session: SessionReference, title: string | undefined): string {
  const names = `${session.streamer} - ${session.date} - ${session.sessionId}`
  return title === undefined ? names : `${title} · ${names}`
}

/**
 * Under which its only recording is saved, which may be in a folder. Undefined for that of a
 * recorder's playlist, which consists of several files.
 */
export function originalFileName(
  sessionId: string,
  parts: readonly { path: string }[],
): string | undefined {
  const ending = extname(parts[0]?.path ?? '')
  return ending === '' ? undefined : sessionId + ending
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

interface DatedSession extends Pick<SessionReference, 'date'> {
  /** Start in milliseconds since 1970, if it is known. */
  startMs?: number | undefined
}

/**
 * The start of the session, else midnight (UTC) of its date, in milliseconds since 1970; undefined
 * if its date is not a day of the calendar.
 */
export function publishedMs({ date, startMs }: DatedSession): number | undefined {
  if (startMs !== undefined) return startMs
  const day = sessionDay(date)
  return day === undefined ? undefined : Date.parse(day)
}

/** ISO 8601 with zone and without milliseconds: `2026-01-31T20:15:00Z`. */
export function formatDateTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}
