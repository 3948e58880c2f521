// GET /embed/{streamer}/{date}/{sessionId}: the page with the player alone.
import { outsidePatterns } from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import { isAppError } from '../../../base/errors.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { sessionTags } from '../../purge/cache-tags.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseSessionParameters } from '../session-parameters.ts'
import { isUnplayable } from './page-heads.ts'
import type { PageSources } from './page-sources.ts'

export function createEmbedPage({ catalog, facts, heads, answerEmbed }: PageSources): Endpoint {
  return {
    path: outsidePatterns.embedPage,
    kind: 'page',
    answer: async ({ request, tag }) => {
      const session = parseSessionParameters(request.params)
      tag(sessionTags(session))
      const { status, row } = findRow(catalog, session)
      const known = status === 200 && row ? await facts.session(row) : undefined
      const content = heads.embed({ session, row, facts: known, nowMs: Date.now() })
      return answerEmbed(content, status)
    },
  }
}

/** The page in the frame explains what is missing, so it exists for each status. */
function findRow(
  catalog: Catalog,
  session: SessionReference,
): { status: number; row: SessionRow | undefined } {
  try {
    const row = catalog.findSession(session)
    if (row === undefined) return { status: 404, row }
    return { status: isUnplayable(row) ? 422 : 200, row }
  } catch (error) {
    if (!isAppError(error, 'gone')) throw error
    return { status: 410, row: undefined }
  }
}
