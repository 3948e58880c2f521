// How often names were asked for of late; bounded, and what was popular once is forgotten by and by.
import { LRUCache } from 'lru-cache'

const MAX_NAMES = 8192
/** What was not asked for in so many times the usual pause is over, as each segment of a live broadcast is soon. */
const OVER_AFTER_PAUSES = 8

interface Requests {
  count: number
  /** Number of the last request among those for all names. */
  last: number
}

export class RequestCounts {
  readonly #names = new LRUCache<string, Requests>({ max: MAX_NAMES })
  #total = 0
  #sinceHalved = 0
  #window = 0

  /** Counts a request, and answers how many there were of late. Counts are halved after every `window` requests. */
  add(name: string, window: number): number {
    this.#total += 1
    this.#sinceHalved += 1
    this.#window = window
    if (this.#sinceHalved >= window) this.#halve()
    const count = (this.#names.peek(name)?.count ?? 0) + 1
    this.#names.set(name, { count, last: this.#total })
    return count
  }

  /** Requests of late, without counting one; 0 where it looks as if there came no more. */
  of(name: string): number {
    const { count = 0, last = 0 } = this.#names.peek(name) ?? {}
    // What was halved before stands for one window more.
    const requests = Math.min(this.#total, this.#sinceHalved + this.#window)
    const isOver = (this.#total - last) * count > OVER_AFTER_PAUSES * requests
    return isOver ? 0 : count
  }

  #halve(): void {
    this.#sinceHalved = 0
    // Setting makes a name the newest: from the oldest on, their order stays.
    const names = [...this.#names.rkeys()]
    for (const name of names) {
      const { count = 0, last = 0 } = this.#names.peek(name) ?? {}
      if (count > 1) this.#names.set(name, { count: Math.floor(count / 2), last })
      else this.#names.delete(name)
    }
  }
}
