// All requests of the page: lists and configuration as resources, URLs of images and playlists.
import {
  detailsResponse,
  sessionResponse,
  sessionsResponse,
  streamersResponse,
} from '../../shared/contract.ts'
import type {
  ConfigResponse,
  DetailsResponse,
  SessionItem,
  SessionResponse,
  StreamerItem,
} from '../../shared/contract.ts'
import {
  activityApiPath,
  configApiPath,
  detailsApiPath,
  firstFrameApiPath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  storyboardApiPath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
  withoutTrailingSlashes,
} from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { parseShape } from '../../shared/shape.ts'
import { parsePageConfig } from './page-config.ts'
import { Resource } from './resource.ts'
import { ResourceCache } from './resource-cache.ts'

export interface PageApi {
  /** Loaded once per visit. Never fails: without a response there are no ads and no analytics. */
  config(): Resource<ConfigResponse>
  streamers(): Resource<StreamerItem[]>
  sessions(streamer: string): Resource<SessionItem[]>
  /** What the cards of a streamer's sessions show beside the list. */
  details(streamer: string): Resource<DetailsResponse>
  /** Title, chapters and time of a session. */
  session(session: SessionReference): Resource<SessionResponse>
  streamerThumbnailUrl(streamer: string): string
  thumbnailUrl(session: SessionReference): string
  /** The first frame where the document was served with it, else the thumbnail: one is loaded. */
  posterUrl(session: SessionReference): string
  storyboardUrl(session: SessionReference): string
  playlistUrl(session: SessionReference): string
  /** URL of the first-party analytics collector. */
  activityUrl(): string
}

const LIST_TIMEOUT_MS = 30_000
/** Session lists cached for Back and for recommendations. */
const MAX_SESSION_LISTS = 64
/** Details cached for Back. */
const MAX_DETAILS = 16

/**
 * @param url of the API: `https://api.example`, or '' for the page's own origin; with the base path
 *   of the server, if it has one
 */
export function createPageApi(url: string): PageApi {
  const base = withoutTrailingSlashes(url)
  const paintedPoster = document.querySelector('.site-stage image')?.getAttribute('href')
  const streamers = new Resource(async (signal) => {
    const body = await fetchJson(base + streamersApiPath, signal)
    return parseShape(streamersResponse, body).streamers
  })
  const sessions = new ResourceCache(MAX_SESSION_LISTS, async (streamer, signal) =>
    parseShape(sessionsResponse, await fetchJson(base + sessionsApiPath(streamer), signal)),
  )
  const details = new ResourceCache(MAX_DETAILS, async (streamer, signal) =>
    parseShape(detailsResponse, await fetchJson(base + detailsApiPath(streamer), signal)),
  )
  const sessionDetails = new ResourceCache(
    MAX_DETAILS,
    async (path, signal) => parseShape(sessionResponse, await fetchJson(base + path, signal)),
    // Without a duration, its server has not read the recording yet.
    { isComplete: ({ durationSeconds }) => durationSeconds !== undefined },
  )
  const config = new Resource(
    (signal) =>
      fetchJson(base + configApiPath, signal)
        .catch(() => undefined) // Parsed as a configuration without ads and analytics.
        .then((body) => parsePageConfig(body, base)),
    { maxAgeMs: Infinity },
  )
  return {
    config: () => config,
    streamers: () => streamers,
    sessions: (streamer) => sessions.get(streamer),
    details: (streamer) => details.get(streamer),
    session: (session) => sessionDetails.get(sessionApiPath(session)),
    streamerThumbnailUrl: (streamer) => base + streamerThumbnailApiPath(streamer),
    thumbnailUrl: (session) => base + thumbnailApiPath(session),
    posterUrl(session) {
      const url = base + firstFrameApiPath(session)
      return url === paintedPoster ? url : base + thumbnailApiPath(session)
    },
    storyboardUrl: (session) => base + storyboardApiPath(session),
    playlistUrl: (session) => base + playlistApiPath(session),
    activityUrl: () => base + activityApiPath,
  }
}

/** @throws if the response is not OK, with its status as the cause, or not JSON */
export async function fetchJson(
  url: string,
  signal: AbortSignal,
  cache: RequestCache = 'default',
): Promise<unknown> {
  const timeout = AbortSignal.timeout(LIST_TIMEOUT_MS)
  const response = await fetch(url, { signal: AbortSignal.any([signal, timeout]), cache })
  if (!response.ok) throw new Error(url, { cause: response.status })
  return response.json()
}
