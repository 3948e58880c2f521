// GET /api/sessions/{streamer}: the list of a streamer's sessions.
import type { SessionsResponse } from '../../../../shared/contract.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { streamerTags } from '../../purge/cache-tags.ts'
import type { ApiSources } from './api-sources.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import { parseName } from '../session-parameters.ts'

export function createSessionsEndpoint({ catalog, versions }: ApiSources): Endpoint {
  const format = (streamer: string): string => {
    const sessions: SessionsResponse | undefined = catalog.listSessions(streamer)
    if (sessions === undefined) throw new AppError('not_found', 'there is no such streamer')
    return JSON.stringify(sessions)
  }
  return {
    path: pathPatterns.sessions,
    kind: 'list',
    answer: ({ request }) => {
      const streamer = parseName(request.params, 'streamer')
      return answerJson({
        cached: { key: `sessions ${streamer}`, version: versions.streamer(streamer, 'recent') },
        format: () => format(streamer),
        tags: () => streamerTags(streamer),
      })
    },
  }
}
