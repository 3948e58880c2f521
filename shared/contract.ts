// Shapes of what the API answers (CONTRACT of both sides). The page imports the types alone; the server checks with the schemas.
import { z } from 'zod'
import { EVENTS_PER_REQUEST, ITEMS_PER_EVENT } from './limits.ts'

export const streamersAnswer = z.object({
  streamers: z.array(z.object({ name: z.string(), recording_count: z.int().nonnegative() })),
})
export type StreamersAnswer = z.infer<typeof streamersAnswer>
export type StreamerItem = StreamersAnswer['streamers'][number]

export const sessionsAnswer = z.array(
  z.object({
    date: z.string(),
    sessionId: z.string(),
    /** `H:MM:SS`; absent while unknown. */
    duration: z.string().optional(),
  }),
)
export type SessionsAnswer = z.infer<typeof sessionsAnswer>
export type SessionItem = SessionsAnswer[number]

export const errorAnswer = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    /** Code of the reason, beside the code `unplayable`. */
    reason: z.string().optional(),
  }),
})
export type ErrorAnswer = z.infer<typeof errorAnswer>

export const adsConfig = z.discriminatedUnion('provider', [
  z.object({ provider: z.literal('none') }),
  z.object({
    /** `house`: own creatives by the same protocol; the fields are the same, and point at this server. */
    provider: z.enum(['house', 'network']),
    /** Path of the ad script on this server; absent: no script, so no banners. */
    scriptPath: z.string().optional(),
    /** Class that every `ins` placeholder begins with. */
    insClass: z.string(),
    /** VAST address with `{zone}`; a path where it is on this server; absent: no pre-roll. */
    vastUrl: z.string().optional(),
    /** Zone ids; a place without one is not rendered. */
    zones: z.object({
      /** Header, sidebar, footer. */
      banner: z.string().optional(),
      /** Blocks in lists. */
      inline: z.string().optional(),
      /** Pre-roll. */
      video: z.string().optional(),
    }),
    /** What counts as a filled block: an embedded frame, or any creative. */
    fill: z.enum(['frame', 'creative']),
  }),
])
export type AdsConfig = z.infer<typeof adsConfig>

export const analyticsConfig = z.object({
  firstParty: z.boolean(),
  /** Google Analytics 4 measurement id, and the consent defaults given to gtag. */
  ga4: z
    .object({
      measurementId: z.string(),
      consent: z.record(z.string(), z.enum(['granted', 'denied'])),
    })
    .optional(),
  /** Script address and site of Plausible. */
  plausible: z.object({ scriptUrl: z.string(), domain: z.string() }).optional(),
  /** Script address and website id of Umami. */
  umami: z.object({ scriptUrl: z.string(), websiteId: z.string() }).optional(),
})
export type AnalyticsConfig = z.infer<typeof analyticsConfig>

export const configAnswer = z.object({ ads: adsConfig, analytics: analyticsConfig })
export type ConfigAnswer = z.infer<typeof configAnswer>

const sessionFields = { streamer: z.string(), date: z.string(), sessionId: z.string() }

/**
 * One thing that a visitor did, as the first-party collector takes it. An item is a streamer's name, or the key of a
 * session (paths.ts).
 */
export const activityEvent = z.discriminatedUnion('name', [
  z.object({ name: z.literal('page_view'), path: z.string(), title: z.string() }),
  z.object({
    name: z.literal('view_item_list'),
    list: z.enum(['streamers', 'sessions']),
    items: z.array(z.string()).max(ITEMS_PER_EVENT),
  }),
  z.object({
    name: z.literal('select_item'),
    list: z.enum(['streamers', 'sessions', 'recommended']),
    item: z.string(),
  }),
  z.object({ name: z.literal('begin_video'), ...sessionFields }),
  /** House ads: shown, clicked, and how far a pre-roll was watched. */
  z.object({
    name: z.enum([
      'ad_impression',
      'ad_click',
      'ad_start',
      'ad_first_quartile',
      'ad_midpoint',
      'ad_third_quartile',
      'ad_complete',
      'ad_skip',
    ]),
    creative: z.string(),
    zone: z.string(),
  }),
])
export type ActivityEvent = z.infer<typeof activityEvent>

/** Body of POST /api/activity. */
export const activityEvents = z.array(activityEvent).max(EVENTS_PER_REQUEST)
