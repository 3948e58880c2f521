// The paths of the page and of the API, for both sides.

/** The names that identify a session: in URLs, in the catalog, on the page. */
export interface SessionReference {
  streamer: string
  date: string
  sessionId: string
}

/** All paths of the API begin with it. */
export const apiPrefix = '/api/'

const session = ':streamer/:date/:sessionId'

/** Route patterns, in the syntax of Fastify and React Router. */
export const pathPatterns = {
  streamersPage: '/',
  sessionsPage: '/s/:streamer',
  playerPage: `/p/${session}`,
  /** A session with others at the same time beside it: `?with=`. */
  watchPage: `/w/${session}`,
  streamers: `${apiPrefix}streamers`,
  sessions: `${apiPrefix}sessions/:streamer`,
  streamerThumbnail: `${apiPrefix}thumbnail-streamer/:streamer`,
  thumbnail: `${apiPrefix}thumbnail/${session}`,
  playlist: `${apiPrefix}video/${session}/playlist.m3u8`,
  storyboard: `${apiPrefix}storyboard/${session}/storyboard.vtt`,
  session: `${apiPrefix}session/${session}`,
  details: `${apiPrefix}details/:streamer`,
  config: `${apiPrefix}config`,
  activity: `${apiPrefix}activity`,
} as const

/** Patterns for other sites, for programs, and of URLs in responses; the page has none of them. */
export const outsidePatterns = {
  /** What a playlist references: init and media segments, keys, renditions. */
  playlistFile: `${apiPrefix}video/${session}/:version/:file`,
  /** A sheet of tiles that a storyboard references. */
  storyboardFile: `${apiPrefix}storyboard/${session}/:file`,
  around: `${apiPrefix}around/${session}`,
  adScript: `${apiPrefix}proxy-ad/:adHost/ad-provider.js`,
  /** The player alone. */
  embedPage: `/embed/${session}`,
  siteFeed: '/feed.xml',
  streamerFeed: '/s/:streamer/feed.xml',
  /** The audio of a session as one file. */
  audioFile: `${apiPrefix}audio/${session}/:file`,
  /** The recording of a session, as it is. */
  originalFile: `${apiPrefix}original/${session}/:file`,
  oembed: '/oembed',
  /** The page gets the URL of the index from `/api/session`; buckets are relative to it. */
  chat: `${apiPrefix}chat/${session}/index.json`,
  chatBucket: `${apiPrefix}chat/${session}/:version/:file`,
  chatEmotes: `${apiPrefix}chat/${session}/:version/emotes.webp`,
} as const

/** Path of the page that lists a streamer's sessions. */
export function sessionsPagePath(streamer: string): string {
  return formatPath(pathPatterns.sessionsPage, { streamer })
}

/** Path of a session's player page. */
export function playerPagePath(reference: SessionReference): string {
  return formatPath(pathPatterns.playerPage, { ...reference })
}

/** Path of a session's page with others at the same time. */
export function watchPagePath(reference: SessionReference): string {
  return formatPath(pathPatterns.watchPage, { ...reference })
}

/** Path of the page with a session's player alone. */
export function embedPagePath(reference: SessionReference): string {
  return formatPath(outsidePatterns.embedPage, { ...reference })
}

/** Path of the feed of a streamer's sessions. */
export function streamerFeedPath(streamer: string): string {
  return formatPath(outsidePatterns.streamerFeed, { streamer })
}

/** Path of the file of this name with the audio of a session. */
export function audioFilePath(reference: SessionReference, file: string): string {
  return formatPath(outsidePatterns.audioFile, { ...reference, file })
}

/** Path of the recording of a session, which is saved under the name `file`. */
export function originalFilePath(reference: SessionReference, file: string): string {
  return formatPath(outsidePatterns.originalFile, { ...reference, file })
}

/** Path of the list of streamers. */
export const streamersApiPath = pathPatterns.streamers

/** Path of the list of a streamer's sessions. */
export function sessionsApiPath(streamer: string): string {
  return formatPath(pathPatterns.sessions, { streamer })
}

/** Path of a streamer's thumbnail. */
export function streamerThumbnailApiPath(streamer: string): string {
  return formatPath(pathPatterns.streamerThumbnail, { streamer })
}

/** Path of a session's thumbnail. */
export function thumbnailApiPath(reference: SessionReference): string {
  return formatPath(pathPatterns.thumbnail, { ...reference })
}

/** Path of the image of a session's first frame, or of its thumbnail if there is no such image. */
export function firstFrameApiPath(reference: SessionReference): string {
  return `${thumbnailApiPath(reference)}?frame=first`
}

/** Path of a session's HLS playlist. */
export function playlistApiPath(reference: SessionReference): string {
  return formatPath(pathPatterns.playlist, { ...reference })
}

/** Path of a file that a session's playlist references. */
export function playlistFileApiPath(
  reference: SessionReference,
  { version, file }: { version: string; file: string },
): string {
  return formatPath(outsidePatterns.playlistFile, { ...reference, version, file })
}

/** Path of a session's storyboard, a WebVTT file. */
export function storyboardApiPath(reference: SessionReference): string {
  return formatPath(pathPatterns.storyboard, { ...reference })
}

/** Path of the index of a session's chat. */
export function chatApiPath(reference: SessionReference): string {
  return formatPath(outsidePatterns.chat, { ...reference })
}

/** Path of a session's details: title, chapters, tracks. */
export function sessionApiPath(reference: SessionReference): string {
  return formatPath(pathPatterns.session, { ...reference })
}

/** Path of the sessions of other streamers at the same time. */
export function aroundApiPath(reference: SessionReference): string {
  return formatPath(outsidePatterns.around, { ...reference })
}

/** Path of a streamer's details: display name, titles of sessions. */
export function detailsApiPath(streamer: string): string {
  return formatPath(pathPatterns.details, { streamer })
}

/** Path of the page's configuration: ads and analytics. */
export const configApiPath = pathPatterns.config

/** Path of the first-party analytics collector. */
export const activityApiPath = pathPatterns.activity

/** Path of the ad script of one configured host. */
export function adScriptApiPath(adHost: string): string {
  return formatPath(outsidePatterns.adScript, { adHost })
}

/** The path that matches a pattern with these names, each percent-encoded. */
export function formatPath(pattern: string, names: Readonly<Record<string, string>>): string {
  return pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
}

/** A session as one string, each name percent-encoded: `alice/2026-01-31/late%20night`. */
export function sessionKey(reference: SessionReference): string {
  return formatPath(session, { ...reference })
}

/** The session that a key identifies; undefined if the string is not a key. */
export function parseSessionKey(key: string): SessionReference | undefined {
  const names = parseNames(key)
  const [streamer, date, sessionId] = names ?? []
  if (names?.length !== 3 || !streamer || !date || !sessionId) return undefined
  return { streamer, date, sessionId }
}

/** The session of a page that is about one, also below a base path; undefined for other pages. */
export function parseSessionPath(path: string): SessionReference | undefined {
  return parseSessionKey(path.split('/').slice(-3).join('/'))
}

/** The segments of a path, each decoded once; undefined if the encoding is malformed. */
export function parseNames(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/** Without the slashes at its end. A regular expression for them would take quadratic time. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
