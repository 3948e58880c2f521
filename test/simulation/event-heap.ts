// The events of a simulation, by time; a random rank orders those of one moment.
import type { Actor } from './actor.ts'

export interface QueuedEvent {
  atMs: number
  rank: number
  label: string
  /** The simulation waits for what it returns. */
  run: () => unknown
  actor: Actor
  isCancelled: boolean
}

/** A binary heap. */
export class EventHeap {
  readonly #events: QueuedEvent[] = []

  peek(): QueuedEvent | undefined {
    return this.#events[0]
  }

  add(event: QueuedEvent): void {
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(at, above)) break
      this.#swap(at, above)
      at = above
    }
  }

  take(): QueuedEvent | undefined {
    const events = this.#events
    const [first] = events
    const last = events.pop()
    if (first === undefined || last === undefined || events.length === 0) return first
    events[0] = last
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const child = right < events.length && this.#isBefore(right, left) ? right : left
      if (child >= events.length || !this.#isBefore(child, at)) return first
      this.#swap(at, child)
      at = child
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#events[a], this.#events[b]]
    if (one === undefined || other === undefined) return false
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.rank < other.rank)
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#events[a], this.#events[b]]
    if (one !== undefined) this.#events[b] = one
    if (other !== undefined) this.#events[a] = other
  }
}
