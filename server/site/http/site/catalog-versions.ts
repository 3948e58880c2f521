// Versions of what is formatted from the catalog: they change whenever that may have changed.
import type { Catalog } from '../../../library/catalog/catalog.ts'

/** How recent a version is: `recent` misses changes of the last 50 ms, and costs no query. */
export type VersionAge = 'now' | 'recent'

const RECENT_MS = 50
/** Beyond them, all streamers get a new version. */
const MAX_STREAMERS = 10_000

export class CatalogVersions {
  readonly #catalog: Pick<Catalog, 'generation' | 'changedStreamers'>
  #generation = -1
  /** Version of all streamers that are not in the map. */
  #common = -1
  readonly #changed = new Map<string, number>()
  #isRecent = false

  constructor(catalog: Pick<Catalog, 'generation' | 'changedStreamers'>) {
    this.#catalog = catalog
  }

  /** Of the whole catalog: its generation. */
  site(age: VersionAge): number {
    if (age === 'recent' && this.#isRecent) return this.#generation
    if (!this.#isRecent) {
      this.#isRecent = true
      setTimeout(() => (this.#isRecent = false), RECENT_MS).unref()
    }
    const generation = this.#catalog.generation()
    if (generation !== this.#generation) this.#follow(generation)
    return generation
  }

  /** Of a streamer's lists. The name is in NFC. */
  streamer(streamer: string, age: VersionAge): number {
    this.site(age)
    return this.#changed.get(streamer) ?? this.#common
  }

  #follow(generation: number): void {
    const changed = this.#catalog.changedStreamers(this.#generation, generation)
    this.#generation = generation
    if (changed === 'all' || this.#changed.size + changed.size > MAX_STREAMERS) {
      this.#common = generation
      this.#changed.clear()
    } else for (const streamer of changed) this.#changed.set(streamer, generation)
  }
}
