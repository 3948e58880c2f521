// The page's configuration, with URLs instead of paths on the API's server.
import { configResponse } from '../../shared/contract.ts'
import type { AdsConfig, ConfigResponse } from '../../shared/contract.ts'
import { parseShape } from '../../shared/shape.ts'

/**
 * Parses the body of `GET /api/config` and prefixes its paths, which are complete, with the origin
 * of the API. `base` is its URL (`https://api.example/tv`) or its path (`/tv`). Never throws.
 */
export function parsePageConfig(body: unknown, base: string): ConfigResponse {
  const { ads, analytics } = parseShape(configResponse, body)
  const [origin = ''] = /^https?:\/\/[^/]*/.exec(base) ?? []
  return { ads: withOrigin(ads, origin), analytics }
}

function withOrigin(ads: AdsConfig, origin: string): AdsConfig {
  if (ads.provider === 'none') return ads
  const toUrl = (path: string) => (path.startsWith('/') ? origin + path : path)
  return {
    ...ads,
    ...(ads.scriptPath !== undefined && { scriptPath: toUrl(ads.scriptPath) }),
    ...(ads.vastUrl !== undefined && { vastUrl: toUrl(ads.vastUrl) }),
  }
}
