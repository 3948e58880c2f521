// GET /s/{streamer}: the page with the list of a streamer's sessions.
import { pathPatterns } from '../../../../shared/paths.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'
import { parsePageNumber } from './list-links.ts'
import type { PageSources } from './page-sources.ts'

export function createSessionsPage(sources: PageSources): Endpoint {
  const { catalog, lists, facts, heads, answerPage } = sources
  return {
    path: pathPatterns.sessionsPage,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const streamer = parseName(request.params, 'streamer')
      tag(streamerTags(streamer))
      const isListed = catalog.hasStreamer(streamer)
      const list = isListed ? lists.sessions(streamer, parsePageNumber(request.query)) : undefined
      const known = list && (await facts.streamer(streamer))
      const content = heads.sessions({ streamer, facts: known, list })
      // The same page with the true status: crawlers must drop a removed streamer.
      return answerPage(content, list === undefined ? 404 : 200)
    },
  }
}
