// Which IP addresses an upstream may have: public ones alone, so that no name can lead into our own network.
import { lookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../errors.ts'

/** Answers every address of a host name, as node:dns does with `all: true`. */
export type ResolveHost = (
  hostname: string,
  answer: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/** The system's resolver. */
export const resolveHost: ResolveHost = (hostname, answer) =>
  lookup(hostname, { all: true }, answer)

/**
 * Whether an IP address is of the public internet: not loopback, private, link-local, shared (RFC 6598), unique local,
 * multicast, reserved, nor an IPv6 form that carries an IPv4 address (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  return ipaddr.process(address).range() === 'unicast'
}

/**
 * The address that a URL's host spells, or undefined where it is a name. `URL` has already turned every notation of
 * IPv4 (hexadecimal, octal, one number) into four decimal parts.
 */
export function findLiteralAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * A lookup for node:http that hands out the addresses it has checked, and no others: the socket is connected to what
 * was checked here, so a second answer of the name server changes nothing. One private address refuses the host.
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
