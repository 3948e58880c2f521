// Runs a lookup per key at most every so often, and shares its result among all callers.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** Keys with a known time of the last lookup. An evicted key is looked up too soon. */
const MAX_KEYS = 1000

export interface ThrottledLookupOptions {
  /** Least time between the starts of two lookups of one key. */
  everyMs: number
}

export class ThrottledLookup<Found> {
  readonly #everyMs: number
  readonly #startedMs: LRUCache<string, number>
  /** Lookups that have not started. */
  readonly #next = new Map<string, Promise<Found>>()

  constructor({ everyMs }: ThrottledLookupOptions) {
    this.#everyMs = everyMs
    this.#startedMs = new LRUCache({ max: MAX_KEYS })
  }

  /** The result of a lookup that starts after this call; calls before its start share it. */
  async lookup(key: string, find: () => Promise<Found>): Promise<Found> {
    const planned = this.#next.get(key)
    if (planned !== undefined) return planned
    const next = this.#lookup(key, find)
    this.#next.set(key, next)
    return next
  }

  async #lookup(key: string, find: () => Promise<Found>): Promise<Found> {
    const startedMs = this.#startedMs.get(key) ?? -Infinity
    await sleep(Math.max(0, startedMs + this.#everyMs - performance.now()))
    this.#next.delete(key)
    this.#startedMs.set(key, performance.now())
    return find()
  }
}
