// The paths of the API and of the page, built in one place for both sides.

/** What names one session everywhere: in URLs, in the catalog, on the page. */
export interface SessionReference {
  streamer: string
  date: string
  sessionId: string
}

/** Path of the page that lists a streamer's sessions. */
export function sessionsPagePath(streamer: string): string {
  return `/s/${encodeURIComponent(streamer)}`
}

/** Path of a session's player page. */
export function playerPagePath(session: SessionReference): string {
  return `/p/${sessionKey(session)}`
}

/** Path of the streamers call. */
export const streamersApiPath = '/api/streamers'

/** Path of the call that answers a streamer's sessions. */
export function sessionsApiPath(streamer: string): string {
  return `/api/sessions/${encodeURIComponent(streamer)}`
}

/** Path of a streamer's picture. */
export function streamerThumbnailApiPath(streamer: string): string {
  return `/api/thumbnail-streamer/${encodeURIComponent(streamer)}`
}

/** Path of a session's picture. */
export function thumbnailApiPath(session: SessionReference): string {
  return `/api/thumbnail/${sessionKey(session)}`
}

/** Path of a session's HLS playlist. */
export function playlistApiPath(session: SessionReference): string {
  return `/api/video/${sessionKey(session)}/playlist.m3u8`
}

/** Path of the call that tells the page what it needs to know: ads, analytics. */
export const configApiPath = '/api/config'

/** Path of the first-party collector. */
export const activityApiPath = '/api/activity'

/** Path of the ad script of one configured host. */
export function adScriptApiPath(adHost: string): string {
  return `/api/proxy-ad/${encodeURIComponent(adHost)}/ad-provider.js`
}

/** A session as one text, each name percent-encoded: `alice/2026-01-31/late%20night`. */
export function sessionKey({ streamer, date, sessionId }: SessionReference): string {
  return [streamer, date, sessionId].map(encodeURIComponent).join('/')
}

/** The session that a key names; undefined where the text is no key. */
export function parseSessionKey(key: string): SessionReference | undefined {
  const names = parseNames(key)
  const [streamer, date, sessionId] = names ?? []
  if (names?.length !== 3 || !streamer || !date || !sessionId) return undefined
  return { streamer, date, sessionId }
}

/** The names between the slashes of a path, each decoded once; undefined where the encoding is malformed. */
export function parseNames(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}
