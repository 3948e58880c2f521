// GET /robots.txt and /sitemap.xml: rules for crawlers, and all pages (sitemaps.org protocol).
import type { FastifyInstance, FastifyReply } from 'fastify'
import { escapeMarkup } from '../../shared/escape-markup.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'

/** Limit of the protocol for one file. */
const MAX_URLS = 50_000
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const CRAWLER_CACHE = 'public, max-age=3600'

export interface CrawlerRouteOptions {
  catalog: Catalog
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
}

/** Registers the routes. A site with too many pages for one sitemap has an index of sitemaps. */
export function addCrawlerRoutes(app: FastifyInstance, options: CrawlerRouteOptions): void {
  const { catalog, publicUrl } = options

  app.get('/robots.txt', async (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': CRAWLER_CACHE })
      .send(`User-agent: *\nAllow: /\n\nSitemap: ${publicUrl()}/sitemap.xml\n`),
  )

  app.get('/sitemap.xml', async (_request, reply) => {
    const sitemaps = Math.ceil(countPages(catalog) / MAX_URLS)
    if (sitemaps > 1) return sendXml(reply, formatSitemapIndex(publicUrl(), sitemaps))
    return sendXml(reply, formatSitemap(publicUrl(), [...pagePaths(catalog)]))
  })

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d{1,6}$).xml',
    async (request, reply) => {
      const first = (Number(request.params.page) - 1) * MAX_URLS
      const page = [...pagePaths(catalog, { first, limit: MAX_URLS })]
      if (page.length === 0) throw new AppError('not_found', 'there is no such sitemap')
      return sendXml(reply, formatSitemap(publicUrl(), page))
    },
  )
}

function countPages(catalog: Catalog): number {
  return catalog
    .listStreamers()
    .reduce((count, { recording_count }) => count + 1 + recording_count, 1)
}

/** Paths of all pages in a fixed order: the home page, then each streamer and its sessions. */
function* pagePaths(
  catalog: Catalog,
  { first, limit }: { first: number; limit: number } = { first: 0, limit: MAX_URLS },
): Generator<string> {
  let position = 0
  const isInRange = (): boolean => position >= first && position < first + limit
  if (isInRange()) yield '/'
  position += 1
  for (const { name, recording_count } of catalog.listStreamers()) {
    if (position >= first + limit) return
    if (position + 1 + recording_count <= first) {
      position += 1 + recording_count
      continue
    }
    if (isInRange()) yield sessionsPagePath(name)
    position += 1
    for (const { date, sessionId } of catalog.listSessions(name) ?? []) {
      if (isInRange()) yield playerPagePath({ streamer: name, date, sessionId })
      position += 1
    }
  }
}

function formatSitemap(origin: string, paths: readonly string[]): string {
  const urls = paths.map((path) => `<url><loc>${escapeMarkup(origin + path)}</loc></url>`)
  return `${XML_HEAD}\n<urlset ${NAMESPACE}>\n${urls.join('\n')}\n</urlset>\n`
}

function formatSitemapIndex(origin: string, sitemaps: number): string {
  const entries = Array.from(
    { length: sitemaps },
    (_, i) => `<sitemap><loc>${escapeMarkup(`${origin}/sitemap-${i + 1}.xml`)}</loc></sitemap>`,
  )
  return `${XML_HEAD}\n<sitemapindex ${NAMESPACE}>\n${entries.join('\n')}\n</sitemapindex>\n`
}

function sendXml(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .headers({ 'content-type': 'application/xml; charset=utf-8', 'cache-control': CRAWLER_CACHE })
    .send(text)
}
