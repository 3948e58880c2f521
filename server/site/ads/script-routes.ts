// GET /api/proxy-ad/{adhost}/ad-provider.js: an ad script from a configured upstream or built in,
// with our own headers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import type { ErrorResponse } from '../../../shared/contract.ts'
import { outsidePatterns } from '../../../shared/paths.ts'
import { AppError, isAppError } from '../../base/errors.ts'
import type { ProxiedScript } from './script-proxy.ts'

/** RFC 5861 4: caches may serve the stale script for a day while this server fails. */
const SCRIPT_CACHE = 'public, max-age=300, stale-if-error=86400'
const UNAVAILABLE: ErrorResponse = {
  error: { code: 'failed', message: 'the ad script is not available' },
}

/** Finds the script of an ad host; throws AppError `not_found` or `failed`. */
export type FindScript = (adHost: string) => Promise<ProxiedScript>

/** Registers the route. Only the host's name from the request reaches `findScript`. */
export function addScriptRoute(app: FastifyInstance, findScript: FindScript): void {
  app.get<{ Params: { adHost: string } }>(outsidePatterns.adScript, async (request, reply) => {
    refuseServiceWorker(request)
    try {
      return sendScript(request, reply, await findScript(request.params.adHost))
    } catch (error) {
      if (!isAppError(error, 'failed')) throw error
      // Logged once per attempt, not per visitor.
      return reply.code(502).header('cache-control', 'no-store').send(UNAVAILABLE)
    }
  })
}

/**
 * An ad script must not become a service worker, which would outlive its page (Service Workers,
 * 'Service-Worker' header).
 */
function refuseServiceWorker({ headers }: FastifyRequest): void {
  if (headers['service-worker'] === undefined) return
  throw new AppError('invalid', 'an ad script is not a service worker')
}

function sendScript(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag }: ProxiedScript,
): FastifyReply {
  void reply.headers({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': SCRIPT_CACHE,
    'x-content-type-options': 'nosniff',
    etag,
  })
  if (fresh(request.headers, { etag })) return reply.code(304).send()
  return reply.send(bytes)
}
