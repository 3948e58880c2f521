// Selects recommended sessions: a random one of each streamer, in list order, with concurrent
// requests. The session that is played is selected only if there is no other.
import type { DetailsResponse, SessionItem, StreamerItem } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'
import { joinDetails } from '../../api/join-details.ts'
import type { DescribedSession } from '../../api/join-details.ts'

export interface RecommendSources {
  /** Rejects if the list cannot be loaded. */
  fetchStreamers(signal: AbortSignal): Promise<StreamerItem[]>
  fetchSessions(streamer: string, signal: AbortSignal): Promise<SessionItem[]>
  fetchDetails(streamer: string, signal: AbortSignal): Promise<DetailsResponse>
  /** A number from 0 (included) to 1 (excluded). */
  random(this: void): number
}

interface PickedSession extends SessionReference {
  /** `H:MM:SS`; absent while unknown. */
  duration: string | undefined
}
export type RecommendedSession = PickedSession & DescribedSession

/** The most items in the grid. */
const RECOMMENDED_LIMIT = 8
/** Concurrent requests; browsers allow six on HTTP/1.1, and the video needs some of them. */
const REQUEST_LIMIT = 4

/**
 * One random session of each streamer in list order, at most eight, except `current`. If there are
 * none: up to eight random sessions of the streamer of `current`, with repeats. Failed requests are
 * skipped; rejects only on abort.
 */
export async function recommendSessions(
  current: SessionReference,
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<RecommendedSession[]> {
  const others: RecommendSources = {
    ...sources,
    fetchSessions: async (streamer, left) =>
      withoutCurrent(current, streamer, await sources.fetchSessions(streamer, left)),
  }
  const streamers = await orNone(sources.fetchStreamers(signal))
  const found = await pickFromEach(streamers, others, signal)
  const picked = found.length > 0 ? found : await pickFromOne(current, sources, signal)
  return Promise.all(picked.map((session) => describe(session, sources, signal)))
}

/** Titles that arrive later would move the cards. */
const DETAILS_TIMEOUT_MS = 500

async function describe(
  session: PickedSession,
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<RecommendedSession> {
  const load = async (limited: AbortSignal) => {
    const { sessions } = await sources.fetchDetails(session.streamer, limited)
    return sessions
  }
  const details = await orNone(withTimeout(load, { timeoutMs: DETAILS_TIMEOUT_MS, signal }))
  signal.throwIfAborted()
  const [described = { ...session, isGrowing: false }] = joinDetails([session], details)
  return described
}

function withoutCurrent(
  current: SessionReference,
  streamer: string,
  sessions: SessionItem[],
): SessionItem[] {
  if (streamer !== current.streamer) return sessions
  const { date, sessionId } = current
  return sessions.filter((item) => item.date !== date || item.sessionId !== sessionId)
}

async function pickFromOne(
  current: SessionReference,
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<PickedSession[]> {
  const { streamer } = current
  const all = await orNone(sources.fetchSessions(streamer, signal))
  signal.throwIfAborted()
  const others = withoutCurrent(current, streamer, all)
  const sessions = others.length > 0 ? others : all
  return sessions.slice(0, RECOMMENDED_LIMIT).flatMap(() => pickFrom(streamer, sessions, sources))
}

/**
 * Sends requests ahead, but never more than the sessions still missing: if every streamer has a
 * session, no request is in vain.
 */
async function pickFromEach(
  streamers: StreamerItem[],
  sources: RecommendSources,
  signal: AbortSignal,
): Promise<PickedSession[]> {
  const found: PickedSession[] = []
  const pending: { streamer: string; sessions: Promise<SessionItem[]> }[] = []
  let requestedCount = 0
  while (found.length < RECOMMENDED_LIMIT) {
    signal.throwIfAborted()
    const limit = Math.min(REQUEST_LIMIT, RECOMMENDED_LIMIT - found.length)
    for (const { name } of streamers.slice(
      requestedCount,
      requestedCount + limit - pending.length,
    )) {
      pending.push({ streamer: name, sessions: orNone(sources.fetchSessions(name, signal)) })
      requestedCount += 1
    }
    const next = pending.shift()
    if (!next) break
    found.push(...pickFrom(next.streamer, await next.sessions, sources))
  }
  return found
}

function pickFrom(
  streamer: string,
  sessions: SessionItem[],
  { random }: RecommendSources,
): PickedSession[] {
  const session = sessions[Math.floor(random() * sessions.length)]
  return session ? [{ streamer, duration: undefined, ...session }] : []
}

/** The specification skips failed requests silently. */
function orNone<T>(list: Promise<T[]>): Promise<T[]> {
  return list.catch(() => [])
}
