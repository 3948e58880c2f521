// GET /api/session/…: what the page shows of a session besides the lists.
import { pathPatterns, sessionKey } from '../../../../shared/paths.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

export function createSessionEndpoint(sources: ApiSources): Endpoint {
  const { catalog, sessionDetails, admission } = sources
  return {
    path: pathPatterns.session,
    kind: 'list',
    admission: admission.recordings,
    answer: async (call) => {
      const row = findPlayable(catalog, call)
      const text = JSON.stringify(await sessionDetails.find(row, call.signal))
      const cached = { key: `session ${sessionKey(row)}`, version: text }
      return answerJson({ cached, format: () => text })
    },
  }
}
