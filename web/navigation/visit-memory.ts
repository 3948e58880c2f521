// Scroll position of each visited history entry, so that Back restores it.
import { number, object } from '../../shared/shape.ts'

export interface Visit {
  /** Distance from the top in CSS pixels. */
  scrollTop: number
  /** The share of the page's height that the visitor has scrolled through, 0 to 1. */
  seenShare: number
}

/** More entries than visitors go back. */
const MAX_VISITS = 100
const STORAGE_KEY = 'aftercast.visits'
const NEW_VISIT: Visit = { scrollTop: 0, seenShare: 0 }

/** Visits by history key; the least recently changed one is evicted first. */
export class VisitMemory {
  readonly #visits: Map<string, Visit>

  constructor(visits: Iterable<[string, Visit]> = []) {
    this.#visits = new Map(visits)
  }

  recall(key: string): Visit {
    return this.#visits.get(key) ?? NEW_VISIT
  }

  remember(key: string, change: Partial<Visit>): void {
    const visit = { ...this.recall(key), ...change }
    this.#visits.delete(key)
    this.#visits.set(key, visit)
    const oldest = this.#visits.keys().next()
    if (this.#visits.size > MAX_VISITS && !oldest.done) this.#visits.delete(oldest.value)
  }

  forget(key: string): void {
    this.#visits.delete(key)
  }

  /** Writes all visits to the tab's session storage, for a reload. `open` may throw. */
  save(open: () => Storage): void {
    try {
      open().setItem(STORAGE_KEY, JSON.stringify([...this.#visits]))
    } catch {
      // Storage is full or off: only the position after a reload is lost.
    }
  }
}

/** The memory that `save` wrote; empty if it is missing or unreadable. `open` may throw. */
export function readVisitMemory(open: () => Storage): VisitMemory {
  try {
    const saved: unknown = JSON.parse(open().getItem(STORAGE_KEY) ?? '[]')
    return new VisitMemory(
      Array.isArray(saved) ? saved.slice(-MAX_VISITS).filter(isVisitEntry) : [],
    )
  } catch {
    return new VisitMemory()
  }
}

const visit = object({ scrollTop: number, seenShare: number })

function isVisitEntry(entry: unknown): entry is [string, Visit] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && visit(entry[1]) !== undefined
}
