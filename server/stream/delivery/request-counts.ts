// Recent requests by key, in bounded memory. Old requests count less and less.
import { LRUCache } from 'lru-cache'

const MAX_KEYS = 8192
/** A key without a request for this many of its usual intervals is no longer popular. */
const EXPIRED_AFTER_INTERVALS = 8

interface Requests {
  count: number
  /** Sequence number of the last request, among those for all keys. */
  last: number
}

export class RequestCounts {
  readonly #keys = new LRUCache<string, Requests>({ max: MAX_KEYS })
  #total = 0
  #sinceHalved = 0
  #window = 0

  /** Counts a request and returns the recent ones. Halves all counts after `window` requests. */
  add(key: string, window: number): number {
    this.#total += 1
    this.#sinceHalved += 1
    this.#window = window
    if (this.#sinceHalved >= window) this.#halve()
    const count = (this.#keys.peek(key)?.count ?? 0) + 1
    this.#keys.set(key, { count, last: this.#total })
    return count
  }

  /** Recent requests, without counting one; 0 if the requests for the key seem to have stopped. */
  of(key: string): number {
    const { count = 0, last = 0 } = this.#keys.peek(key) ?? {}
    // A halved count represents one more window.
    const requests = Math.min(this.#total, this.#sinceHalved + this.#window)
    const hasExpired = (this.#total - last) * count > EXPIRED_AFTER_INTERVALS * requests
    return hasExpired ? 0 : count
  }

  #halve(): void {
    this.#sinceHalved = 0
    // `set` makes a key the newest: iterating from the oldest preserves the order.
    const keys = [...this.#keys.rkeys()]
    for (const key of keys) {
      const { count = 0, last = 0 } = this.#keys.peek(key) ?? {}
      if (count > 1) this.#keys.set(key, { count: Math.floor(count / 2), last })
      else this.#keys.delete(key)
    }
  }
}
