// The choice of recommended sessions: one at random from each streamer in turn, exactly as if asked one after another.
import type { SessionItem, StreamerItem } from '../../shared/contract.ts'
import type { SessionReference } from '../../shared/paths.ts'

export interface RecommendSources {
  /** Rejects where the list cannot be had. */
  fetchStreamers(signal: AbortSignal): Promise<StreamerItem[]>
  fetchSessions(streamer: string, signal: AbortSignal): Promise<SessionItem[]>
  /** A number from 0 (included) to 1 (excluded). */
  random(this: void): number
}

/** The most items in the grid. */
const RECOMMENDED_LIMIT = 8
/** Requests side by side; browsers allow six on HTTP/1.1, and the video needs some of them. */
const REQUEST_LIMIT = 4

/**
 * One random session of each streamer in the order of the list, eight at most. Where no streamer gives any: up to
 * eight random sessions of `current`, repeats possible. What cannot be fetched is skipped; rejects only when aborted.
 */
export async function recommendSessions(
  current: string,
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<SessionReference[]> {
  const names = await orNone(sources.fetchStreamers(signal))
  const found = await pickFromEach(names, sources, signal)
  if (found.length > 0) return found
  const sessions = await orNone(sources.fetchSessions(current, signal))
  signal.throwIfAborted()
  return sessions.slice(0, RECOMMENDED_LIMIT).flatMap(() => pickFrom(current, sessions, sources))
}

/**
 * Asks ahead, but never for more than could still be wanted if every request found something: where none fails and
 * none is empty, not one request is made in vain.
 */
async function pickFromEach(
  streamers: StreamerItem[],
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<SessionReference[]> {
  const found: SessionReference[] = []
  const asked: { streamer: string; sessions: Promise<SessionItem[]> }[] = []
  let askedCount = 0
  while (found.length < RECOMMENDED_LIMIT) {
    signal.throwIfAborted()
    const wanted = Math.min(REQUEST_LIMIT, RECOMMENDED_LIMIT - found.length)
    for (const { name } of streamers.slice(askedCount, askedCount + wanted - asked.length)) {
      asked.push({ streamer: name, sessions: orNone(sources.fetchSessions(name, signal)) })
      askedCount += 1
    }
    const next = asked.shift()
    if (!next) break
    found.push(...pickFrom(next.streamer, await next.sessions, sources))
  }
  return found
}

function pickFrom(
  streamer: string,
  sessions: SessionItem[],
  { random }: RecommendSources,
): SessionReference[] {
  if (sessions.length === 0) return []
  const session = sessions[Math.floor(random() * sessions.length)]
  return session ? [{ streamer, date: session.date, sessionId: session.sessionId }] : []
}

/** A failed request is an empty list here: the specification skips it without a word. */
function orNone<T>(list: Promise<T[]>): Promise<T[]> {
  return list.catch(() => [])
}
