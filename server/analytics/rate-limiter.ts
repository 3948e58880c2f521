// A rate limiter: a fixed window per address, in bounded memory.
import { LRUCache } from 'lru-cache'
import { isIPv6 } from 'node:net'

export interface RateLimits {
  requests: number
  windowMs: number
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/**
 * Requests per address and minute: a page batches its events, so that a busy visitor sends about
 * ten.
 */
export const ACTIVITY_LIMITS = { requests: 120, windowMs: 60_000 }

/** Addresses tracked; beyond that the least recently seen is evicted. */
const MAX_ADDRESSES = 10_000
const MAX_KEY_LENGTH = 64

/** Counts calls by address. Keeps nothing longer than two windows. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #windows = new LRUCache<string, { endsMs: number; left: number }>({ max: MAX_ADDRESSES })

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  /** Counts a call. Returns 0 if it is allowed, else the seconds to wait. */
  take(address: string): number {
    const nowMs = this.#limits.now()
    const key = networkOf(address)
    let window = this.#windows.get(key)
    if (window === undefined || window.endsMs <= nowMs) {
      window = { endsMs: nowMs + this.#limits.windowMs, left: this.#limits.requests }
      this.#windows.set(key, window)
    }
    window.left -= 1
    return window.left >= 0 ? 0 : Math.ceil((window.endsMs - nowMs) / 1000)
  }

  /** Seconds to wait until a call is allowed, 0 if it is now. Counts nothing. */
  secondsToWait(address: string): number {
    const window = this.#windows.get(networkOf(address))
    const leftMs = window !== undefined && window.left <= 0 ? window.endsMs - this.#limits.now() : 0
    return Math.max(0, Math.ceil(leftMs / 1000))
  }
}

/**
 * The part of an address that one visitor owns: an IPv6 network of 64 bits, as they are assigned
 * (RFC 6177). `X-Forwarded-For` may contain anything; of that, a bounded part.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address.slice(0, MAX_KEY_LENGTH)
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.groups?.v4
  if (mapped !== undefined) return mapped
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Math.max(8 - before.length - after.length, 0)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
