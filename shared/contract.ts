// The JSON that crosses the wire, in both directions. Server, page and tests use the same shapes.
import { EVENTS_PER_REQUEST, ITEMS_PER_EVENT, MAX_EVENT_STRING_LENGTH } from './limits.ts'
import {
  amount,
  boolean,
  count,
  list,
  literal,
  nonEmptyString,
  object,
  optional,
  record,
  shortString,
  string,
  union,
  withDefault,
} from './shape.ts'
import type { Shaped } from './shape.ts'

/** Response of GET /api/streamers. */
export const streamersResponse = object({
  streamers: list(object({ name: string, recording_count: count })),
})
export type StreamersResponse = Shaped<typeof streamersResponse>
export type StreamerItem = StreamersResponse['streamers'][number]

/** Response of GET /api/sessions/{streamer}. */
export const sessionsResponse = list(
  object({
    date: string,
    sessionId: string,
    /** `H:MM:SS`; absent while unknown. */
    duration: optional(string),
  }),
)
export type SessionsResponse = Shaped<typeof sessionsResponse>
export type SessionItem = SessionsResponse[number]

/** What the sidecars of a session contain for lists and pages: untrusted text, never HTML. */
export const sessionTextFields = {
  title: optional(string),
  /** What is played: a game, or a category of the recorder's platform. */
  game: optional(string),
}
export const sessionText = object(sessionTextFields)
export type SessionText = Shaped<typeof sessionText>

/** Something that another call returns. */
const linked = optional(object({ url: string }))

/** A session beside another one, as a link to it needs. */
const neighbour = object({ date: string, sessionId: string, title: optional(string) })

/** Response of GET /api/session/{streamer}/{date}/{sessionId}. */
export const sessionResponse = object({
  ...sessionTextFields,
  /** Untrusted text, as all titles, labels and descriptions; never HTML. */
  description: optional(string),
  /** ISO 8601 with zone. */
  startTime: optional(string),
  /** Sidecars, a recorder's playlist, or a time in a name. */
  startTimeFrom: optional(literal('metadata', 'playlist', 'path')),
  /** Absent while unknown; then the tracks are unknown, too. */
  durationSeconds: optional(amount),
  growing: boolean,
  /** In order of their starts. */
  chapters: list(
    object({ startSeconds: amount, endSeconds: optional(amount), title: nonEmptyString }),
  ),
  /** Absent while the start or the duration is unknown. `url` is a path of the API. */
  around: linked,
  tracks: object({
    audio: list(object({ label: string, language: optional(string) })),
    /** `url` is a WebVTT file with all cues, as a path of the API. */
    subtitles: list(object({ label: string, language: optional(string), url: string })),
  }),
  /** Codec (RFC 6381) and upright size of the original; absent without video. */
  video: optional(object({ codec: string, width: count, height: count })),
  /** In the order of the menu, the original first; none until they are known. */
  qualities: withDefault(
    list(
      object({
        id: nonEmptyString,
        label: nonEmptyString,
        /** Average bits per second, estimated. */
        bandwidth: count,
        /** As in RFC 8216 4.3.4.2. */
        codecs: string,
        /** Between two pictures of a quality that has only key frames. */
        keyFrameSeconds: optional(amount),
      }),
    ),
    [],
  ),
  /** Absent without video. `url` is a WebVTT file of thumbnails, as a path of the API. */
  storyboard: linked,
  /** Absent without a chat. `url` is its index, as a path of the API. */
  chat: linked,
  /** Absent unless `page.download` offers it. `url` is the recording, as a path of the API. */
  download: linked,
  /** The next older and the next newer session of the streamer. */
  previous: optional(neighbour),
  next: optional(neighbour),
})
export type SessionResponse = Shaped<typeof sessionResponse>

/** Response of GET /api/chat/{streamer}/{date}/{sessionId}/index.json. */
export const chatIndexResponse = object({
  /** In the path of the buckets, which are next to the index: `{version}/{bucket}.json`. */
  version: string,
  bucketSeconds: count,
  /** Messages in each bucket, from the start of the session on. */
  counts: list(count),
  total: count,
  /** More messages may follow. */
  growing: boolean,
  /** Words that pictures replace, in one image: `{version}/emotes.webp`, next to the index. */
  emotes: optional(
    object({
      version: string,
      /** Of the image, in pixels. */
      width: count,
      /** Of each picture. */
      height: count,
      /** Where they are in the image. */
      list: list(object({ name: string, x: count, y: count, width: count })),
    }),
  ),
})
export type ChatIndexResponse = Shaped<typeof chatIndexResponse>

/** Response of GET /api/chat/{streamer}/{date}/{sessionId}/{version}/{bucket}.json. */
export const chatBucketResponse = object({
  /** In order of their times. */
  messages: list(
    object({
      /** Seconds on the timeline of the session. */
      t: amount,
      user: string,
      /** `#rrggbb` */
      color: optional(string),
      /** Plain text, with emotes by their names. */
      text: string,
      /** Absent for a message of the chat. */
      kind: optional(literal('paid', 'member', 'raid', 'system')),
      badges: optional(list(string)),
    }),
  ),
})

/** Response of GET /api/details/{streamer}: what cards show beside the lists. */
export const detailsResponse = object({
  displayName: optional(string),
  description: optional(string),
  /** Path of the API. */
  avatarUrl: optional(string),
  /** `url` is absolute, http or https. */
  links: optional(list(object({ label: string, url: string }))),
  /** In the order of the list of sessions. */
  sessions: list(
    object({
      date: string,
      sessionId: string,
      ...sessionTextFields,
      startTime: optional(string),
      growing: optional(boolean),
    }),
  ),
})
export type DetailsResponse = Shaped<typeof detailsResponse>

/** Response with a status of 400 or more. */
export const errorResponse = object({
  error: object({
    code: string,
    message: string,
    /** Code of the reason, beside the code `unplayable`. */
    reason: optional(string),
  }),
})
export type ErrorResponse = Shaped<typeof errorResponse>

/** Zone ids; a slot without one is not rendered. */
const adZones = object({
  /** Header, sidebar, footer. */
  banner: optional(nonEmptyString),
  /** Blocks in lists. */
  inline: optional(nonEmptyString),
  /** Pre-roll. */
  video: optional(nonEmptyString),
})

const adsConfig = union(
  object({ provider: literal('none') }),
  object({
    /** `house`: the site's own creatives, over the same protocol, from URLs of this server. */
    provider: literal('house', 'network'),
    /** Path of the ad script on this server; absent: no script, so no banners. */
    scriptPath: optional(nonEmptyString),
    /** The start of the class of every `ins` placeholder. */
    insClass: string,
    /** VAST URL with `{zone}`, a path if it is on this server; absent: no pre-roll. */
    vastUrl: optional(nonEmptyString),
    zones: withDefault(adZones, {}),
    /** What fills a block: an embedded frame, or any creative. */
    fill: withDefault(literal('frame', 'creative'), 'frame'),
  }),
)
export type AdsConfig = Shaped<typeof adsConfig>

const consent = literal('granted', 'denied')

export const analyticsConfig = object({
  firstParty: withDefault(boolean, false),
  /** Google Analytics 4: measurement id, and the consent defaults for gtag. */
  ga4: optional(
    object({
      measurementId: string,
      consent: withDefault(record(withDefault(consent, 'denied')), {}),
    }),
  ),
  /** Plausible: script URL and site. */
  plausible: optional(object({ scriptUrl: string, domain: string })),
  /** Umami: script URL and website id. */
  umami: optional(object({ scriptUrl: string, websiteId: string })),
})
export type AnalyticsConfig = Shaped<typeof analyticsConfig>

/** Without a usable configuration the page has no ads and no analytics. */
export const noExtras: { ads: AdsConfig; analytics: AnalyticsConfig } = {
  ads: { provider: 'none' },
  analytics: { firstParty: false },
}

/** What the page uses of GET /api/config. A part of another shape is switched off. */
export const configResponse = withDefault(
  object({
    ads: withDefault(adsConfig, noExtras.ads),
    analytics: withDefault(analyticsConfig, noExtras.analytics),
  }),
  noExtras,
)
export type ConfigResponse = Shaped<typeof configResponse>

/** Response of GET /api/config. The page has name and contact in its HTML. */
export interface PublicConfig extends ConfigResponse {
  site: { name: string; contactUrl?: string | undefined }
}

const text = shortString(MAX_EVENT_STRING_LENGTH)

/**
 * One action of a visitor, for the first-party collector. An item is a streamer's name, or the key
 * of a session (paths.ts).
 */
const activityEvent = union(
  object({ name: literal('page_view'), path: text, title: text }),
  object({
    name: literal('view_item_list'),
    list: literal('streamers', 'sessions'),
    items: list(text, ITEMS_PER_EVENT),
  }),
  object({
    name: literal('select_item'),
    list: literal('streamers', 'sessions', 'recommended'),
    item: text,
  }),
  object({ name: literal('begin_video'), streamer: text, date: text, sessionId: text }),
  /** House ads: shown, clicked, and the progress of a pre-roll. */
  object({
    name: literal(
      'ad_impression',
      'ad_click',
      'ad_start',
      'ad_first_quartile',
      'ad_midpoint',
      'ad_third_quartile',
      'ad_complete',
      'ad_skip',
    ),
    creative: text,
    zone: text,
  }),
  /** What a player has done since its last report: nothing about the visitor or the session. */
  object({
    name: literal('playback'),
    /** Time from the click to the first frame, in the first report after it. */
    startupSeconds: optional(amount),
    /** 1 if the visitor left before the first frame. */
    abandonedStarts: count,
    playedSeconds: amount,
    /** Interruptions for lack of data, other than after a seek. */
    stalls: count,
    stalledSeconds: amount,
    /** Failures after which the player retries, or gives up. */
    networkErrors: count,
    mediaErrors: count,
    otherErrors: count,
  }),
  /** A pre-roll that failed, with its code (`vast-error-codes.ts`); others are accepted. */
  object({ name: literal('vast_error'), code: count }),
)
export type ActivityEvent = Shaped<typeof activityEvent>
/** Events that only the metrics count. */
export type QualityEvent = Extract<ActivityEvent, { name: 'playback' | 'vast_error' }>
/** Events with a counter of their own per day. */
export type CountedEvent = Exclude<ActivityEvent, QualityEvent>

/** Body of POST /api/activity. */
export const activityEvents = list(activityEvent, EVENTS_PER_REQUEST)
