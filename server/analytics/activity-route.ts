// POST /api/activity: takes what visitors did, and keeps nothing of who they are.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { activityEvents } from '../../shared/contract.ts'
import type { ActivityEvent } from '../../shared/contract.ts'
import { ACTIVITY_BODY_BYTES } from '../../shared/limits.ts'
import { activityApiPath } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'
import { RateLimiter } from './rate-limiter.ts'

export interface ActivityRouteOptions {
  record: (event: ActivityEvent) => void
  /** Milliseconds, never going back. */
  now: () => number
  /** Told once, when an address is first refused. */
  onLimited: () => void
}

/** Of one address and minute: a page batches its events, so that a busy visitor sends about ten. */
const REQUESTS = 120
const WINDOW_MS = 60_000

/**
 * Registers the route. It answers 204 for a JSON array of events, sent as JSON or as the text/plain of `sendBeacon`;
 * 400 for anything else, 413 above 64 KiB, and 429 with Retry-After (RFC 6585 4) to who calls too often.
 */
export async function addActivityRoute(
  app: FastifyInstance,
  options: ActivityRouteOptions,
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      ['application/json', 'text/plain'],
      { parseAs: 'string', bodyLimit: ACTIVITY_BODY_BYTES },
      (_request, body, done) => done(null, body),
    )
    limitRate(scope, options)
    scope.post(activityApiPath, async (request, reply) => {
      void reply.header('cache-control', 'no-store').code(204)
      if (!wantsPrivacy(request)) takeEvents(request.body, options)
      return reply.send()
    })
  })
}

function limitRate(scope: FastifyInstance, { now, onLimited }: ActivityRouteOptions): void {
  const limiter = new RateLimiter({ requests: REQUESTS, windowMs: WINDOW_MS, now })
  let wasTold = false
  scope.addHook('onRequest', async (request, reply) => {
    const waitSeconds = limiter.take(request.ip)
    if (waitSeconds === 0) return undefined
    if (!wasTold) onLimited()
    wasTold = true
    return reply
      .code(429)
      .headers({ 'retry-after': waitSeconds, 'cache-control': 'no-store' })
      .send({ error: { code: 'limited', message: 'too many requests' } })
  })
}

/** Global Privacy Control, and the older Do Not Track. */
function wantsPrivacy({ headers }: FastifyRequest): boolean {
  return headers['sec-gpc'] === '1' || headers.dnt === '1'
}

function takeEvents(body: unknown, { record }: ActivityRouteOptions): void {
  const events = activityEvents(parseJson(body))
  if (events === undefined) throw new AppError('invalid', 'the body is not a list of events')
  // House ads are counted where they are served, which knows what was shown: a visitor's word is not needed.
  for (const event of events) if (!('creative' in event)) record(event)
}

function parseJson(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined
  } catch {
    return undefined // No JSON is no list of events.
  }
}
