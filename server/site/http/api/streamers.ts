// GET /api/streamers: the list of streamers. The model of an endpoint.
import type { StreamerItem, StreamersResponse } from '../../../../shared/contract.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import type { CatalogVersions } from '../site/catalog-versions.ts'

interface Sources {
  catalog: Pick<Catalog, 'listStreamers'>
  versions: CatalogVersions
}

export function createStreamersEndpoint({ catalog, versions }: Sources): Endpoint {
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
