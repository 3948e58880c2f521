// GET /sitemap.xml and /sitemap-{n}.xml: all pages of the site (sitemaps.org protocol). A site with
// too many pages for one sitemap has an index of them.
import { AppError } from '../../../base/errors.ts'
import { siteTags } from '../../purge/cache-tags.ts'
import type { Answer, Endpoint, TextBody } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import { Sitemaps } from './sitemaps.ts'
import type { SitemapOptions } from './sitemaps.ts'

export interface SitemapSources {
  catalog: SitemapOptions['catalog']
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
}

export function createSitemapEndpoints({ catalog, publicUrl }: SitemapSources): Endpoint[] {
  const sitemaps = new Sitemaps({ catalog, origin: publicUrl })
  const answer = (body: TextBody): Answer => ({
    body,
    type: 'application/xml; charset=utf-8',
    // A cache that was purged of a hidden name would have it for another hour.
    cache: () => (sitemaps.isOutdated ? 'revalidate' : 'hour'),
    security: 'page',
    tags: siteTags,
  })
  return [
    { path: '/sitemap.xml', answer: async () => answer(await sitemaps.main()) },
    {
      path: '/sitemap-:page(^\\d{1,6}$).xml',
      answer: async ({ request }) => {
        const sitemap = await sitemaps.numbered(Number(parseName(request.params, 'page')))
        if (sitemap === undefined) throw new AppError('not_found', 'there is no such sitemap')
        return answer(sitemap)
      },
    },
  ]
}
