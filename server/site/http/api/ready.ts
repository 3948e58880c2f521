// GET /readyz: the catalog of the process is usable.
import { AppError } from '../../../base/errors.ts'
import { JSON_TYPE } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'

/** @param options.isReady whether the first scan of the library is complete */
export function createReadyEndpoint({ isReady }: { isReady: () => boolean }): Endpoint {
  return {
    path: '/readyz',
    answer: () => {
      if (!isReady()) throw new AppError('busy', 'the library is being scanned for the first time')
      return {
        body: { kind: 'bytes', bytes: JSON.stringify({ status: 'ready' }) },
        type: JSON_TYPE,
        cache: 'never',
        security: 'page',
      }
    },
  }
}
