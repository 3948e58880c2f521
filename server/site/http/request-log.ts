// Logs each request if configured, and slow requests always.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { CacheUse } from '../../stream/delivery/segment-sender.ts'
import { phaseTimes } from './responses/server-timing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the bytes of a segment came from, for the line about a slow request. */
    served: { transcoded: boolean; cache: CacheUse } | undefined
  }
}

export interface RequestLogOptions {
  logger: FastifyBaseLogger
  /** Whether to log every request. */
  requests: boolean
  /** Requests slower than this are logged as warnings. */
  slowMs: number
}

/** Node limits a URL to 16 KiB; a log line has at most this much of it. */
const MAX_URL_LENGTH = 2048

/** One line per request, with `method`, `url`, `status` and `ms` until the end of the response. */
export function logRequests(
  app: FastifyInstance,
  { logger, requests, slowMs }: RequestLogOptions,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startMs = performance.now()
    // Unlike Fastify's onResponse hook, `close` also follows an aborted response.
    reply.raw.once('close', () => {
      const endMs = performance.now()
      const firstByteMs = (reply.firstByteAtMs ?? endMs) - startMs
      const isMedia = ['segment', 'audio', 'original'].includes(request.kind)
      // The client's bandwidth decides how long media take, the server when they start.
      const isSlow = (isMedia ? firstByteMs : endMs - startMs) > slowMs
      if (!isSlow && !requests) return
      const line = {
        method: request.method,
        url: request.originalUrl.slice(0, MAX_URL_LENGTH),
        status: reply.raw.statusCode,
        ms: roundMs(endMs - startMs),
        kind: request.kind,
        ...(isMedia && { firstByteMs: roundMs(firstByteMs) }),
        ...(isSlow && { phases: phaseTimes(request), ...request.served }),
        ...(!reply.raw.writableFinished && { aborted: true }),
      }
      if (isSlow) logger.warn(line, 'slow request')
      else logger.info(line, 'request')
    })
    done()
  })
}

function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10
}
