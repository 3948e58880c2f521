// Writes one sitemap (sitemaps.org protocol, with Google's video extension) in slices, so that a
// large library blocks no request.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import {
  embedPagePath,
  playerPagePath,
  sessionsPagePath,
  thumbnailApiPath,
} from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Catalog, SessionEntry, SessionName } from '../../../library/catalog/catalog.ts'
import {
  formatDateTime,
  publishedMs,
  sessionDescription,
  sessionTitle,
} from '../site/session-text.ts'
import { HashedText } from '../responses/text-response.ts'
import { XML_HEAD, xmlElement } from './xml-text.ts'

/** URLs that are formatted without a pause: one or two milliseconds. */
const SLICE_URLS = 100
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const VIDEO_NAMESPACE = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
/** Limits of the video extension. */
const MAX_TITLE = 100
const MAX_VIDEO_SECONDS = 28_800

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
  text.add(`${XML_HEAD}\n<urlset ${NAMESPACE} ${VIDEO_NAMESPACE}>\n`)
  let slice = ''
  let urls = 0
  let end = after
  let isFull = false
  let sliceBytes = 0
  for (const { path, position, video } of sitePages(source, after)) {
    const content = video === undefined ? '' : formatVideo(source.origin, video)
    const line = `<url><loc>${escapeMarkup(source.origin + path)}</loc>${content}</url>\n`
    const lineBytes = Buffer.byteLength(line)
    isFull = urls === limits.urls || text.sizeBytes + sliceBytes + lineBytes > limits.bytes
    if (isFull) break
    slice += line
    sliceBytes += lineBytes
    urls += 1
    end = position
    if (urls % SLICE_URLS !== 0) continue
    text.add(slice)
    slice = ''
    sliceBytes = 0
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

type Video = SessionReference & SessionEntry

/**
 * Google's documentation of video sitemaps
 * (https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps): tags in its
 * order; a title of at most 100 characters; no duration above 8 hours; a page of the player instead
 * of the playlist, which is not a video file.
 */
function formatVideo(origin: string, video: Video): string {
  const { durationSeconds = 0 } = video
  const duration = Math.max(1, Math.round(durationSeconds))
  const timeMs = publishedMs(video)
  const elements = [
    xmlElement('video:thumbnail_loc', origin + thumbnailApiPath(video)),
    xmlElement('video:title', cut(sessionTitle(video, video.title))),
    xmlElement('video:description', sessionDescription(video, 'recorded')),
    xmlElement('video:player_loc', origin + embedPagePath(video)),
    ...(duration > MAX_VIDEO_SECONDS ? [] : [xmlElement('video:duration', String(duration))]),
    ...(timeMs === undefined ? [] : [xmlElement('video:publication_date', formatDateTime(timeMs))]),
  ]
  return `<video:video>${elements.join('')}</video:video>`
}

/** At most MAX_TITLE code units, so at most as many characters. */
function cut(title: string): string {
  if (title.length <= MAX_TITLE) return title
  return `${title.slice(0, MAX_TITLE - 1).toWellFormed()}…`
}

interface SitePage {
  path: string
  position: SitePosition
  /** Absent for a session that is not indexed yet. */
  video?: Video
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
        const video = { streamer: name, ...each }
        const page = { path: playerPagePath(video), position: { streamer, session: each } }
        yield each.durationSeconds === undefined ? page : { ...page, video }
      }
      session = sessions.length < SLICE_URLS ? undefined : sessions.at(-1)
    } while (session !== undefined)
  }
}
