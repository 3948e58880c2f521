// The headers that fence the page in, made from what the configuration lets it load. Pure; each is explained in docs/headers.md.
import type { AnalyticsConfig, ConfigResponse } from '../../shared/contract.ts'

/** Directives of a Content-Security-Policy (CSP Level 3) with their sources. */
export type Policy = Record<string, string[]>

export interface PolicyOptions {
  config: ConfigResponse
  /** Addresses of the ad network as configured: its hosts and its VAST endpoint. Their origins are named. */
  adUrls: readonly string[]
  /** Hashes of the styles in the page, quoted as sources. */
  styleHashes: readonly string[]
}

/** Answers of the API are data, never a page, wherever they are opened. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** What neither this site nor an ad on it has any use for is off. */
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

/** Ad networks look at the origin that a visitor comes from; paths are nobody's business. */
const REFERRER_POLICY = 'strict-origin-when-cross-origin'

/** Google's own list for gtag.js with GA4. */
const GA4_SCRIPTS = ['https://*.googletagmanager.com']
const GA4_BEACONS = [
  'https://*.google-analytics.com',
  'https://*.analytics.google.com',
  'https://*.googletagmanager.com',
]

/** The headers of every answer: of the API's data, and of all else. */
export interface SecurityHeaders {
  page: Readonly<Record<string, string>>
  data: Readonly<Record<string, string>>
}

/** Makes them, once. */
export function createSecurityHeaders({
  pagePolicy,
  readers,
}: {
  pagePolicy: Policy
  /** Whose pages may read the answers. */
  readers: 'same-origin' | 'cross-origin'
}): SecurityHeaders {
  const always = {
    // An ad's window may talk to the page that opened it.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': readers,
    'referrer-policy': REFERRER_POLICY,
    'permissions-policy': PERMISSIONS_POLICY,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
  }
  return {
    page: { ...always, 'content-security-policy': formatPolicy(pagePolicy) },
    data: { ...always, 'content-security-policy': DATA_POLICY },
  }
}

function formatPolicy(policy: Policy): string {
  return Object.entries(policy)
    .map(([directive, sources]) => [directive, ...sources].join(' '))
    .join(';')
}

/** The page's policy: strict, with what house ads, an ad network and the analytics targets need on top. */
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
 * The network's script comes through this server, but what it brings does not: creatives in frames, pictures, films and
 * scripts from hosts that change from day to day. Frames of `srcdoc` inherit this policy, so scripts of creatives need
 * their sources here; and a hash would switch 'unsafe-inline' off (CSP3 6.7.3.2), so styles have none.
 */
function openForNetwork(policy: Policy, adUrls: readonly string[]): Policy {
  const origins = adUrls.map((url) => new URL(url.replaceAll('{zone}', '0')).origin)
  // Where this site is https itself, http sources are blocked all the same (Mixed Content).
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

/** Plausible and Umami are told to the host that their script comes from. */
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

/** Every source once, in order. */
function addSources(policy: Policy, added: Policy): Policy {
  const merged = Object.entries(added).map(([directive, sources]) => [
    directive,
    [...new Set([...(policy[directive] ?? []), ...sources])],
  ])
  return { ...policy, ...Object.fromEntries(merged) }
}
