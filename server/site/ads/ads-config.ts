// The advertising part of `GET /api/config`. Pure.
import type { AdsConfig } from '../../../shared/contract.ts'
import { adScriptApiPath } from '../../../shared/paths.ts'
import type { Config } from '../../base/config/load-config.ts'
import { promoPatterns } from './house/promo-paths.ts'
import type { FormatPath } from './house/promo-paths.ts'

/** Name of the built-in ad host in the proxy's path. */
export const HOUSE = 'house'
/** Class of the house ads' placeholders; the house script fills only these. */
const HOUSE_CLASS = 'promo-ins'
const HOUSE_ZONES = { banner: 'banner', inline: 'inline', video: 'video' }

/**
 * House slots have zones of their own; a network's slots without a configured zone are not
 * rendered.
 */
export function adsConfigOf({ ads }: Pick<Config, 'ads'>, formatPath: FormatPath): AdsConfig {
  const { provider, scriptHost, vastUrl, insClass, fill } = ads
  if (provider === 'none') return { provider }
  const zones = definedOnly(ads.zones)
  if (provider === 'house') {
    return {
      provider,
      scriptPath: formatPath(adScriptApiPath(HOUSE)),
      insClass: HOUSE_CLASS,
      vastUrl: `${formatPath(promoPatterns.vast)}?zone={zone}`,
      zones: { ...HOUSE_ZONES, ...zones },
      fill,
    }
  }
  return {
    provider,
    ...(scriptHost !== undefined && { scriptPath: formatPath(adScriptApiPath(scriptHost)) }),
    insClass: insClass ?? '',
    ...(vastUrl !== undefined && { vastUrl }),
    zones,
    fill,
  }
}

/** Configured origins and VAST URL of the ad network. */
export function adUrlsOf({ ads }: Pick<Config, 'ads'>): string[] {
  const hosts = Object.values(ads.hosts).map((host) => (typeof host === 'string' ? host : host.url))
  return ads.vastUrl === undefined ? hosts : [...hosts, ads.vastUrl]
}

type Zones = Exclude<AdsConfig, { provider: 'none' }>['zones']

function definedOnly({ banner, inline, video }: Config['ads']['zones']): Zones {
  return {
    ...(banner !== undefined && { banner }),
    ...(inline !== undefined && { inline }),
    ...(video !== undefined && { video }),
  }
}
