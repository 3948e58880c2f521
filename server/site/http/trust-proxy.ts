// `server.trustProxy` in the form that Fastify takes.
import type { FastifyServerOptions } from 'fastify'
import type { TrustedProxies } from '../../base/config/trusted-proxies.ts'

/**
 * Hops are counted from the connection, which is hop 0. Fastify itself trusts nobody if it gets a
 * number.
 */
export function trustProxyOf(
  proxies: TrustedProxies,
): NonNullable<FastifyServerOptions['trustProxy']> {
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  return typeof proxies === 'boolean' ? proxies : [...proxies]
}
