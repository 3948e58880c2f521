// The content of each page besides what the page's own code renders: head and plain links.
import {
  configApiPath,
  embedPagePath,
  firstFrameApiPath,
  outsidePatterns,
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamerFeedPath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import {
  formatDateTime,
  publishedMs,
  sessionDescription,
  sessionTitle,
} from '../site/session-text.ts'
import { EMBED_SIZE } from '../site/site.ts'
import type { Site } from '../site/site.ts'
import type { ListPage } from './list-links.ts'
import type { SessionFacts, StreamerFacts } from './page-facts.ts'
import type { Alternate, PageHead, PageImage, Preload } from './page-head.ts'
import type { Link, Page, PageContent, PageLinks } from './page-shell.ts'
import { formatBreadcrumbs, formatItemList, formatSite, formatVideo } from './structured-data.ts'
import type { NamedUrl } from './structured-data.ts'

export interface PageHeadOptions {
  site: Site
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
  hasBanners: boolean
  /** Path of the script that pages with a player run first. */
  firstScript: string
  /** Paths of the scripts that the first frame of a session needs. */
  playerScripts: readonly string[]
  /** The same for the embedded player. */
  embedScripts: readonly string[]
}

/** A session, as far as it is known. */
export interface SessionPage {
  session: SessionReference
  /** Undefined for an unknown session. */
  row: SessionRow | undefined
  facts: SessionFacts | undefined
  isGrowing: boolean
}

export interface StreamerPage {
  streamer: string
  facts: StreamerFacts | undefined
  /** Undefined for an unknown streamer. */
  list: ListPage | undefined
}

const SITE_DESCRIPTION = 'Watch recorded live streams: browse streamers and play their sessions.'
const NOT_INDEXED = { robots: 'noindex' } as const
/** A square image in web/public, for pages without an image of their own. */
const SITE_IMAGE = { path: '/icon-512.png', size: { width: 512, height: 512 } }
/** Search engines cut longer ones. */
const MAX_DESCRIPTION = 300

export class PageHeads {
  readonly #options: PageHeadOptions

  constructor(options: PageHeadOptions) {
    this.#options = options
  }

  /** The home page. */
  streamers(list: ListPage): PageContent {
    const base = this.#basic('Streamers', '/')
    const root = this.#url('/')
    const head = {
      ...base,
      ...this.#pageOf(base, '/', list),
      // The configuration first: it decides where the list has ads.
      preloads: [...base.preloads, fetched(streamersApiPath)],
      structuredData: [
        formatSite({ name: this.#options.site.name, url: root }),
        ...this.#itemList(list),
      ],
    }
    return { head, links: linksOf('Streamers', { path: '/', list, parents: [] }) }
  }

  sessions({ streamer, facts, list }: StreamerPage): PageContent {
    const path = sessionsPagePath(streamer)
    const title = `Sessions: ${streamer}`
    const base = this.#basic(title, path)
    const name = facts?.displayName ?? streamer
    const head = {
      ...base,
      description: shorten(facts?.description) ?? `Recorded live streams of ${name}.`,
      image: this.#image(streamerThumbnailApiPath(streamer), facts),
      alternates: [this.#streamerFeed(streamer), ...base.alternates],
      preloads: [fetched(sessionsApiPath(streamer)), ...base.preloads],
    }
    if (list === undefined) return { head: { ...head, ...NOT_INDEXED } }
    const breadcrumbs = formatBreadcrumbs([
      { name: this.#options.site.name, url: this.#url('/') },
      { name: streamer, url: this.#url(path) },
    ])
    return {
      head: {
        ...head,
        ...this.#pageOf(base, path, list),
        structuredData: [breadcrumbs, ...this.#itemList(list)],
      },
      links: linksOf(title, { path, list, parents: [{ path: '/', text: 'Streamers' }] }),
    }
  }

  player(page: SessionPage): PageContent {
    const { session, row } = page
    const path = playerPagePath(session)
    const basic = this.#basic(sessionTitle(session, row?.title), path)
    const { image, ...described } = this.#described(page)
    // A broken image would fill the room.
    const isSeen = row !== undefined && !isUnplayable(row) && page.facts?.imageSize !== undefined
    const posterPath = isSeen ? firstFrameApiPath(session) : undefined
    const head = {
      ...basic,
      ...described,
      image,
      alternates: [
        ...(row === undefined ? [] : [this.#oembed(session)]),
        this.#streamerFeed(session.streamer),
        ...basic.alternates,
      ],
      preloads: [
        ...this.#playlist(session),
        ...(posterPath === undefined ? [] : [{ kind: 'image' as const, path: posterPath }]),
        ...scripts(this.#options.playerScripts),
        ...basic.preloads,
      ],
    }
    if (row === undefined || isUnplayable(row)) return { head: { ...head, ...NOT_INDEXED } }
    const breadcrumbs = formatBreadcrumbs([
      { name: this.#options.site.name, url: this.#url('/') },
      { name: session.streamer, url: this.#url(sessionsPagePath(session.streamer)) },
      { name: sessionTitle(session, row.title), url: this.#url(path) },
    ])
    return {
      head: { ...head, structuredData: [...this.#video(page, row, head), breadcrumbs] },
      posterPath,
      playlistPath: playlistApiPath(session),
      links: {
        heading: head.title,
        items: [],
        others: [
          { path: sessionsPagePath(session.streamer), text: `Sessions: ${session.streamer}` },
          { path: '/', text: 'Streamers' },
        ],
      },
    }
  }

  /** The player page with other sessions beside it: for search engines, it is the same page. */
  watch(page: SessionPage): PageContent {
    const { head, ...content } = this.player(page)
    return { ...content, head: { ...head, ...NOT_INDEXED } }
  }

  /** The page with the player alone, which search engines may show as part of the player page. */
  embed(page: SessionPage): PageContent {
    const { session, row } = page
    const basic = this.#basic(sessionTitle(session, row?.title), playerPagePath(session))
    const head: PageHead = {
      ...basic,
      ...this.#described(page),
      robots: 'noindex, indexifembedded',
      alternates: [],
      hasBanners: false,
      preloads: [
        ...this.#playlist(session),
        ...scripts(this.#options.embedScripts),
        ...basic.preloads,
      ],
    }
    return { head }
  }

  /** And the script that reads it: first, as browsers open only six connections (HTTP/1.1). */
  #playlist(session: SessionReference): Preload[] {
    return [fetched(playlistApiPath(session)), { kind: 'run', path: this.#options.firstScript }]
  }

  readonly missing: Page = {
    key: 'missing',
    version: [],
    content: () => ({ head: { ...this.#basic('Not found', '/'), ...NOT_INDEXED } }),
  }

  #basic(title: string, path: string): PageHead {
    const { site, hasBanners } = this.#options
    return {
      title,
      description: SITE_DESCRIPTION,
      canonicalUrl: this.#url(path),
      image: { url: this.#url(SITE_IMAGE.path), size: SITE_IMAGE.size, card: 'summary' },
      openGraph: { type: 'website' },
      alternates: [
        {
          type: 'application/rss+xml',
          title: site.name,
          href: this.#url(outsidePatterns.siteFeed),
        },
      ],
      preloads: [fetched(configApiPath)],
      hasBanners,
      structuredData: [],
    }
  }

  /** What differs between the pages of a list. */
  #pageOf({ title, canonicalUrl }: PageHead, path: string, { number }: ListPage) {
    if (number === 1) return { title, canonicalUrl }
    return { title: `${title} - page ${number}`, canonicalUrl: this.#url(pagePath(path, number)) }
  }

  #described({ session, row, facts, isGrowing }: SessionPage) {
    const publishedAtMs = publishedMs({ ...session, startMs: row?.startMs })
    const state = row?.state
    return {
      description:
        shorten(facts?.description) ?? sessionDescription(session, isGrowing ? 'live' : 'recorded'),
      image: this.#image(thumbnailApiPath(session), facts),
      openGraph: {
        type: 'video.other' as const,
        embedUrl: this.#url(embedPagePath(session)),
        embedSize: EMBED_SIZE,
        durationSeconds: state?.status === 'playable' ? state.durationSeconds : undefined,
        releaseDate: publishedAtMs === undefined ? undefined : formatDateTime(publishedAtMs),
      },
    }
  }

  /** A VideoObject; none if the date is not a date, or the session is not indexed yet. */
  #video({ session, facts, isGrowing }: SessionPage, row: SessionRow, head: PageHead): object[] {
    const publishedAtMs = publishedMs({ ...session, startMs: row.startMs })
    if (publishedAtMs === undefined || row.state.status !== 'playable') return []
    const video = formatVideo({
      name: head.title,
      description: facts?.description ?? head.description,
      url: head.canonicalUrl,
      embedUrl: this.#url(embedPagePath(session)),
      thumbnailUrl: head.image.url,
      publishedMs: publishedAtMs,
      durationSeconds: row.state.durationSeconds,
      chapters: facts?.chapters ?? [],
      text: row,
      growsUntilMs: isGrowing ? row.settlesAtMs : undefined,
    })
    return [video]
  }

  /** The thumbnail, unless it is known that there is none. */
  #image(path: string, facts: SessionFacts | StreamerFacts | undefined): PageImage {
    if (facts !== undefined && facts.imageSize === undefined) {
      return { url: this.#url(SITE_IMAGE.path), size: SITE_IMAGE.size, card: 'summary' }
    }
    return { url: this.#url(path), size: facts?.imageSize, card: 'large' }
  }

  #itemList({ items, first, total }: ListPage): object[] {
    if (items.length === 0) return []
    const named = items.map(({ path, text }): NamedUrl => ({ name: text, url: this.#url(path) }))
    return [formatItemList(named, { first, total })]
  }

  #streamerFeed(streamer: string): Alternate {
    const href = this.#url(streamerFeedPath(streamer))
    return { type: 'application/rss+xml', title: `Sessions: ${streamer}`, href }
  }

  #oembed(session: SessionReference): Alternate {
    const url = encodeURIComponent(this.#url(playerPagePath(session)))
    const href = this.#url(`${outsidePatterns.oembed}?url=${url}&format=json`)
    return { type: 'application/json+oembed', title: sessionTitle(session, undefined), href }
  }

  #url(path: string): string {
    return this.#options.publicUrl() + path
  }
}

/** As for the playlist: an empty recording may have bytes by now. */
export function isUnplayable({ state, sizeBytes }: SessionRow): boolean {
  return state.status === 'unplayable' && sizeBytes > 0
}

function fetched(path: string): Preload {
  return { kind: 'fetch', path }
}

function scripts(paths: readonly string[]): Preload[] {
  return paths.map((path) => ({ kind: 'script', path }))
}

function pagePath(path: string, number: number): string {
  return number === 1 ? path : `${path}?page=${number}`
}

interface ListSource {
  path: string
  list: ListPage
  parents: readonly Link[]
}

function linksOf(heading: string, { path, list, parents }: ListSource): PageLinks {
  const { number, pages, items } = list
  const toPage = (other: number): Link => ({
    path: pagePath(path, other),
    text: `Page ${other} of ${pages}`,
  })
  const around = [1, number - 1, number + 1, pages].filter(
    (other) => other >= 1 && other <= pages && other !== number,
  )
  return { heading, items, others: [...[...new Set(around)].map(toPage), ...parents] }
}

/** In one line, cut between words. */
function shorten(text: string | undefined): string | undefined {
  const line = text?.replaceAll(/\s+/g, ' ').trim()
  if (line === undefined || line === '') return undefined
  if (line.length <= MAX_DESCRIPTION) return line
  const cut = line.slice(0, MAX_DESCRIPTION).toWellFormed()
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_DESCRIPTION / 2))}…`
}
