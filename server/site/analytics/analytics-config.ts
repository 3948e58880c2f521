// The analytics part of `GET /api/config`: ids and script URLs with their defaults. Pure.
import type { AnalyticsConfig } from '../../../shared/contract.ts'
import type { Config } from '../../base/config/load-config.ts'

/** Plausible's script without automatic page views. */
const PLAUSIBLE_SCRIPT = 'https://plausible.io/js/script.manual.js'
const UMAMI_SCRIPT = 'https://cloud.umami.is/script.js'

/**
 * The analytics part of `GET /api/config`. A string is an id or domain for the service's default
 * script.
 */
export function analyticsConfigOf({ analytics }: Pick<Config, 'analytics'>): AnalyticsConfig {
  const { firstParty, ga4, plausible, umami } = analytics
  return {
    firstParty,
    ...(ga4 !== undefined && { ga4: ga4Of(ga4) }),
    ...(plausible !== undefined && { plausible: plausibleOf(plausible) }),
    ...(umami !== undefined && { umami: umamiOf(umami) }),
  }
}

type Given<Service extends 'ga4' | 'plausible' | 'umami'> = NonNullable<
  Config['analytics'][Service]
>

function ga4Of(given: Given<'ga4'>): AnalyticsConfig['ga4'] {
  if (typeof given === 'string') return { measurementId: given, consent: {} }
  const consent = Object.entries(given.consent).flatMap(([type, state]) =>
    state === undefined ? [] : [[type, state] as const],
  )
  return { measurementId: given.measurementId, consent: Object.fromEntries(consent) }
}

function plausibleOf(given: Given<'plausible'>): AnalyticsConfig['plausible'] {
  if (typeof given === 'string') return { scriptUrl: PLAUSIBLE_SCRIPT, domain: given }
  return { scriptUrl: given.scriptUrl ?? PLAUSIBLE_SCRIPT, domain: given.domain }
}

function umamiOf(given: Given<'umami'>): AnalyticsConfig['umami'] {
  if (typeof given === 'string') return { scriptUrl: UMAMI_SCRIPT, websiteId: given }
  return { scriptUrl: given.scriptUrl ?? UMAMI_SCRIPT, websiteId: given.websiteId }
}
