// Decides whether a page of another site sent a request, as browsers report it.
import type { FastifyRequest } from 'fastify'

/** The parts of a request that show its origin and its target. */
type OriginRequest = Pick<FastifyRequest, 'headers' | 'host' | 'protocol'>

/**
 * Whether a browser sent the request from a page of another origin (RFC 6454 7) that is not in
 * `allowed` (origins, or `*`). Without an `Origin` it is not from a page.
 */
export function isForeignOrigin(request: OriginRequest, allowed: readonly string[]): boolean {
  const { origin } = request.headers
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false
  // The browser compared with the address that it requested. Scripts cannot set this header, so a
  // proxy that replaces `Host` does no harm.
  if (request.headers['sec-fetch-site'] === 'same-origin') return false
  const sender = URL.parse(origin)
  const host = URL.parse(`${sender?.protocol}//${request.host}`)?.host
  if (sender === null || !host || sender.host !== host) return true
  // `http` may only be the last hop: a proxy that is not trusted may have ended TLS.
  return request.protocol === 'https' && sender.protocol !== 'https:'
}
