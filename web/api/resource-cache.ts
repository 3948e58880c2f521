// A bounded LRU cache of resources by key.
import { Resource } from './resource.ts'
import type { ResourceOptions } from './resource.ts'

/** Caches `limit` resources; one with subscribers is never evicted. */
export class ResourceCache<T> {
  readonly #limit: number
  readonly #load: (key: string, signal: AbortSignal) => Promise<T>
  readonly #options: ResourceOptions<T>
  readonly #resources = new Map<string, Resource<T>>()

  constructor(
    limit: number,
    load: (key: string, signal: AbortSignal) => Promise<T>,
    options: ResourceOptions<T> = {},
  ) {
    this.#limit = limit
    this.#load = load
    this.#options = options
  }

  /** The resource of a key, created on first use. It loads nothing before it has a subscriber. */
  get(key: string): Resource<T> {
    const found = this.#resources.get(key)
    if (found) {
      this.#resources.delete(key)
      this.#resources.set(key, found)
      return found
    }
    const created = new Resource((signal) => this.#load(key, signal), this.#options)
    this.#evict()
    this.#resources.set(key, created)
    return created
  }

  #evict(): void {
    for (const [key, resource] of this.#resources) {
      if (this.#resources.size < this.#limit) return
      if (!resource.isWatched) this.#resources.delete(key)
    }
  }
}
