// GET /robots.txt, /ads.txt and /sitemap.xml: rules for crawlers, sellers of ads, and all pages
// (sitemaps.org protocol). GET /feed.xml and /s/{streamer}/feed.xml: feeds.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { outsidePatterns } from '../../../../shared/paths.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { AppError } from '../../../base/errors.ts'
import { siteTags } from '../../purge/cache-tags.ts'
import type { SecurityHeaders } from '../responses/security-headers.ts'
import { Sitemaps } from './sitemaps.ts'
import { sendText, TextResponse } from '../responses/text-response.ts'
import { parseName } from '../session-parameters.ts'
import type { Site } from '../site/site.ts'
import { Feeds } from './feeds.ts'

const CRAWLER_CACHE = 'public, max-age=3600'
/** As lists: a hidden session disappears immediately. */
const FEED_CACHE = 'no-cache'
const TEXT_TYPE = 'text/plain; charset=utf-8'
/** For sites and for apps (IAB Tech Lab, ads.txt 1.1 and app-ads.txt 1.0). */
const SELLER_FILES = ['/ads.txt', '/app-ads.txt']

export interface CrawlerRouteOptions {
  catalog: Catalog
  site: Site
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
  headers: SecurityHeaders
}

/** Registers the routes. A site with too many pages for one sitemap has an index of sitemaps. */
export function addCrawlerRoutes(
  app: FastifyInstance,
  { catalog, site, publicUrl, headers }: CrawlerRouteOptions,
): void {
  const sitemaps = new Sitemaps({
    catalog,
    origin: publicUrl,
    response: {
      contentType: 'application/xml; charset=utf-8',
      cacheControl: CRAWLER_CACHE,
      headers: { ...headers.page, ...siteTags() },
    },
  })

  app.get('/robots.txt', async (_request, reply) =>
    reply
      .headers({ 'content-type': TEXT_TYPE, 'cache-control': CRAWLER_CACHE })
      .send(`User-agent: *\nAllow: /\n\nSitemap: ${publicUrl()}/sitemap.xml\n`),
  )

  const sendSitemap = (request: FastifyRequest, reply: FastifyReply, sitemap: TextResponse) => {
    // A cache that was purged of a hidden name would have it for another hour.
    if (sitemaps.isOutdated) void reply.header('cache-control', FEED_CACHE)
    return sendText(request, reply, sitemap)
  }

  app.get('/sitemap.xml', async (request, reply) =>
    sendSitemap(request, reply, await sitemaps.main()),
  )

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d{1,6}$).xml',
    async (request, reply) => {
      const sitemap = await sitemaps.numbered(Number(request.params.page))
      if (sitemap === undefined) throw new AppError('not_found', 'there is no such sitemap')
      return sendSitemap(request, reply, sitemap)
    },
  )

  addFeedRoutes(app, { catalog, site, publicUrl, headers })
  addSellerRoutes(app, site, headers)
}

function addFeedRoutes(
  app: FastifyInstance,
  { catalog, site, publicUrl, headers }: CrawlerRouteOptions,
): void {
  const response = { cacheControl: FEED_CACHE, headers: headers.page }
  const feeds = new Feeds({ catalog, site, origin: publicUrl, response })

  app.get(outsidePatterns.siteFeed, async (request, reply) => {
    request.kind = 'feed'
    return sendText(request, reply, feeds.site())
  })

  app.get(outsidePatterns.streamerFeed, async (request, reply) => {
    request.kind = 'feed'
    const feed = feeds.streamer(parseName(request.params, 'streamer'))
    if (feed === undefined) throw new AppError('not_found', 'there is no such streamer')
    return sendText(request, reply, feed)
  })
}

/** Without lines there are no such files. */
function addSellerRoutes(app: FastifyInstance, { adsTxt }: Site, headers: SecurityHeaders): void {
  if (adsTxt === undefined) return
  const text = new TextResponse(adsTxt.map((line) => `${line}\n`).join(''), {
    contentType: TEXT_TYPE,
    cacheControl: CRAWLER_CACHE,
    headers: headers.page,
  })
  for (const path of SELLER_FILES) {
    app.get(path, async (request, reply) => sendText(request, reply, text))
  }
}
