// GET /api/config: the page's configuration.
import type { PublicConfig } from '../../../../shared/contract.ts'
import { pathPatterns } from '../../../../shared/paths.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

export function createConfigEndpoint({ config }: { config: PublicConfig }): Endpoint {
  const answer = answerJson({
    cached: { key: 'config', version: config },
    format: () => JSON.stringify(config),
  })
  return { path: pathPatterns.config, answer: () => answer }
}
