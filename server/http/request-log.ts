// Logs each request if configured, and slow requests always.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

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
  app.addHook('onResponse', (request, reply, done) => {
    const totalMs = reply.elapsedTime
    // The client's bandwidth decides how long a segment takes: its first byte shows a slow server.
    const isSlow = (request.kind === 'segment' ? reply.firstByteMs : totalMs) > slowMs
    if (isSlow || requests) {
      const line = {
        method: request.method,
        url: request.originalUrl.slice(0, MAX_URL_LENGTH),
        status: reply.raw.statusCode,
        ms: roundMs(totalMs),
        kind: request.kind,
        ...(request.kind === 'segment' && { firstByteMs: roundMs(reply.firstByteMs) }),
      }
      if (isSlow) logger.warn(line, 'slow request')
      else logger.info(line, 'request')
    }
    done()
  })
}

function roundMs(ms: number): number {
  return Math.round(ms * 10) / 10
}
