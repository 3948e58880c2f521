// What the page remembers of each visited history entry, so that Back finds it as it was left.

export interface Visit {
  /** Distance from the top in CSS pixels. */
  scrollTop: number
  /** How much of the page's length was above the window's end, or near it: 0 to 1. */
  seenShare: number
  /** What was typed into the search box. */
  search: string
}

/** As many entries as anybody goes back. */
const KEPT_VISITS = 100
const STORAGE_KEY = 'aftercast.visits'
const NEW_VISIT: Visit = { scrollTop: 0, seenShare: 0, search: '' }

/** Visits by history key; the one changed longest ago is forgotten first. */
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
    if (this.#visits.size > KEPT_VISITS && !oldest.done) this.#visits.delete(oldest.value)
  }

  forget(key: string): void {
    this.#visits.delete(key)
  }

  /** Writes all visits to the tab's own storage, so that a reload finds them. `open` may throw. */
  save(open: () => Storage): void {
    try {
      open().setItem(STORAGE_KEY, JSON.stringify([...this.#visits]))
    } catch {
      // Storage that is full or switched off costs only the place after a reload.
    }
  }
}

/** The memory that `save` wrote; an empty one where there is none or it cannot be read. `open` may throw. */
export function readVisitMemory(open: () => Storage): VisitMemory {
  try {
    const saved: unknown = JSON.parse(open().getItem(STORAGE_KEY) ?? '[]')
    return new VisitMemory(Array.isArray(saved) ? saved.filter(isVisitEntry) : [])
  } catch {
    return new VisitMemory()
  }
}

function isVisitEntry(entry: unknown): entry is [string, Visit] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false
  const visit: unknown = entry[1]
  return (
    typeof visit === 'object' &&
    visit !== null &&
    'scrollTop' in visit &&
    typeof visit.scrollTop === 'number' &&
    'seenShare' in visit &&
    typeof visit.seenShare === 'number' &&
    'search' in visit &&
    typeof visit.search === 'string'
  )
}
