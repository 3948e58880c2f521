// Writes one sitemap (sitemaps.org protocol) in slices, so that a large library blocks no request.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { escapeMarkup } from '../../shared/escape-markup.ts'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { Catalog, SessionName } from '../catalog/catalog.ts'
import { HashedText } from './responses/text-response.ts'

/** URLs that are formatted without a pause: one or two milliseconds. */
const SLICE_URLS = 100
const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

/** A page of the site: of the streamer with this index, or of its session. */
export interface SitePosition {
  streamer: number
  session?: SessionName
}

export interface SitemapSource {
  catalog: Pick<Catalog, 'sessionsAfter'>
  streamers: readonly { name: string }[]
  /** Public origin of the site, without a trailing slash. */
  origin: string
}

export interface SitemapLimits {
  urls: number
  bytes: number
}

/** A sitemap, and the last page in it; `end` is undefined if no page follows. */
export interface WrittenSitemap {
  text: HashedText
  end: SitePosition | undefined
}

/** The sitemap of the pages after a position, or of the first pages, up to the limits. */
export async function writeSitemap(
  source: SitemapSource,
  after: SitePosition | undefined,
  limits: SitemapLimits,
): Promise<WrittenSitemap> {
  const text = new HashedText()
  text.add(`${XML_HEAD}\n<urlset ${NAMESPACE}>\n`)
  let slice = ''
  let urls = 0
  let end = after
  let isFull = false
  for (const { path, position } of sitePages(source, after)) {
    const line = `<url><loc>${escapeMarkup(source.origin + path)}</loc></url>\n`
    isFull = urls === limits.urls || text.sizeBytes + slice.length + line.length > limits.bytes
    if (isFull) break
    slice += line
    urls += 1
    end = position
    if (urls % SLICE_URLS !== 0) continue
    text.add(slice)
    slice = ''
    await nextTurn()
  }
  text.add(`${slice}</urlset>\n`)
  return { text, end: isFull ? end : undefined }
}

/** The index of sitemaps, which are numbered from 1. */
export function formatSitemapIndex(origin: string, sitemaps: number): string {
  const entries = Array.from(
    { length: sitemaps },
    (_, i) => `<sitemap><loc>${escapeMarkup(`${origin}/sitemap-${i + 1}.xml`)}</loc></sitemap>`,
  )
  return `${XML_HEAD}\n<sitemapindex ${NAMESPACE}>\n${entries.join('\n')}\n</sitemapindex>\n`
}

interface SitePage {
  path: string
  position: SitePosition
}

/** The home page, then each streamer and its sessions. */
function* sitePages(
  { catalog, streamers }: SitemapSource,
  after: SitePosition | undefined,
): Generator<SitePage> {
  if (after === undefined) yield { path: '/', position: { streamer: -1 } }
  for (let streamer = Math.max(0, after?.streamer ?? 0); streamer < streamers.length; streamer++) {
    const name = streamers[streamer]?.name ?? ''
    const isContinued = streamer === after?.streamer
    if (!isContinued) yield { path: sessionsPagePath(name), position: { streamer } }
    let session = isContinued ? after.session : undefined
    do {
      const sessions = catalog.sessionsAfter(name, session, SLICE_URLS)
      for (const each of sessions) {
        const path = playerPagePath({ streamer: name, ...each })
        yield { path, position: { streamer, session: each } }
      }
      session = sessions.length < SLICE_URLS ? undefined : sessions.at(-1)
    } while (session !== undefined)
  }
}
