// Restricts upstreams to public IP addresses, so that no name can resolve into the operator's own
// network.
import { lookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP, isIPv6 } from 'node:net'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { IPv4, IPv6 } from 'ipaddr.js'
import { AppError } from '../../base/errors.ts'

/** Resolves all addresses of a host name, like node:dns with `all: true`. */
export type ResolveHost = (
  hostname: string,
  answer: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** The system's resolver. */
export const resolveHost: ResolveHost = (hostname, answer) =>
  lookup(hostname, { all: true }, answer)

/**
 * Whether an IP address is public: not loopback, private, link-local, shared (RFC 6598), unique
 * local, site-local, multicast or reserved, and not an IPv6 form that embeds an IPv4 address
 * (mapped, compatible, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js takes `::8.8.8.8` for a mapped address, unlike the system; `URL` normalises it.
  const url = URL.parse(isIPv6(address) ? `http://[${address}]` : `http://${address}`)
  const literal = isIP(address) === 0 || url === null ? '' : findLiteralAddress(url)
  if (literal === undefined || !ipaddr.isValid(literal)) return false
  const parsed = ipaddr.process(literal)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || isGlobalUnicast(parsed))
}

/** 2000::/3, of which alone IANA assigns public addresses (RFC 4291 2.4, RFC 3587 3). */
function isGlobalUnicast(address: IPv4 | IPv6): boolean {
  return (address.toByteArray()[0] ?? 0) >> 5 === 1
}

/**
 * The literal address in a URL's host; undefined for a name. `URL` normalises every notation of
 * IPv4 (hexadecimal, octal, one number) to dotted decimal.
 */
export function findLiteralAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * A lookup for node:http that returns only checked addresses. The socket connects to exactly these,
 * so a second DNS response changes nothing. One private address rejects the host.
 */
export function createPublicLookup(resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = error === null ? addresses : []
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        callback(new AppError('failed', `${hostname} has no public address`, { cause: error }), '')
      } else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
