// GET /p/{streamer}/{date}/{sessionId}: the page of a session.
import { pathPatterns } from '../../../../shared/paths.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseSessionParameters } from '../session-parameters.ts'
import { isUnplayable } from './page-heads.ts'
import type { PageSources } from './page-sources.ts'

export function createPlayerPage({ catalog, facts, heads, answerPage }: PageSources): Endpoint {
  return {
    path: pathPatterns.playerPage,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const session = parseSessionParameters(request.params)
      tag(sessionTags(session))
      const row = catalog.findSession(session)
      const known = row && !isUnplayable(row) ? await facts.session(row) : undefined
      const content = heads.player({ session, row, facts: known, nowMs: Date.now() })
      if (row === undefined) return answerPage(content, 404)
      return answerPage(content, isUnplayable(row) ? 422 : 200)
    },
  }
}
