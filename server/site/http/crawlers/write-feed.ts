// Writes a feed: RSS 2.0 (https://www.rssboard.org/rss-specification) with Media RSS thumbnails
// (https://www.rssboard.org/media-rss). Pure.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import { playerPagePath, thumbnailApiPath } from '../../../../shared/paths.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { publishedMs, sessionDescription, sessionTitle } from '../site/session-text.ts'
import { XML_HEAD, xmlElement } from './xml-text.ts'

/** One feed; paths are on the site. */
export interface FeedOptions {
  title: string
  description: string
  /** Public origin of the site, without a trailing slash. */
  origin: string
  /** Of the page with the same sessions. */
  path: string
  feedPath: string
  /** Newest first. */
  sessions: readonly SessionRow[]
  /** The audio of sessions, as far as there are files. */
  enclosures?: ReadonlyMap<SessionRow, Enclosure>
}

/** A file of RSS 2.0, in MP4. */
export interface Enclosure {
  path: string
  sizeBytes: number
}

const NAMESPACES =
  'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" ' +
  'xmlns:dc="http://purl.org/dc/elements/1.1/"'

export function formatFeed({ origin, sessions, enclosures, ...feed }: FeedOptions): string {
  const self = escapeMarkup(origin + feed.feedPath)
  const published = sessions.flatMap((session) => publishedMs(session) ?? [])
  const lines = [
    XML_HEAD,
    `<rss version="2.0" ${NAMESPACES}>`,
    '<channel>',
    xmlElement('title', feed.title),
    xmlElement('link', origin + feed.path),
    xmlElement('description', feed.description),
    `<atom:link href="${self}" rel="self" type="application/rss+xml"/>`,
    ...(published.length === 0
      ? []
      : [xmlElement('lastBuildDate', formatRssDate(published.reduce((a, b) => Math.max(a, b))))]),
    ...sessions.map((session) => formatItem(session, origin, enclosures?.get(session))),
    '</channel>',
    '</rss>',
  ]
  return `${lines.join('\n')}\n`
}

/** The link identifies the item: the names of a session never change. */
function formatItem(session: SessionRow, origin: string, audio?: Enclosure): string {
  const { streamer } = session
  const link = origin + playerPagePath(session)
  const timeMs = publishedMs(session)
  return [
    '<item>',
    xmlElement('title', sessionTitle(session, session.title)),
    xmlElement('link', link),
    `<guid isPermaLink="true">${escapeMarkup(link)}</guid>`,
    ...(timeMs === undefined ? [] : [xmlElement('pubDate', formatRssDate(timeMs))]),
    xmlElement('dc:creator', streamer),
    ...(session.game === undefined ? [] : [xmlElement('category', session.game)]),
    xmlElement('description', sessionDescription(session, 'recorded')),
    ...(audio === undefined ? [] : [formatEnclosure(audio, origin)]),
    `<media:thumbnail url="${escapeMarkup(origin + thumbnailApiPath(session))}"/>`,
    '</item>',
  ].join('\n')
}

function formatEnclosure({ path, sizeBytes }: Enclosure, origin: string): string {
  const url = escapeMarkup(origin + path)
  return `<enclosure url="${url}" length="${sizeBytes}" type="audio/mp4"/>`
}

/** RFC 822 5.1 with four digits of the year: `Sat, 31 Jan 2026 20:15:00 GMT`. */
function formatRssDate(timeMs: number): string {
  return new Date(timeMs).toUTCString()
}
