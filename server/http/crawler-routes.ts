// GET /robots.txt and /sitemap.xml: what crawlers may read, and where all pages are (sitemaps.org protocol).
import type { FastifyInstance, FastifyReply } from 'fastify'
import { escapeMarkup } from '../../shared/escape-markup.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { AppError } from '../errors.ts'

/** The protocol allows 50,000 addresses a file. */
const MAX_ADDRESSES = 50_000
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const CRAWLER_CACHE = 'public, max-age=3600'

export interface CrawlerRouteOptions {
  catalog: Catalog
  /** Origin of the site as visitors see it, without a slash at its end. */
  publicUrl: () => string
}

/** Registers the routes. A site with more pages than one sitemap holds answers an index of sitemaps. */
export function addCrawlerRoutes(app: FastifyInstance, options: CrawlerRouteOptions): void {
  const { catalog, publicUrl } = options

  app.get('/robots.txt', async (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': CRAWLER_CACHE })
      .send(`User-agent: *\nAllow: /\n\nSitemap: ${publicUrl()}/sitemap.xml\n`),
  )

  app.get('/sitemap.xml', async (_request, reply) => {
    const pages = Math.ceil(countAddresses(catalog) / MAX_ADDRESSES)
    if (pages > 1) return sendXml(reply, formatSitemapIndex(publicUrl(), pages))
    return sendXml(reply, formatSitemap(publicUrl(), [...addresses(catalog)]))
  })

  app.get<{ Params: { page: string } }>(
    '/sitemap-:page(^\\d{1,6}$).xml',
    async (request, reply) => {
      const first = (Number(request.params.page) - 1) * MAX_ADDRESSES
      const page = [...addresses(catalog, { first, limit: MAX_ADDRESSES })]
      if (page.length === 0) throw new AppError('not_found', 'there is no such sitemap')
      return sendXml(reply, formatSitemap(publicUrl(), page))
    },
  )
}

function countAddresses(catalog: Catalog): number {
  return catalog
    .listStreamers()
    .reduce((count, { recording_count }) => count + 1 + recording_count, 1)
}

/** Paths of all pages in a fixed order: the home page, then each streamer with its sessions. */
function* addresses(
  catalog: Catalog,
  { first, limit }: { first: number; limit: number } = { first: 0, limit: MAX_ADDRESSES },
): Generator<string> {
  let position = 0
  const isWanted = (): boolean => position >= first && position < first + limit
  if (isWanted()) yield '/'
  position += 1
  for (const { name, recording_count } of catalog.listStreamers()) {
    if (position >= first + limit) return
    if (position + 1 + recording_count <= first) {
      position += 1 + recording_count
      continue
    }
    if (isWanted()) yield sessionsPagePath(name)
    position += 1
    for (const { date, sessionId } of catalog.listSessions(name) ?? []) {
      if (isWanted()) yield playerPagePath({ streamer: name, date, sessionId })
      position += 1
    }
  }
}

function formatSitemap(origin: string, paths: readonly string[]): string {
  const urls = paths.map((path) => `<url><loc>${escapeMarkup(origin + path)}</loc></url>`)
  return `${XML_HEAD}\n<urlset ${NAMESPACE}>\n${urls.join('\n')}\n</urlset>\n`
}

function formatSitemapIndex(origin: string, pages: number): string {
  const maps = Array.from(
    { length: pages },
    (_, i) => `<sitemap><loc>${escapeMarkup(`${origin}/sitemap-${i + 1}.xml`)}</loc></sitemap>`,
  )
  return `${XML_HEAD}\n<sitemapindex ${NAMESPACE}>\n${maps.join('\n')}\n</sitemapindex>\n`
}

function sendXml(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .headers({ 'content-type': 'application/xml; charset=utf-8', 'cache-control': CRAWLER_CACHE })
    .send(text)
}
