// GET /api/around/…: the sessions of other streamers at the same time.
import type { AroundResponse } from '../../../../shared/around-response.ts'
import { outsidePatterns, sessionKey } from '../../../../shared/paths.ts'
import type { TimedSession } from '../../../library/catalog/catalog.ts'
import type { ApiSources } from './api-sources.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import { findPlayable } from './find-playable.ts'

export function createAroundEndpoint({ catalog, versions }: ApiSources): Endpoint {
  return {
    path: outsidePatterns.around,
    kind: 'list',
    answer: (call) => {
      const version = versions.site('now')
      const row = findPlayable(catalog, call)
      const format = (): string => {
        const { startMs = 0 } = row
        const sessions = catalog.around(row).map((other) => formatSession(other, startMs))
        return JSON.stringify({ sessions } satisfies AroundResponse)
      }
      return answerJson({ cached: { key: `around ${sessionKey(row)}`, version }, format })
    },
  }
}

function formatSession(other: TimedSession, startMs: number): AroundResponse['sessions'][number] {
  const { streamer, date, sessionId, title } = other
  return {
    streamer,
    date,
    sessionId,
    ...(title !== undefined && { title }),
    offsetSeconds: (other.startMs - startMs) / 1000,
    durationSeconds: (other.endMs - other.startMs) / 1000,
  }
}
