// Looks at things anew, at each of them at most so often, however many ask.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** Things that were looked at a moment ago; of one that is forgotten, the next look comes too soon. */
const MAX_KEPT = 1000

export interface ThrottledLookupOptions {
  /** Looks at one thing begin at least so far apart. */
  everyMs: number
}

export class ThrottledLookup<Found> {
  readonly #everyMs: number
  readonly #begunMs: LRUCache<string, number>
  /** Looks that have not begun. */
  readonly #next = new Map<string, Promise<Found>>()

  constructor({ everyMs }: ThrottledLookupOptions) {
    this.#everyMs = everyMs
    this.#begunMs = new LRUCache({ max: MAX_KEPT })
  }

  /** What is found by a look that begins from now on; all who ask before it does share it. */
  async lookup(name: string, find: () => Promise<Found>): Promise<Found> {
    const planned = this.#next.get(name)
    if (planned !== undefined) return planned
    const next = this.#lookup(name, find)
    this.#next.set(name, next)
    return next
  }

  async #lookup(name: string, find: () => Promise<Found>): Promise<Found> {
    const begunMs = this.#begunMs.get(name) ?? -Infinity
    await sleep(Math.max(0, begunMs + this.#everyMs - performance.now()))
    this.#next.delete(name)
    this.#begunMs.set(name, performance.now())
    return find()
  }
}
