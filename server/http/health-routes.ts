// GET /healthz and /readyz: is the process alive, is its catalog usable.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'

/** Registers the routes. `isReady` answers whether the first walk over the library is done. */
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
