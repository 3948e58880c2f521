// GET /api/config: the page's configuration.
import { pathPatterns } from '../../../../shared/paths.ts'
import type { ApiSources } from './api-sources.ts'
import { answerJson } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

export function createConfigEndpoint({ config }: ApiSources): Endpoint {
  const answer = answerJson({
    cached: { key: 'config', version: config },
    format: () => JSON.stringify(config),
  })
  return { path: pathPatterns.config, answer: () => answer }
}
