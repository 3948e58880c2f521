// GET /robots.txt and /sitemap.xml: rules for crawlers, and all pages (sitemaps.org protocol).
import type { FastifyInstance } from 'fastify'
import type { Catalog } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'
import type { SecurityHeaders } from './responses/security-headers.ts'
import { Sitemaps } from './sitemaps.ts'
import { sendText } from './responses/text-response.ts'

const CRAWLER_CACHE = 'public, max-age=3600'

export interface CrawlerRouteOptions {
  catalog: Catalog
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
  headers: SecurityHeaders
}

/** Registers the routes. A site with too many pages for one sitemap has an index of sitemaps. */
export function addCrawlerRoutes(
  app: FastifyInstance,
  { catalog, publicUrl, headers }: CrawlerRouteOptions,
): void {
  const sitemaps = new Sitemaps({
    catalog,
    origin: publicUrl,
    response: {
      contentType: 'application/xml; charset=utf-8',
      cacheControl: CRAWLER_CACHE,
      headers: headers.page,
    },
  })

  app.get('/robots.txt', async (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': CRAWLER_CACHE })
      .send(`User-agent: *\nAllow: /\n\nSitemap: ${publicUrl()}/sitemap.xml\n`),
  )

  app.get('/sitemap.xml', async (request, reply) => sendText(request, reply, await sitemaps.main()))

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d{1,6}$).xml',
    async (request, reply) => {
      const sitemap = await sitemaps.numbered(Number(request.params.page))
      if (sitemap === undefined) throw new AppError('not_found', 'there is no such sitemap')
      return sendText(request, reply, sitemap)
    },
  )
}
