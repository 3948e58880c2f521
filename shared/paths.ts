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
  return `/p/${sessionPart(session)}`
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
  return `/api/thumbnail/${sessionPart(session)}`
}

/** Path of a session's HLS playlist. */
export function playlistApiPath(session: SessionReference): string {
  return `/api/video/${sessionPart(session)}/playlist.m3u8`
}

/** Path of the call that tells the page what it needs to know: ads, analytics. */
export const configApiPath = '/api/config'

/** Path of the first-party collector. */
export const activityApiPath = '/api/activity'

/** Path of the ad script of one configured host. */
export function adScriptApiPath(adHost: string): string {
  return `/api/proxy-ad/${encodeURIComponent(adHost)}/ad-provider.js`
}

function sessionPart({ streamer, date, sessionId }: SessionReference): string {
  return [streamer, date, sessionId].map(encodeURIComponent).join('/')
}
