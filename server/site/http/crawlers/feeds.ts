// GET /feed.xml and /s/{streamer}/feed.xml: the feeds of the site and of its streamers.
import {
  outsidePatterns,
  pathPatterns,
  sessionsPagePath,
  streamerFeedPath,
} from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { Answer, Endpoint, TextBody } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import type { CatalogVersions } from '../site/catalog-versions.ts'
import type { Site } from '../site/site.ts'
import { PacedGeneration } from './paced-generation.ts'
import { formatFeed } from './write-feed.ts'

/** Sessions of a feed. */
const MAX_ITEMS = 50

export interface FeedSources {
  catalog: Catalog
  versions: CatalogVersions
  site: Site
  /** Public origin of the site, without a trailing slash. */
  publicUrl: () => string
}

/** The newest sessions of all streamers. */
export function createSiteFeedEndpoint({ catalog, site, publicUrl }: FeedSources): Endpoint {
  const generations = new PacedGeneration(catalog)
  const format = (generation: number): string => {
    const end = generations.start(generation)
    const text = formatFeed({
      title: site.name,
      description: `Recorded live streams of ${site.name}.`,
      path: pathPatterns.streamersPage,
      feedPath: outsidePatterns.siteFeed,
      // Sessions of a hidden streamer cost time, however many there are.
      sessions: catalog.newestOfSite(MAX_ITEMS),
      origin: publicUrl(),
    })
    end()
    return text
  }
  return {
    path: outsidePatterns.siteFeed,
    kind: 'feed',
    answer: () => {
      const version = generations.current()
      return answerFeed({ cached: { key: 'feed', version }, format: () => format(version) })
    },
  }
}

/** The newest sessions of a streamer. */
export function createStreamerFeedEndpoint(sources: FeedSources): Endpoint {
  const { catalog, versions, site, publicUrl } = sources
  const format = (streamer: string): string =>
    formatFeed({
      title: `${streamer} · ${site.name}`,
      description: `Recorded live streams of ${streamer}.`,
      path: sessionsPagePath(streamer),
      feedPath: streamerFeedPath(streamer),
      sessions: catalog.newestSessions(streamer, MAX_ITEMS),
      origin: publicUrl(),
    })
  return {
    path: outsidePatterns.streamerFeed,
    kind: 'feed',
    answer: ({ request }) => {
      const streamer = parseName(request.params, 'streamer')
      const version = versions.streamer(streamer, 'now')
      if (!catalog.hasStreamer(streamer)) {
        throw new AppError('not_found', 'there is no such streamer')
      }
      const cached = { key: `feed ${streamer}`, version }
      const answer = answerFeed({ cached, format: () => format(streamer) })
      return { ...answer, tags: () => streamerTags(streamer) }
    },
  }
}

function answerFeed(text: Pick<TextBody, 'cached' | 'format'>): Answer {
  return {
    body: { kind: 'text', ...text },
    type: 'application/rss+xml; charset=utf-8',
    // As lists: a hidden session disappears immediately.
    cache: 'revalidate',
    security: 'page',
  }
}
