// The calls of the HTTP API: parameters, responses and errors of each. Paths are those of the
// routes; docs/behaviour.md, section 6, describes the calls in sentences.
import { promoPatterns } from '../../server/site/ads/house/promo-paths.ts'
import { outsidePatterns, pathPatterns } from '../../shared/paths.ts'
import type { Schema } from './schema-shape.ts'

/** Errors by status; `usage` is reported by commands only. */
export const errors = {
  400: { code: 'invalid', about: 'A parameter is malformed.' },
  403: { code: 'forbidden', about: 'A page of another origin calls the collector.' },
  404: { code: 'not_found', about: 'Unknown streamer, session or file.' },
  410: { code: 'gone', about: 'Hidden, or replaced while it was read.' },
  413: { code: 'invalid', about: 'The body is too large.' },
  415: { code: 'invalid', about: 'The body has another media type.' },
  422: { code: 'unplayable', about: 'The recording exists but cannot be played.' },
  429: { code: 'limited', about: 'Too many requests to the collector.' },
  500: { code: 'internal', about: 'Unexpected error.' },
  501: { code: 'unsupported', about: 'oEmbed in another format than JSON.' },
  502: { code: 'failed', about: 'Disk or upstream failed.' },
  503: { code: 'busy', about: 'Not ready yet, or too much work in progress.' },
} as const
export type ErrorStatus = keyof typeof errors

export const headers = {
  'Cache-Control': 'How long caches may use the response.',
  'Cache-Tag': 'Tags of streamer and session, separated by commas.',
  'Content-Range': 'The range of the bytes (RFC 9110 14.4).',
  ETag: 'For `If-None-Match`.',
  Location: 'The target of the ad.',
  'Retry-After': 'Seconds to wait.',
  'Surrogate-Key': 'The same tags, separated by spaces.',
  Vary: 'Request headers that select the response.',
} as const
type HeaderName = keyof typeof headers

interface Query {
  name: string
  about: string
  schema: Schema
  required?: true
}

export interface Operation {
  id: string
  method: 'get' | 'post'
  /** In the syntax of Fastify. */
  path: string
  about: string
  query?: Query[]
  /** Name of a schema, by media type; undefined for content that is not JSON. */
  content: Record<string, string | undefined>
  headers: HeaderName[]
  /** Other than 200, and errors with the content of 200. Without content there is no 200. */
  statuses: Readonly<Record<number, string>>
  /** Meaning of a 404 that is a page. */
  missingPage?: string
  errors: ErrorStatus[]
}

const json = (schema: string) => ({ 'application/json': schema })
const images = {
  'image/avif': undefined,
  'image/webp': undefined,
  'image/jpeg': undefined,
  'image/png': undefined,
}
const TAGS: HeaderName[] = ['Surrogate-Key', 'Cache-Tag']
const TEXT: HeaderName[] = ['Cache-Control', 'ETag', 'Vary']
const text: Schema = { type: 'string' }
const UNCHANGED = { 304: 'Unchanged since the ETag.' }
const ofSession: ErrorStatus[] = [400, 404, 410, 422]
const zone: Query = { name: 'zone', about: 'Zone of the ad slot.', schema: text, required: true }

function get(
  [id, path]: [id: string, path: string],
  about: string,
  rest: Partial<Operation> & Pick<Operation, 'content'>,
): Operation {
  return { id, method: 'get', path, about, headers: TEXT, errors: [], statuses: UNCHANGED, ...rest }
}

const lists: Operation[] = [
  get(['listStreamers', pathPatterns.streamers], 'Streamers with sessions, by name.', {
    content: json('streamersResponse'),
  }),
  get(['listSessions', pathPatterns.sessions], 'Sessions of a streamer, newest first.', {
    content: json('sessionsResponse'),
    headers: [...TEXT, ...TAGS],
    errors: [400, 404, 410],
  }),
  get(['getSession', pathPatterns.session], 'Text, chapters, tracks and neighbours of a session.', {
    content: json('sessionResponse'),
    headers: [...TEXT, ...TAGS],
    errors: ofSession,
  }),
  get(['getDetails', pathPatterns.details], 'Profile of a streamer, titles of its sessions.', {
    content: json('detailsResponse'),
    headers: [...TEXT, ...TAGS],
    errors: [400, 404, 410],
  }),
  get(['getAround', outsidePatterns.around], 'Sessions of other streamers at the same time.', {
    content: json('aroundResponse'),
    headers: [...TEXT, ...TAGS],
    errors: ofSession,
  }),
  get(['getConfig', pathPatterns.config], 'Public configuration of the page.', {
    content: json('publicConfig'),
  }),
]

const media: Operation[] = [
  get(['getStreamerThumbnail', pathPatterns.streamerThumbnail], 'Image, in a format of `Accept`.', {
    content: images,
    headers: [...TEXT, ...TAGS],
    errors: [400, 404, 410, 502],
  }),
  get(['getThumbnail', pathPatterns.thumbnail], 'Image, in a format of `Accept`.', {
    query: [{ name: 'frame', about: '`first`: the first frame.', schema: { enum: ['first'] } }],
    content: images,
    headers: [...TEXT, ...TAGS],
    errors: [400, 404, 410, 502],
  }),
  get(['getStoryboard', pathPatterns.storyboard], 'WebVTT file of thumbnails along the timeline.', {
    content: { 'text/vtt': undefined },
    headers: [...TEXT, ...TAGS],
    errors: [...ofSession, 502],
  }),
  get(
    ['getStoryboardSheet', outsidePatterns.storyboardFile],
    'A sheet that the storyboard names.',
    {
      content: { 'image/jpeg': undefined },
      headers: ['Cache-Control', 'ETag', ...TAGS],
      errors: [...ofSession, 502],
    },
  ),
  get(['getChat', outsidePatterns.chat], 'Version of the chat, and its messages per minute.', {
    content: json('chatIndexResponse'),
    headers: [...TEXT, ...TAGS],
    errors: [...ofSession, 502],
  }),
  get(['getChatBucket', outsidePatterns.chatBucket], 'Messages of a minute: `{bucket}.json`.', {
    content: json('chatBucketResponse'),
    headers: [...TEXT, ...TAGS],
    errors: [...ofSession, 502],
  }),
  get(['getChatEmotes', outsidePatterns.chatEmotes], 'The image with the emotes of a chat.', {
    content: { 'image/webp': undefined },
    headers: ['Cache-Control', 'ETag', ...TAGS],
    errors: [...ofSession, 502],
  }),
  get(['getPlaylist', pathPatterns.playlist], 'HLS playlist (RFC 8216).', {
    query: [
      { name: 'audio', about: 'Language of another audio: `de`, `en.2`.', schema: text },
      {
        name: 'quality',
        about: 'Id of a quality: `saver`, `audio`, `480p`; other: 404 `no_such_quality`.',
        schema: text,
      },
    ],
    content: { 'application/vnd.apple.mpegurl': undefined },
    headers: [...TEXT, ...TAGS],
    errors: [...ofSession, 502],
  }),
  get(
    ['getPlaylistFile', outsidePatterns.playlistFile],
    'What a playlist names; nothing else exists.',
    {
      content: {
        'video/mp2t': undefined,
        'video/mp4': undefined,
        'text/vtt': undefined,
        'application/vnd.apple.mpegurl': undefined,
        'application/octet-stream': undefined,
      },
      headers: ['Cache-Control', 'Content-Range', 'ETag', ...TAGS],
      statuses: {
        ...UNCHANGED,
        206: 'The range of `Range`, of a media segment.',
        416: 'The range is after the end.',
      },
      errors: [...ofSession, 502],
    },
  ),
  get(['getAudioFile', outsidePatterns.audioFile], 'The audio of a session as one file.', {
    content: { 'audio/mp4': undefined },
    headers: ['Cache-Control', 'Content-Range', 'ETag', ...TAGS],
    statuses: { ...UNCHANGED, 206: 'The range of `Range`.', 416: 'The range is after the end.' },
    errors: [...ofSession, 502],
  }),
  get(['getOriginalFile', outsidePatterns.originalFile], 'The recording of a session as it is.', {
    content: { 'application/octet-stream': undefined },
    headers: ['Cache-Control', 'Content-Range', 'ETag', ...TAGS],
    statuses: { ...UNCHANGED, 206: 'The range of `Range`.', 416: 'The range is after the end.' },
    errors: [...ofSession, 502],
  }),
]

const others: Operation[] = [
  {
    id: 'recordActivity',
    method: 'post',
    path: pathPatterns.activity,
    about: 'Events of a visitor: a list of `activityEvents`, as JSON or as `text/plain`.',
    content: {},
    headers: ['Cache-Control'],
    statuses: { 204: 'Accepted, or not counted because the visitor objects.' },
    errors: [400, 403, 413, 415, 429],
  },
  get(['getAdScript', outsidePatterns.adScript], 'The script of an ad host of the configuration.', {
    content: { 'text/javascript': undefined },
    headers: ['Cache-Control', 'ETag'],
    errors: [400, 404, 502],
  }),
  get(['getOembed', outsidePatterns.oembed], 'oEmbed 1.0 of a player page.', {
    query: [
      { name: 'url', about: 'URL of a player page.', schema: text, required: true },
      { name: 'format', about: '`json`.', schema: text },
      { name: 'maxwidth', about: 'In pixels.', schema: { type: 'integer', minimum: 1 } },
      { name: 'maxheight', about: 'In pixels.', schema: { type: 'integer', minimum: 1 } },
    ],
    content: json('oembedResponse'),
    headers: [...TEXT, ...TAGS],
    errors: [...ofSession, 501],
  }),
  get(['getEmbeddedPlayer', outsidePatterns.embedPage], 'A page with the player alone.', {
    query: [
      { name: 't', about: 'Start: `3723`, `1h2m3s`.', schema: text },
      { name: 'end', about: 'Moment to pause at.', schema: text },
    ],
    content: { 'text/html': undefined },
    headers: [...TEXT, ...TAGS],
    statuses: { ...UNCHANGED, 404: 'A note in the frame.', 410: 'A note.', 422: 'A note.' },
    errors: [400],
  }),
  get(['getFeed', outsidePatterns.siteFeed], 'RSS 2.0: the newest 50 sessions.', {
    content: { 'application/rss+xml': undefined },
  }),
  get(['getStreamerFeed', outsidePatterns.streamerFeed], 'RSS 2.0: the newest 50 of a streamer.', {
    content: { 'application/rss+xml': undefined },
    headers: [...TEXT, ...TAGS],
    errors: [400, 404, 410],
  }),
  get(['getSitemap', '/sitemap.xml'], 'All pages, or an index of sitemaps.', {
    content: { 'application/xml': undefined },
    headers: [...TEXT, ...TAGS],
  }),
  get(['getSitemapPart', '/sitemap-:page.xml'], 'A sitemap that the index names.', {
    content: { 'application/xml': undefined },
    headers: [...TEXT, ...TAGS],
    errors: [404],
  }),
  get(['getRobots', '/robots.txt'], 'Rules for crawlers.', {
    content: { 'text/plain': undefined },
    headers: ['Cache-Control'],
    statuses: {},
  }),
  ...['/ads.txt', '/app-ads.txt'].map((path) =>
    get([path === '/ads.txt' ? 'getAdsTxt' : 'getAppAdsTxt', path], 'Lines of `site.adsTxt`.', {
      content: { 'text/plain': undefined },
      missingPage: 'No lines are configured: the page of an unknown path.',
    }),
  ),
  ...['/healthz', '/readyz'].map((path) =>
    get(
      [path === '/healthz' ? 'getHealth' : 'getReadiness', path],
      path === '/healthz' ? 'The process is alive.' : 'The library was walked once.',
      { content: json('healthResponse'), headers: ['Cache-Control'], statuses: {} },
    ),
  ),
]

const houseAds: Operation[] = [
  ['chooseBanners', promoPatterns.serve, 'Banners for zones.', 'application/json'],
  ['getVast', promoPatterns.vast, 'VAST of a pre-roll, empty without one.', 'application/xml'],
  ['getAdFrame', promoPatterns.frame, 'A banner as a page.', 'text/html'],
].map(([id = '', path = '', about = '', type = '']) =>
  get([id, path], about, {
    query: [zone],
    content: { [type]: type === 'application/json' ? 'placements' : undefined },
    headers: ['Cache-Control'],
    statuses: {},
    errors: [400, 404],
  }),
)

const adEvents: Operation[] = [
  get(['followAd', promoPatterns.click], 'Counts a click.', {
    query: [zone],
    content: {},
    headers: ['Cache-Control', 'Location'],
    statuses: { 302: 'To the advertiser.' },
    errors: [400, 404],
  }),
  get(['countAdEvent', promoPatterns.event], 'Counts an event of a pre-roll.', {
    query: [zone],
    content: {},
    headers: ['Cache-Control'],
    statuses: { 204: 'Counted.' },
    errors: [400, 404],
  }),
  get(['getCreative', promoPatterns.media], 'The file of a creative.', {
    content: { 'image/*': undefined, 'video/*': undefined },
    headers: ['Cache-Control', 'Content-Range', 'ETag'],
    statuses: { ...UNCHANGED, 206: 'The range of `Range`.', 416: 'The range is after the end.' },
    errors: [404],
  }),
]

export const operations: Operation[] = [...lists, ...media, ...others, ...houseAds, ...adEvents]
