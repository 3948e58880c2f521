// Security headers, from the sources that the configuration allows. docs/headers.md explains each.
import type { AnalyticsConfig, ConfigResponse } from '../../../../shared/contract.ts'

/** Directives of a Content-Security-Policy (CSP Level 3) with their sources. */
export type Policy = Record<string, string[]>

export interface PolicyOptions {
  config: ConfigResponse
  /** URLs of the ad network: its hosts and its VAST endpoint. Their origins are allowed. */
  adUrls: readonly string[]
  /** CSP sources of the inlined styles. */
  styleHashes: readonly string[]
}

/** Responses of the API are data, never a page, even if they are opened as one. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Switches off features that neither this site nor an ad needs. */
export const PERMISSIONS_POLICY = [
  'camera=()',
  'microphone=()',
  'geolocation=()',
  'payment=()',
  'usb=()',
  'serial=()',
  'hid=()',
  'browsing-topics=()',
  'autoplay=(self)',
  'fullscreen=(self)',
  'picture-in-picture=(self)',
].join(', ')

/** Ad networks need the origin of the page; its path is private. */
const REFERRER_POLICY = 'strict-origin-when-cross-origin'

/** Google's own list for gtag.js with GA4. */
const GA4_SCRIPTS = ['https://*.googletagmanager.com']
const GA4_BEACONS = [
  'https://*.google-analytics.com',
  'https://*.analytics.google.com',
  'https://*.googletagmanager.com',
]

/**
 * The headers of all responses: `data` for those of the API, `image` for thumbnails, which feeds,
 * oEmbed and share cards name for other sites, `anywhere` for what scripts of other sites may read,
 * `embed` for the embedded player, `page` for all others.
 */
export interface SecurityHeaders {
  page: Readonly<Record<string, string>>
  embed: Readonly<Record<string, string>>
  data: Readonly<Record<string, string>>
  image: Readonly<Record<string, string>>
  anywhere: Readonly<Record<string, string>>
}

/** Creates the headers, once. */
export function createSecurityHeaders({
  pagePolicy,
  embedPolicy,
  readers,
}: {
  pagePolicy: Policy
  embedPolicy: Policy
  /** Pages that may read the responses. */
  readers: 'same-origin' | 'cross-origin'
}): SecurityHeaders {
  const anyFrame = {
    // The window of an ad may access the page that opened it.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': readers,
    'referrer-policy': REFERRER_POLICY,
    'permissions-policy': PERMISSIONS_POLICY,
    'x-content-type-options': 'nosniff',
  }
  const always = { ...anyFrame, 'x-frame-options': 'SAMEORIGIN' }
  const data = { ...always, 'content-security-policy': DATA_POLICY }
  const image = { ...data, 'cross-origin-resource-policy': 'cross-origin' }
  // Without the directive, a page of any origin may be the frame's parent.
  const { 'frame-ancestors': _, ...framable } = embedPolicy
  return {
    embed: {
      ...anyFrame,
      // Also pages that require permission of what they embed (COEP).
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': formatPolicy(framable),
    },
    page: { ...always, 'content-security-policy': formatPolicy(pagePolicy) },
    data,
    image,
    anywhere: { ...image, 'access-control-allow-origin': '*' },
  }
}

function formatPolicy(policy: Policy): string {
  return Object.entries(policy)
    .map(([directive, sources]) => [directive, ...sources].join(' '))
    .join(';')
}

/** The page's policy: strict, plus the sources of ads and analytics. */
export function createPagePolicy(options: PolicyOptions): Policy {
  const { config } = options
  const targets = analyticsSources(config.analytics)
  const strict = addSources(strictPolicy(options.styleHashes), {
    'script-src': targets.scripts,
    'connect-src': targets.beacons,
    'img-src': targets.images,
  })
  if (config.ads.provider === 'none') return strict
  const house = addSources(strict, { 'frame-src': ["'self'"] })
  return config.ads.provider === 'house' ? house : openForNetwork(house, options.adUrls)
}

function strictPolicy(styleHashes: readonly string[]): Policy {
  return {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'", ...styleHashes],
    'img-src': ["'self'", 'data:'],
    'media-src': ["'self'", 'blob:'],
    'connect-src': ["'self'"],
    'worker-src': ["'self'", 'blob:'],
    'font-src': ["'self'"],
    'manifest-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'self'"],
    'object-src': ["'none'"],
  }
}

/**
 * The network's script comes through this server, but its creatives do not: frames, images, videos
 * and scripts from hosts that change daily. Frames with `srcdoc` inherit this policy, so it must
 * allow their scripts. A hash would disable 'unsafe-inline' (CSP3 6.7.3.2), so styles have none.
 */
function openForNetwork(policy: Policy, adUrls: readonly string[]): Policy {
  const origins = adUrls.map((url) => new URL(url.replaceAll('{zone}', '0')).origin)
  // If this site uses https, browsers block http sources anyway (Mixed Content).
  const anywhere = [...origins, 'https:']
  const opened = addSources(policy, {
    'script-src': ["'unsafe-inline'", ...anywhere],
    'img-src': anywhere,
    'media-src': anywhere,
    'connect-src': anywhere,
    'frame-src': anywhere,
    'font-src': ['data:', 'https:'],
  })
  return { ...opened, 'style-src': ["'self'", "'unsafe-inline'", 'https:'] }
}

interface AnalyticsSources {
  scripts: string[]
  beacons: string[]
  images: string[]
}

/** Plausible and Umami receive events at the origin of their script. */
function analyticsSources({ ga4, plausible, umami }: AnalyticsConfig): AnalyticsSources {
  const hosts = [plausible, umami].flatMap((target) =>
    target === undefined ? [] : [new URL(target.scriptUrl).origin],
  )
  const google = ga4 === undefined ? [] : GA4_BEACONS
  return {
    scripts: [...(ga4 === undefined ? [] : GA4_SCRIPTS), ...hosts],
    beacons: [...google, ...hosts],
    images: google,
  }
}

/** Each source once, in order. */
function addSources(policy: Policy, added: Policy): Policy {
  const merged = Object.entries(added).map(([directive, sources]) => [
    directive,
    [...new Set([...(policy[directive] ?? []), ...sources])],
  ])
  return { ...policy, ...Object.fromEntries(merged) }
}
