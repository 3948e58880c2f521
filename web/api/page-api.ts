// Everything that the page asks of the server: lists and configuration as resources, the addresses of pictures and playlists.
import type { ConfigAnswer, SessionItem, StreamerItem } from '../../shared/contract.ts'
import {
  configApiPath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { NO_EXTRAS, parseConfig } from './parse-config.ts'
import { parseSessions, parseStreamers } from './parse-answers.ts'
import { Resource } from './resource.ts'
import { ResourceCache } from './resource-cache.ts'

export interface PageApi {
  /** Asked for once a visit. Never fails: without an answer there are no ads and no analytics. */
  config(): Resource<ConfigAnswer>
  streamers(): Resource<StreamerItem[]>
  sessions(streamer: string): Resource<SessionItem[]>
  streamerThumbnailUrl(streamer: string): string
  thumbnailUrl(session: SessionReference): string
  playlistUrl(session: SessionReference): string
}

/** A list that takes longer has failed. */
const LIST_TIMEOUT_MS = 30_000
/** Session lists kept for Back and for recommendations. */
const KEPT_SESSION_LISTS = 64

/** `base` is the origin of the API (`https://api.example`), or '' where it is the page's own. */
export function createPageApi(base: string): PageApi {
  const origin = base.replace(/\/+$/, '')
  const streamers = new Resource(async (signal) =>
    parseStreamers(await fetchJson(origin + streamersApiPath, signal)),
  )
  const sessions = new ResourceCache(KEPT_SESSION_LISTS, async (streamer, signal) =>
    parseSessions(await fetchJson(origin + sessionsApiPath(streamer), signal)),
  )
  const config = new Resource(
    (signal) =>
      fetchJson(origin + configApiPath, signal)
        .then((answer) => parseConfig(answer, origin))
        .catch(() => NO_EXTRAS),
    Infinity,
  )
  return {
    config: () => config,
    streamers: () => streamers,
    sessions: (streamer) => sessions.get(streamer),
    streamerThumbnailUrl: (streamer) => origin + streamerThumbnailApiPath(streamer),
    thumbnailUrl: (session) => origin + thumbnailApiPath(session),
    playlistUrl: (session) => origin + playlistApiPath(session),
  }
}

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const limit = AbortSignal.timeout(LIST_TIMEOUT_MS)
  const response = await fetch(url, { signal: AbortSignal.any([signal, limit]) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json()
}
