// Which `Host` headers the private listener answers: a page of another site whose name an attacker
// points to this machine (DNS rebinding) sends that name.
import { isIP } from 'node:net'

/**
 * Whether a request names the listener by an address, which no other site can have, as `localhost`,
 * or by one of these names.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const hostname = URL.parse(`http://${host}`)?.hostname ?? ''
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (host === undefined || bare === '') return false
  if (isIP(bare) !== 0 || bare === 'localhost' || bare.endsWith('.localhost')) return true
  return names.some((name) => name.toLowerCase() === bare)
}
