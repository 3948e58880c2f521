// GET /feed.xml and /s/{streamer}/feed.xml: the feeds of the site and of its streamers.
import {
  outsidePatterns,
  pathPatterns,
  sessionsPagePath,
  streamerFeedPath,
} from '../../../../shared/paths.ts'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { Answer, Endpoint, FormattedText, TextBody } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import type { CatalogVersions } from '../site/catalog-versions.ts'
import type { Site } from '../site/site.ts'
import { PacedGeneration } from './paced-generation.ts'
import { formatFeed } from './write-feed.ts'
import type { Enclosure, FeedOptions } from './write-feed.ts'

/** Sessions of a feed. */
const MAX_ITEMS = 50

/** A feed without an enclosure that may exist soon is formatted again after this time. */
const PENDING_MS = 2000
/** Longest wait for the enclosures of a feed. */
const ENCLOSURES_WAIT_MS = 5000

export interface FeedSources {
  catalog: Catalog
  /** Of the feeds of streamers. `later`: the session may have one soon. Default none. */
  findEnclosure?: ((session: SessionRow) => Promise<Enclosure | 'later' | undefined>) | undefined
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
  const { catalog, versions, site, findEnclosure, publicUrl } = sources
  const format = (streamer: string): FormattedText | Promise<FormattedText> => {
    const sessions = catalog.newestSessions(streamer, MAX_ITEMS)
    const feed = {
      title: `${streamer} · ${site.name}`,
      description: `Recorded live streams of ${streamer}.`,
      path: sessionsPagePath(streamer),
      feedPath: streamerFeedPath(streamer),
      sessions,
      origin: publicUrl(),
    }
    return findEnclosure === undefined
      ? formatFeed(feed)
      : formatPodcast(feed, async (session) => findInTime(session, findEnclosure))
  }
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

type FindEnclosure = NonNullable<FeedSources['findEnclosure']>

async function formatPodcast(feed: FeedOptions, find: FindEnclosure): Promise<FormattedText> {
  const enclosures = new Map<SessionRow, Enclosure>()
  let validUntilMs = Infinity
  const add = async (session: SessionRow): Promise<void> => {
    const found = await find(session)
    const retryMs = Math.max(Date.now() + PENDING_MS, session.settlesAtMs)
    if (found === 'later') validUntilMs = Math.min(validUntilMs, retryMs)
    else if (found !== undefined) enclosures.set(session, found)
  }
  await Promise.all(feed.sessions.map(add))
  return { text: formatFeed({ ...feed, enclosures }), validUntilMs }
}

/** A session that cannot be read now has no enclosure yet. */
async function findInTime(session: SessionRow, find: FindEnclosure) {
  const reason = () => new AppError('busy', 'the session takes too long to open')
  try {
    return await withTimeout(async () => find(session), { timeoutMs: ENCLOSURES_WAIT_MS, reason })
  } catch (error) {
    if (isAppError(error)) return 'later'
    throw error
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
