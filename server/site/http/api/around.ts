// GET /api/around/…: the sessions of other streamers at the same time.
import type { AroundResponse } from '../../../../shared/around-response.ts'
import { outsidePatterns, sessionKey } from '../../../../shared/paths.ts'
import type { Catalog, TimedSession } from '../../../library/catalog/catalog.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import type { CatalogVersions } from '../site/catalog-versions.ts'
import { findPlayable } from './find-playable.ts'

interface Sources {
  catalog: Catalog
  versions: CatalogVersions
}

export function createAroundEndpoint({ catalog, versions }: Sources): Endpoint {
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
