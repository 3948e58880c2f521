// A rate limiter: a fixed window per address, in bounded memory.
import { LRUCache } from 'lru-cache'
import { networkOf } from './client.ts'

export interface RateLimits {
  requests: number
  windowMs: number
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/** Addresses tracked; beyond that the least recently seen is evicted. */
const MAX_ADDRESSES = 10_000

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
