// The feeds of the site and of its streamers, cached until the catalog changes.
import {
  outsidePatterns,
  pathPatterns,
  sessionsPagePath,
  streamerFeedPath,
} from '../../../../shared/paths.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import { createTextCache, TextResponse } from '../responses/text-response.ts'
import type { TextResponseOptions } from '../responses/text-response.ts'
import type { Site } from '../site/site.ts'
import { formatFeed } from './write-feed.ts'

/** Sessions of a feed. */
const MAX_ITEMS = 50
const MAX_CACHED_BYTES = 16 * 1024 * 1024
/** Part of a core that the site's feed may cost while the catalog changes all the time. */
const MAX_SHARE = 0.05
/** A hidden session disappears within this time. */
const MAX_REST_MS = 2000

export interface FeedsOptions {
  catalog: Pick<
    Catalog,
    'generation' | 'changedStreamers' | 'hasStreamer' | 'newestSessions' | 'newestOfSite'
  >
  site: Site
  /** Public origin of the site, without a trailing slash. */
  origin: () => string
  response: Omit<TextResponseOptions, 'contentType'>
}

export class Feeds {
  readonly #options: FeedsOptions
  readonly #streamers = createTextCache(MAX_CACHED_BYTES)
  #site: { response: TextResponse; generation: number; restsUntilMs: number } | undefined
  #generation = -1

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  /** The newest sessions of all streamers. */
  site(): TextResponse {
    const { catalog, site } = this.#options
    const generation = catalog.generation()
    const nowMs = performance.now()
    const known = this.#site
    if (known && (known.generation === generation || nowMs < known.restsUntilMs)) {
      return known.response
    }
    // Sessions of a hidden streamer cost time, however many there are.
    const sessions = catalog.newestOfSite(MAX_ITEMS)
    const response = this.#respond(sessions, {
      title: site.name,
      description: `Recorded live streams of ${site.name}.`,
      path: pathPatterns.streamersPage,
      feedPath: outsidePatterns.siteFeed,
    })
    const restMs = Math.min(MAX_REST_MS, (performance.now() - nowMs) / MAX_SHARE)
    this.#site = { response, generation, restsUntilMs: nowMs + restMs }
    return response
  }

  /** The newest sessions of a streamer; undefined if it is unknown. @throws AppError `gone` */
  streamer(streamer: string): TextResponse | undefined {
    this.#evictChanged()
    const { catalog, site } = this.#options
    if (!catalog.hasStreamer(streamer)) return undefined
    const known = this.#streamers.get(streamer)
    if (known !== undefined) return known
    const feed = this.#respond(
      catalog.newestSessions(streamer, MAX_ITEMS),
      {
        title: `${streamer} · ${site.name}`,
        description: `Recorded live streams of ${streamer}.`,
        path: sessionsPagePath(streamer),
        feedPath: streamerFeedPath(streamer),
      },
      streamerTags(streamer),
    )
    this.#streamers.set(streamer, feed)
    return feed
  }

  #respond(
    sessions: readonly SessionRow[],
    feed: Omit<Parameters<typeof formatFeed>[0], 'sessions' | 'origin'>,
    tags: Readonly<Record<string, string>> = {},
  ): TextResponse {
    const { origin, response } = this.#options
    return new TextResponse(formatFeed({ ...feed, sessions, origin: origin() }), {
      ...response,
      contentType: 'application/rss+xml; charset=utf-8',
      headers: { ...response.headers, ...tags },
    })
  }

  #evictChanged(): void {
    const { catalog } = this.#options
    const generation = catalog.generation()
    if (generation === this.#generation) return
    const changed = catalog.changedStreamers(this.#generation, generation)
    this.#generation = generation
    if (changed === 'all') this.#streamers.clear()
    else for (const streamer of changed) this.#streamers.delete(streamer)
  }
}
