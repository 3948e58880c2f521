// GET /robots.txt: the rules for crawlers.
import type { Endpoint } from '../responses/answer.ts'
import { PLAIN_TYPE } from './seller-files.ts'

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
