// GET /robots.txt: the rules for crawlers. GET /ads.txt and /app-ads.txt: the sellers of ads, for
// sites and for apps (IAB Tech Lab, ads.txt 1.1 and app-ads.txt 1.0).
import type { Answer, Endpoint } from '../responses/answer.ts'
import type { Site } from '../site/site.ts'

const PLAIN_TYPE = 'text/plain; charset=utf-8'

/** @param options.publicUrl public origin of the site, without a trailing slash */
export function createRobotsEndpoint({ publicUrl }: { publicUrl: () => string }): Endpoint {
  return {
    path: '/robots.txt',
    answer: () => ({
      body: {
        kind: 'bytes',
        bytes: `User-agent: *\nAllow: /\n\nSitemap: ${publicUrl()}/sitemap.xml\n`,
      },
      type: PLAIN_TYPE,
      cache: 'hour',
      security: 'page',
    }),
  }
}

/** Without lines there are no such files. */
export function createSellerEndpoints({ adsTxt }: Pick<Site, 'adsTxt'>): Endpoint[] {
  if (adsTxt === undefined) return []
  const answer: Answer = {
    body: {
      kind: 'text',
      cached: { key: 'ads.txt', version: adsTxt },
      format: () => adsTxt.map((line) => `${line}\n`).join(''),
    },
    type: PLAIN_TYPE,
    cache: 'hour',
    security: 'page',
  }
  return ['/ads.txt', '/app-ads.txt'].map((path) => ({ path, answer: () => answer }))
}
