// GET /healthz: the process is alive.
import { JSON_TYPE } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

export const healthEndpoint: Endpoint = {
  path: '/healthz',
  answer: () => ({
    body: { kind: 'bytes', bytes: JSON.stringify({ status: 'ok' }) },
    type: JSON_TYPE,
    cache: 'never',
    security: 'page',
  }),
}
