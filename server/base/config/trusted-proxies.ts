// The value of `server.trustProxy`: whose `X-Forwarded-*` headers are trusted. Pure.
import { isIP } from 'node:net'

/** All or none, the number of proxies before the server, or their addresses and CIDR ranges. */
export type TrustedProxies = boolean | number | readonly string[]

const MAX_HOPS = 100
const MAX_RANGES = 1000

/** Undefined for a malformed value. A string is as in the environment. */
export function parseTrustedProxies(value: unknown): TrustedProxies | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return parseHops(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim().toLowerCase()
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^\d{1,4}$/.test(text)) return parseHops(Number(text))
  const ranges = text.split(',', MAX_RANGES + 1).map((range) => range.trim())
  return ranges.length <= MAX_RANGES && ranges.every(isRange) ? ranges : undefined
}

function parseHops(hops: number): number | undefined {
  return Number.isInteger(hops) && hops >= 0 && hops <= MAX_HOPS ? hops : undefined
}

/** An address without a zone, or a CIDR range of at least one bit: `true` means every address. */
function isRange(range: string): boolean {
  const [address = '', prefix, ...rest] = range.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || rest.length > 0) return false
  if (prefix === undefined) return true
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : 0
  return bits >= 1 && bits <= (family === 4 ? 32 : 128)
}
