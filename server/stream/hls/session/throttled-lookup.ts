// Runs a lookup per key at most every so often, and shares its result among all callers.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { runShared } from '../../../base/admission/client.ts'

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
  readonly #next = new Map<string, { result: Promise<Found>; join: () => void }>()

  constructor({ everyMs }: ThrottledLookupOptions) {
    this.#everyMs = everyMs
    this.#startedMs = new LRUCache({ max: MAX_KEYS })
  }

  /** The result of a lookup that starts after this call; calls before its start share it. */
  async lookup(key: string, find: () => Promise<Found>): Promise<Found> {
    const next = this.#next.get(key) ?? runShared(async () => this.#lookup(key, find))
    this.#next.set(key, next)
    next.join()
    return next.result
  }

  async #lookup(key: string, find: () => Promise<Found>): Promise<Found> {
    const startedMs = this.#startedMs.get(key) ?? -Infinity
    await sleep(Math.max(0, startedMs + this.#everyMs - performance.now()))
    this.#next.delete(key)
    this.#startedMs.set(key, performance.now())
    return find()
  }
}
