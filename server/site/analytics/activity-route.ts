// POST /api/activity: accepts visitors' events, and stores nothing about who they are.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { activityEvents } from '../../../shared/contract.ts'
import type { ActivityEvent, CountedEvent, QualityEvent } from '../../../shared/contract.ts'
import { ACTIVITY_BODY_BYTES } from '../../../shared/limits.ts'
import { activityApiPath } from '../../../shared/paths.ts'
import { AppError } from '../../base/errors.ts'
import { isForeignOrigin } from './request-origin.ts'

export interface ActivityRouteOptions {
  record: (event: CountedEvent) => void
  /** Takes what players have experienced, which is not stored. */
  measure: (event: QualityEvent) => void
  limiter: ActivityLimiter
  /** Other origins whose pages may send events, or `*`. */
  origins: readonly string[]
  /** Called once, when an address is first rejected. */
  onLimited: () => void
}

/**
 * Requests per address and minute: a page batches its events, so that a busy visitor sends about
 * ten.
 */
export const ACTIVITY_LIMITS = { requests: 120, windowMs: 60_000 }

/** Counts a request of an address. Returns 0 if it is allowed, else the seconds to wait. */
export interface ActivityLimiter {
  take(address: string): number | Promise<number>
}

/**
 * Registers the route. Responds with 204 to a JSON array of events, sent as JSON or as the
 * text/plain of `sendBeacon`; 415 to another media type, 400 to any other body, 403 to pages of
 * other sites, 413 above 64 KiB, and 429 with Retry-After (RFC 6585 4) above the rate limit.
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
    // First: a page of another site must not use up a visitor's limit.
    refuseForeignOrigins(scope, options)
    limitRate(scope, options)
    scope.post(activityApiPath, async (request, reply) => {
      void reply.header('cache-control', 'no-store').code(204)
      if (!wantsPrivacy(request)) takeEvents(request.body, options)
      return reply.send()
    })
  })
}

function refuseForeignOrigins(scope: FastifyInstance, { origins }: ActivityRouteOptions): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!isForeignOrigin(request, origins)) return undefined
    return reply
      .code(403)
      .header('cache-control', 'no-store')
      .send({ error: { code: 'forbidden', message: 'the page is of another site' } })
  })
}

function limitRate(scope: FastifyInstance, { limiter, onLimited }: ActivityRouteOptions): void {
  let wasReported = false
  scope.addHook('onRequest', async (request, reply) => {
    const waitSeconds = await limiter.take(request.ip)
    if (waitSeconds === 0) return undefined
    if (!wasReported) onLimited()
    wasReported = true
    return reply
      .code(429)
      .headers({ 'retry-after': waitSeconds, 'cache-control': 'no-store' })
      .send({ error: { code: 'limited', message: 'too many requests' } })
  })
}

/** Global Privacy Control, or the older Do Not Track. */
function wantsPrivacy({ headers }: FastifyRequest): boolean {
  return headers['sec-gpc'] === '1' || headers.dnt === '1'
}

function takeEvents(body: unknown, { record, measure }: ActivityRouteOptions): void {
  const events = activityEvents(parseJson(body))
  if (events === undefined) throw new AppError('invalid', 'the body is not a list of events')
  for (const event of events) {
    if (isQuality(event)) measure(event)
    // The server counts house ads when it serves them, so it needs no report by the visitor.
    else if (!('creative' in event)) record(event)
  }
}

function isQuality(event: ActivityEvent): event is QualityEvent {
  return event.name === 'playback' || event.name === 'vast_error'
}

function parseJson(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined
  } catch {
    return undefined // Not JSON.
  }
}
