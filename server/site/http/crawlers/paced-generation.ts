// The generation of the catalog that a costly response follows: work for it takes a small share of
// the time, even if the catalog changes all the time.
import type { Catalog } from '../../../library/catalog/catalog.ts'

/** Part of a core that the work may cost. */
const MAX_SHARE = 0.05
/** A hidden name disappears within this time. */
const MAX_REST_MS = 2000

export class PacedGeneration {
  readonly #catalog: Pick<Catalog, 'generation'>
  readonly #now: () => number
  #built = -1
  #restsUntilMs = -Infinity

  /** @param now milliseconds of a monotonic clock */
  constructor(catalog: Pick<Catalog, 'generation'>, now = (): number => performance.now()) {
    this.#catalog = catalog
    this.#now = now
  }

  /** The generation to respond with: the last one that was built, while the work rests. */
  current(): number {
    return this.#now() < this.#restsUntilMs ? this.#built : this.#catalog.generation()
  }

  /** Call it before the work for a generation, and the result when it is complete. */
  start(generation: number): () => void {
    const startedMs = this.#now()
    return () => {
      const builtMs = this.#now()
      this.#built = generation
      this.#restsUntilMs = builtMs + Math.min(MAX_REST_MS, (builtMs - startedMs) / MAX_SHARE)
    }
  }
}
