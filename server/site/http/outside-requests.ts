// Requests outside of `server.basePath`: the home page without a slash, and what is not the site's.
import type { FastifyInstance } from 'fastify'
import { errorResponse } from './responses/errors.ts'
import { parseTarget } from './site/base-path.ts'

/** A path that no route has. */
const UNKNOWN = '/.outside'

/** The URL that the routes get for a request. */
export function urlOfRoutes(url: string, basePath: string): string {
  const target = parseTarget(url, basePath)
  return target.kind === 'site' ? target.url : UNKNOWN
}

/**
 * Answers requests outside of the base path before any route does: what is below another path is
 * another site, which has no page of this one. Without a base path there are none.
 */
export function answerOutside(app: FastifyInstance, basePath: string): void {
  if (basePath === '') return
  app.addHook('onRequest', async (request, reply) => {
    const target = parseTarget(request.originalUrl, basePath)
    if (target.kind === 'site') return undefined
    if (target.kind === 'home' && ['GET', 'HEAD'].includes(request.method)) {
      return reply.header('cache-control', 'no-cache').redirect(target.url, 301)
    }
    return reply
      .code(404)
      .header('cache-control', 'no-store')
      .send(errorResponse('not_found', 'there is nothing here'))
  })
}
