// The schema of the configuration: every key, its default, its environment variable, its purpose.
import { z } from 'zod'
import { basePath } from './base-path.ts'
import { isDatabaseUrl } from './database-url.ts'
import {
  adHost,
  cacheUrl,
  hostAndPort,
  hostName,
  httpUrl,
  isHttpUrl,
  location,
  operatorToken,
  origin,
  siteUrl,
  string,
  trustedProxies,
} from './value-shapes.ts'

/** Description of a key for the tables, the command line and the environment. */
export interface OptionNote {
  about: string
  environment?: string
  /** Default shown in the tables if it is not a plain value. */
  fallback?: string
  /** How a list is separated in the environment. Default by commas. */
  separator?: 'newline'
}

export const optionNotes = z.registry<OptionNote>()

const RENDITION_HEIGHTS = ['720p', '480p', '360p'] as const
const HEIGHT_NAMES = RENDITION_HEIGHTS.map((name) => `\`${name}\``).join(', ')

export const DEFAULT_LAYOUT = '{streamer}/{date}/{sessionId}'

const serverSection = z.strictObject({
  host: noted(string('must be a host name or address').default('127.0.0.1'), {
    environment: 'AFTERCAST_HOST',
    about: 'Address to listen on; `0.0.0.0` listens on all.',
  }),
  port: noted(wholeNumber(0, 65_535).default(8080), {
    environment: 'PORT',
    about: 'Port to listen on; 0 selects a free one.',
  }),
  publicUrl: noted(siteUrl.optional(), {
    environment: 'AFTERCAST_PUBLIC_URL',
    about: 'Public URL of the site, for the sitemap and link previews.',
  }),
  basePath: noted(basePath.default(''), {
    environment: 'AFTERCAST_BASE_PATH',
    fallback: '`/`',
    about: 'Path of the site on its host, such as `/tv`; a proxy passes it on.',
  }),
  trustProxy: noted(trustedProxies.default(false), {
    environment: 'AFTERCAST_TRUST_PROXY',
    about:
      'Whose `X-Forwarded-*` headers to trust: `true`, a hop count, ' +
      'or addresses and CIDR ranges, comma-separated.',
  }),
  corsOrigins: noted(z.array(origin, { error: 'must be a list of origins' }).max(100).default([]), {
    environment: 'AFTERCAST_CORS_ORIGINS',
    about: 'Other origins that may call the API; comma-separated in the environment.',
  }),
  metrics: noted(hostAndPort.optional(), {
    environment: 'AFTERCAST_METRICS',
    about: '`host:port` of a separate listener: `/metrics` for Prometheus, and `/operator`.',
  }),
  metricsHosts: noted(
    z.array(hostName, { error: 'must be a list of host names' }).max(100).default([]),
    {
      environment: 'AFTERCAST_METRICS_HOSTS',
      about:
        'Names by which that listener is requested, besides addresses, `localhost` and its own ' +
        '`host`; comma-separated in the environment.',
    },
  ),
  operatorToken: noted(operatorToken.optional(), {
    environment: 'AFTERCAST_OPERATOR_TOKEN',
    about: 'Token for hiding names on `/operator`, of 16 characters or more.',
  }),
  workers: noted(wholeNumber(1, 256).optional(), {
    environment: 'AFTERCAST_WORKERS',
    fallback: 'the number of cores',
    about: 'Number of processes that serve requests.',
  }),
})

const hlsSection = z.strictObject({
  segmentSeconds: noted(numberBetween(1, 60).default(6), {
    about: 'Target segment duration; segments split at key frames.',
  }),
  startSegmentSeconds: noted(numberBetween(1, 60).default(2), {
    environment: 'AFTERCAST_HLS_START_SEGMENT_SECONDS',
    about:
      'Target duration of the first segment of a session; the second has twice that. Neither has ' +
      'more than `hls.segmentSeconds`.',
  }),
  encryption: noted(
    z.enum(['aes-128', 'none'], { error: 'must be aes-128 or none' }).default('aes-128'),
    {
      environment: 'AFTERCAST_HLS_ENCRYPTION',
      about: 'Encryption of segments: `aes-128` or `none`.',
    },
  ),
  secret: noted(string('must be a string').optional(), {
    environment: 'AFTERCAST_HLS_SECRET',
    fallback: 'generated once in `data`',
    about: 'Source of all keys; nodes with the same secret serve the same bytes.',
  }),
  cacheMegabytes: noted(wholeNumber(0, 1_000_000).default(64), {
    environment: 'AFTERCAST_HLS_CACHE_MEGABYTES',
    about: 'Memory per process for popular encrypted segments; 0 disables the cache.',
  }),
})

const renditionsSection = z.strictObject({
  video: noted(
    z
      .array(z.enum(RENDITION_HEIGHTS), { error: `must be a list of ${HEIGHT_NAMES}` })
      .max(RENDITION_HEIGHTS.length)
      .default([]),
    {
      environment: 'AFTERCAST_RENDITIONS_VIDEO',
      about:
        `Heights that are encoded on demand as H.264: ${HEIGHT_NAMES} (docs/qualities.md); ` +
        'comma-separated in the environment.',
    },
  ),
  concurrency: noted(wholeNumber(1, 256).optional(), {
    environment: 'AFTERCAST_RENDITIONS_CONCURRENCY',
    fallback: 'the number of cores less one',
    about: 'Segments that this node encodes at once.',
  }),
})

/** Less is not enough for the sound of a session. */
const MIN_BUDGET = 10_000
const MAX_BUDGET = 1_000_000_000_000

const limitsSection = z.strictObject({
  bytesPerSecond: noted(wholeNumber(MIN_BUDGET, MAX_BUDGET).optional(), {
    environment: 'AFTERCAST_LIMITS_BYTES_PER_SECOND',
    fallback: 'none',
    about:
      'Bytes of media and images that this node sends per second, with all of its processes ' +
      '(docs/operations.md).',
  }),
  bytesPerSecondPerClient: noted(wholeNumber(MIN_BUDGET, MAX_BUDGET).optional(), {
    environment: 'AFTERCAST_LIMITS_BYTES_PER_SECOND_PER_CLIENT',
    fallback: 'none',
    about:
      'Of these, those that one client gets: an IPv4 address, or an IPv6 network of 64 bits. ' +
      'Behind a proxy, `server.trustProxy` must be set.',
  }),
})

const librarySection = z.strictObject({
  settleSeconds: noted(numberBetween(0, 86_400).default(30), {
    about: 'A recording that has not changed for this long is finished.',
  }),
})

const s3Section = z.strictObject({
  pathStyle: noted(z.boolean({ error: 'must be true or false' }).default(false), {
    environment: 'AFTERCAST_S3_PATH_STYLE',
    about: 'Path-style addresses, for object stores without a host name for each bucket.',
  }),
})

const databaseUrl = string('must be postgres://user:password@host/database').refine(isDatabaseUrl, {
  error: 'must be postgres://user:password@host/database',
})

const clusterSection = z.strictObject({
  jobs: noted(z.boolean({ error: 'must be true or false' }).default(true), {
    environment: 'AFTERCAST_CLUSTER_JOBS',
    about: 'Whether this node of a cluster may scan, and indexes recordings for all nodes.',
  }),
})

const purgeSection = z.strictObject({
  urls: noted(z.array(cacheUrl, { error: 'must be a list of URLs' }).max(20).default([]), {
    environment: 'AFTERCAST_PURGE_URLS',
    about:
      'Caches to purge of what is hidden or replaced, by `PURGE` with `Surrogate-Key`; ' +
      'comma-separated in the environment.',
  }),
})

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const logSection = z.strictObject({
  level: noted(
    z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
    {
      environment: 'AFTERCAST_LOG_LEVEL',
      about: 'Lowest level to log: `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`.',
    },
  ),
  requests: noted(z.boolean({ error: 'must be true or false' }).default(false), {
    environment: 'AFTERCAST_LOG_REQUESTS',
    about: 'Log a line for each request (level `info`).',
  }),
  slowMs: noted(numberBetween(0, 3_600_000).default(1000), {
    environment: 'AFTERCAST_LOG_SLOW_MS',
    about: 'Log requests slower than this many milliseconds (level `warn`).',
  }),
})

const contactUrl = string('must be an http, https or mailto URL').refine(isContactUrl, {
  error: 'must be an http, https or mailto URL',
})

const adsTxtLine = z
  .string({ error: 'must be a line of text' })
  .max(1000, 'must be at most 1000 characters long')
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line')

/** The name follows a `·` in the titles of pages. */
const siteNameError = 'must be a name of 1 to 100 characters without ·'

const siteSection = z.strictObject({
  name: noted(
    z
      .string({ error: siteNameError })
      .trim()
      .regex(/^[^\p{Cc}\p{Cs}·]{1,100}$/u, siteNameError)
      .default('Aftercast'),
    {
      environment: 'AFTERCAST_SITE_NAME',
      about: 'Name of the site in titles, link previews and feeds.',
    },
  ),
  contactUrl: noted(contactUrl.optional(), {
    environment: 'AFTERCAST_SITE_CONTACT_URL',
    about: 'Linked as "Contact" in the footer: `https://…` or `mailto:…`.',
  }),
  adsTxt: noted(z.array(adsTxtLine, { error: 'must be a list of lines' }).max(10_000).optional(), {
    environment: 'AFTERCAST_SITE_ADS_TXT',
    separator: 'newline',
    about:
      'Lines of `/ads.txt` and `/app-ads.txt`: who may sell the ads of this site; ' +
      'separated by newlines in the environment.',
  }),
})

const pageSection = z.strictObject({
  download: noted(z.boolean({ error: 'must be true or false' }).default(false), {
    environment: 'AFTERCAST_PAGE_DOWNLOAD',
    about:
      'Whether the page of a finished session of one recording links its file, which is not ' +
      'encrypted.',
  }),
})

const feedsSection = z.strictObject({
  podcast: noted(z.boolean({ error: 'must be true or false' }).default(false), {
    environment: 'AFTERCAST_FEEDS_PODCAST',
    about:
      'Whether the feeds of streamers offer the audio of sessions as files, which are not ' +
      'encrypted (docs/qualities.md).',
  }),
})

const zonesSection = z.strictObject({
  banner: noted(string('must be a string').optional(), { about: 'Zone of the layout ads.' }),
  inline: noted(string('must be a string').optional(), { about: 'Zone of the ads in lists.' }),
  video: noted(string('must be a string').optional(), { about: 'Zone of the pre-roll.' }),
})

const adsSection = z.strictObject({
  provider: noted(
    z.enum(['none', 'house', 'network'], { error: 'must be none, house or network' }).optional(),
    {
      environment: 'AFTERCAST_ADS',
      fallback: '`none`; `house` in the demo',
      about: 'Source of the ads: `none`, `house`, `network`.',
    },
  ),
  scriptHost: noted(string('must be a key of ads.hosts').optional(), {
    about: 'Key of `ads.hosts` that serves the ad script.',
  }),
  hosts: noted(
    z
      .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/), adHost, {
        error: 'must map names to ad hosts',
      })
      .default({}),
    { about: 'Ad hosts by name: `"https://a.example"` or `{ "url": …, "allowPrivate": true }`.' },
  ),
  vastUrl: noted(
    string('must be a URL with {zone}')
      .refine((url) => url.includes('{zone}') && isHttpUrl(url.replaceAll('{zone}', '1')), {
        error: 'must be a URL with {zone}',
      })
      .optional(),
    { about: 'VAST URL of the network, with `{zone}`.' },
  ),
  insClass: noted(string('must be a string').optional(), {
    about: 'Class of the network’s `ins` elements.',
  }),
  zones: zonesSection.prefault({}),
  fill: noted(
    z.enum(['frame', 'creative'], { error: 'must be frame or creative' }).default('frame'),
    {
      about:
        'What counts as a filled slot: `frame`, or `creative` (also an image, video or canvas).',
    },
  ),
})

const measurementId = z
  .string()
  .regex(/^[A-Z0-9-]{2,64}$/i, 'must be a measurement id such as G-XXXXXXX')

/** Consent defaults that gtag receives first; Google's own default applies to absent types. */
const consent = z.partialRecord(
  z.enum([
    'ad_storage',
    'ad_user_data',
    'ad_personalization',
    'analytics_storage',
    'functionality_storage',
    'personalization_storage',
    'security_storage',
  ]),
  z.enum(['granted', 'denied']),
)

const ga4 = z.union(
  [measurementId, z.strictObject({ measurementId, consent: consent.default({}) })],
  { error: 'must be a measurement id, or { "measurementId": "G-…", "consent": { … } }' },
)

/** Value of an attribute of a script element. */
const siteName = z.string().min(1).max(255)

const plausible = z.union(
  [siteName, z.strictObject({ domain: siteName, scriptUrl: httpUrl.optional() })],
  { error: 'must be a domain, or { "domain": "a.example", "scriptUrl": "https://…" }' },
)

const umami = z.union(
  [siteName, z.strictObject({ websiteId: siteName, scriptUrl: httpUrl.optional() })],
  { error: 'must be a website id, or { "websiteId": "…", "scriptUrl": "https://…" }' },
)

const analyticsSection = z.strictObject({
  firstParty: noted(z.boolean({ error: 'must be true or false' }).default(true), {
    about: 'Count page views and events on this server.',
  }),
  ga4: noted(ga4.optional(), {
    about:
      'Google Analytics: a measurement id, or ' +
      '`{ "measurementId": …, "consent": { "ad_storage": "denied", … } }`.',
  }),
  plausible: noted(plausible.optional(), {
    about: 'Plausible: the domain of the site, or `{ "domain": …, "scriptUrl": … }`.',
  }),
  umami: noted(umami.optional(), {
    about: 'Umami: the website id, or `{ "websiteId": …, "scriptUrl": … }`.',
  }),
})

export const configSchema = z.strictObject({
  recordings: noted(location.optional(), {
    environment: 'AFTERCAST_RECORDINGS',
    fallback: 'the demo library',
    about: 'Folder of the recordings, or `s3://bucket/prefix` (docs/object-storage.md).',
  }),
  layout: noted(string('must be a path template').default(DEFAULT_LAYOUT), {
    environment: 'AFTERCAST_LAYOUT',
    about:
      'How paths name sessions: a template of `{streamer}`, `{date}`, `{sessionId}` and `*`, ' +
      'or a preset such as `obs` (docs/layouts.md).',
  }),
  data: noted(string('must be a folder').default('./aftercast-data'), {
    environment: 'AFTERCAST_DATA',
    about: 'Folder of the catalog, indexes, thumbnails, storyboards, chats and renditions.',
  }),
  artifacts: noted(location.optional(), {
    environment: 'AFTERCAST_ARTIFACTS',
    fallback: 'in `data`',
    about:
      'Folder or `s3://bucket/prefix` of indexes, thumbnails, storyboards and chats that nodes ' +
      'share (docs/object-storage.md).',
  }),
  database: noted(databaseUrl.optional(), {
    environment: 'AFTERCAST_DATABASE_URL',
    fallback: 'SQLite in `data`',
    about:
      'Shared database of a cluster: `postgres://user:password@host/database` ' +
      '(docs/cluster.md).',
  }),
  chat: noted(z.boolean({ error: 'must be true or false' }).default(true), {
    environment: 'AFTERCAST_CHAT',
    about: 'Whether chat files beside recordings are read and served (docs/chat.md).',
  }),
  cluster: clusterSection.prefault({}),
  server: serverSection.prefault({}),
  hls: hlsSection.prefault({}),
  renditions: renditionsSection.prefault({}),
  limits: limitsSection.prefault({}),
  library: librarySection.prefault({}),
  s3: s3Section.prefault({}),
  purge: purgeSection.prefault({}),
  log: logSection.prefault({}),
  site: siteSection.prefault({}),
  page: pageSection.prefault({}),
  feeds: feedsSection.prefault({}),
  ads: adsSection.prefault({}),
  analytics: analyticsSection.prefault({}),
})

function noted<Schema extends z.ZodType>(schema: Schema, note: OptionNote): Schema {
  optionNotes.add(schema, note)
  return schema
}

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, error).max(max, error)
}

function numberBetween(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`
  return z.number({ error }).min(min, error).max(max, error)
}

function isContactUrl(value: string): boolean {
  return isHttpUrl(value) || /^mailto:[^\s@]+@[^\s@]+$/i.test(value)
}
