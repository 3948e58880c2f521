// Turns the answer of the configuration call into a value the page trusts: what cannot be read is switched off.
import type { AdsConfig, AnalyticsConfig, ConfigAnswer } from '../../shared/contract.ts'

/** What holds where there is no answer. */
export const NO_EXTRAS: ConfigAnswer = {
  ads: { provider: 'none' },
  analytics: { firstParty: false },
}

/**
 * The configuration of `GET /api/config`. Paths on the API's server become addresses: `origin` (`https://api.example`,
 * or '' for the page's own) goes before them. A part of another shape counts as absent; nothing throws.
 */
export function parseConfig(answer: unknown, origin: string): ConfigAnswer {
  const { ads, analytics } = recordOf(answer)
  return { ads: parseAds(recordOf(ads), origin), analytics: parseAnalytics(recordOf(analytics)) }
}

function parseAds(ads: Record<string, unknown>, origin: string): AdsConfig {
  const { provider, insClass } = ads
  if (provider !== 'house' && provider !== 'network') return NO_EXTRAS.ads
  if (typeof insClass !== 'string') return NO_EXTRAS.ads
  const zones = recordOf(ads['zones'])
  const toAddress = (path: string) => (path.startsWith('/') ? origin + path : path)
  return {
    provider,
    insClass,
    ...pick('scriptPath', ads, toAddress),
    ...pick('vastUrl', ads, toAddress),
    zones: { ...pick('banner', zones), ...pick('inline', zones), ...pick('video', zones) },
    fill: ads['fill'] === 'creative' ? 'creative' : 'frame',
  }
}

function parseAnalytics(analytics: Record<string, unknown>): AnalyticsConfig {
  const ga4 = recordOf(analytics['ga4'])
  const plausible = recordOf(analytics['plausible'])
  const umami = recordOf(analytics['umami'])
  return {
    firstParty: analytics['firstParty'] === true,
    ...(typeof ga4['measurementId'] === 'string' && {
      ga4: { measurementId: ga4['measurementId'], consent: parseConsent(ga4['consent']) },
    }),
    ...(typeof plausible['scriptUrl'] === 'string' &&
      typeof plausible['domain'] === 'string' && {
        plausible: { scriptUrl: plausible['scriptUrl'], domain: plausible['domain'] },
      }),
    ...(typeof umami['scriptUrl'] === 'string' &&
      typeof umami['websiteId'] === 'string' && {
        umami: { scriptUrl: umami['scriptUrl'], websiteId: umami['websiteId'] },
      }),
  }
}

function parseConsent(consent: unknown): Record<string, 'granted' | 'denied'> {
  return Object.fromEntries(
    Object.entries(recordOf(consent)).map(([key, value]) => [
      key,
      value === 'granted' ? 'granted' : 'denied',
    ]),
  )
}

/** The field `key` where it is a text that says something. */
function pick<K extends string>(
  key: K,
  record: Record<string, unknown>,
  map = (text: string) => text,
): { [P in K]?: string } {
  const value = record[key]
  const picked: { [P in K]?: string } = {}
  if (typeof value === 'string' && value !== '') picked[key] = map(value)
  return picked
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
