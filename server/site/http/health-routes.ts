// GET /healthz (the process is alive) and /readyz (its catalog is usable).
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../base/errors.ts'

/**
 * Registers the routes.
 *
 * @param options.isReady whether the first scan of the library is complete
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { isReady }: { isReady: () => boolean },
): void {
  app.get('/healthz', async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )
  app.get('/readyz', async (_request, reply) => {
    if (!isReady()) throw new AppError('busy', 'the library is being scanned for the first time')
    return reply.header('cache-control', 'no-store').send({ status: 'ready' })
  })
}
