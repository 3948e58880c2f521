// GET /api/streamers: the list of streamers. The model of an endpoint.
import type { StreamerItem, StreamersResponse } from '../../../../shared/contract.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import type { ApiSources } from './api-sources.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

interface StreamersSources extends Pick<ApiSources, 'versions'> {
  catalog: Pick<Catalog, 'listStreamers'>
}

export function createStreamersEndpoint({ catalog, versions }: StreamersSources): Endpoint {
  let readAt: number | undefined
  let streamers: StreamerItem[] = []
  return {
    path: pathPatterns.streamers,
    kind: 'list',
    answer: () => {
      const generation = versions.site('recent')
      if (generation !== readAt) streamers = catalog.listStreamers()
      readAt = generation
      const list: StreamersResponse = { streamers }
      // The catalog returns the same array until it changes.
      const cached = { key: 'streamers', version: streamers }
      return answerJson({ cached, format: () => JSON.stringify(list) })
    },
  }
}
