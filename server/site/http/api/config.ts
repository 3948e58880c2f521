// GET /api/config: the page's configuration.
import type { PublicConfig } from '../../../../shared/contract.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import { JSON_TYPE } from '../responses/answer.ts'
import type { Answer, Endpoint } from '../responses/answer.ts'

export function createConfigEndpoint({ config }: { config: PublicConfig }): Endpoint {
  const answer: Answer = {
    body: {
      kind: 'text',
      cached: { key: 'config', version: config },
      format: () => JSON.stringify(config),
    },
    type: JSON_TYPE,
    cache: 'revalidate',
    security: 'data',
  }
  return { path: pathPatterns.config, answer: () => answer }
}
