// Server side of advertising: the script proxy, and house ads if configured.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { AdsConfig } from '../../../shared/contract.ts'
import type { Config } from '../../base/config/load-config.ts'
import { AppError } from '../../base/errors.ts'
import { adsConfigOf, HOUSE } from './ads-config.ts'
import type { FormatPath } from './house/promo-paths.ts'
import { addPromoRoutes } from './house/promo-routes.ts'
import type { RecordActivity } from './house/promo-routes.ts'
import { readHouseAds, readHouseScript } from './house/read-creatives.ts'
import type { HouseAds } from './house/read-creatives.ts'
import { resolveHost } from './public-address.ts'
import { formatEtag, ScriptProxy } from './script-proxy.ts'
import type { AdHost, ProxiedScript } from './script-proxy.ts'
import { addScriptRoute } from './script-routes.ts'

export interface AdvertisingOptions {
  config: Config
  /** Records what happens to house ads. Never throws. */
  record: RecordActivity
  /** Precedes paths by the base path of the site. */
  formatPath: FormatPath
  /** Lets requests for files wait until there is room. */
  admitFiles: (scope: FastifyInstance) => void
  log: { warn(facts: object, message: string): void }
}

/** Advertising that is ready to serve. */
export interface Advertising {
  /** Configuration for the page; `none` if house ads are configured but unreadable. */
  ads: AdsConfig
  addRoutes(this: void, app: FastifyInstance): Promise<void>
}

/** Folder for the operator's own house ads, in the data folder. */
export const HOUSE_FOLDER = 'house-ads'

interface House {
  ads: HouseAds
  script: ProxiedScript
}

/**
 * Never rejects because of the operator's files: without usable house ads there are none, and the
 * reason is logged.
 */
export async function openAdvertising(options: AdvertisingOptions): Promise<Advertising> {
  const { config, log } = options
  const house = config.ads.provider === 'house' ? await openHouse(options) : undefined
  const isMissing = config.ads.provider === 'house' && house === undefined
  const ads: AdsConfig = isMissing ? { provider: 'none' } : adsConfigOf(config, options.formatPath)
  const proxy = new ScriptProxy({
    hosts: adHostsOf(config),
    resolve: resolveHost,
    now: () => performance.now(),
    onFailure: (host, error) => log.warn({ err: error, host }, 'an ad script could not be fetched'),
  })
  return {
    ads,
    addRoutes: async (app) => {
      app.addHook('onClose', async () => proxy.close())
      addScriptRoute(app, async (name) =>
        house !== undefined && name === HOUSE ? house.script : proxy.script(name),
      )
      if (house !== undefined) await addHouseRoutes(app, { ...options, house, ads })
    },
  }
}

async function openHouse({ config, log }: AdvertisingOptions): Promise<House | undefined> {
  try {
    const ads = await readHouseAds(join(config.data, HOUSE_FOLDER))
    const bytes = await readHouseScript()
    return { ads, script: { bytes, etag: formatEtag(bytes) } }
  } catch (cause) {
    const reason = cause instanceof AppError ? cause.message : String(cause)
    log.warn({ reason }, 'house ads are unavailable')
    return undefined
  }
}

async function addHouseRoutes(
  app: FastifyInstance,
  { config, house, ads, ...options }: AdvertisingOptions & { house: House; ads: AdsConfig },
): Promise<void> {
  await addPromoRoutes(app, {
    ads: house.ads,
    zones:
      ads.provider === 'none' ? [] : Object.values(ads.zones).filter((zone) => zone !== undefined),
    ...options,
    now: () => new Date(),
    random: Math.random,
    embedders: config.server.corsOrigins,
  })
}

function adHostsOf({ ads }: Config): Map<string, AdHost> {
  return new Map(
    Object.entries(ads.hosts).map(([name, host]) =>
      typeof host === 'string'
        ? [name, { origin: host, allowPrivate: false }]
        : [name, { origin: host.url, allowPrivate: host.allowPrivate }],
    ),
  )
}
