// GET /healthz: the process is alive. GET /readyz: the catalog of the process is usable.
import { AppError } from '../../../base/errors.ts'
import type { ApiSources } from './api-sources.ts'
import { JSON_TYPE } from '../responses/answer.ts'
import type { Answer, Endpoint } from '../responses/answer.ts'

export function createHealthEndpoints({ isReady }: ApiSources): Endpoint[] {
  const answerReady = (): Answer => {
    if (!isReady()) throw new AppError('busy', 'the library is being scanned for the first time')
    return answerStatus('ready')
  }
  return [
    { path: '/healthz', answer: () => answerStatus('ok') },
    { path: '/readyz', answer: answerReady },
  ]
}

function answerStatus(status: string): Answer {
  return {
    body: { kind: 'bytes', bytes: JSON.stringify({ status }) },
    type: JSON_TYPE,
    cache: 'never',
    security: 'page',
  }
}
