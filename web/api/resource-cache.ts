// The resources of one kind by key, bounded: the one unwatched longest goes first.
import { Resource } from './resource.ts'

/** Keeps at most `limit` resources, and never drops one that is watched. */
export class ResourceCache<T> {
  readonly #limit: number
  readonly #load: (key: string, signal: AbortSignal) => Promise<T>
  readonly #resources = new Map<string, Resource<T>>()

  constructor(limit: number, load: (key: string, signal: AbortSignal) => Promise<T>) {
    this.#limit = limit
    this.#load = load
  }

  /** The resource of a key, made at first sight. It loads nothing before it is watched. */
  get(key: string): Resource<T> {
    const found = this.#resources.get(key)
    if (found) {
      this.#resources.delete(key)
      this.#resources.set(key, found)
      return found
    }
    const made = new Resource((signal) => this.#load(key, signal))
    this.#makeRoom()
    this.#resources.set(key, made)
    return made
  }

  #makeRoom(): void {
    for (const [key, resource] of this.#resources) {
      if (this.#resources.size < this.#limit) return
      if (!resource.isWatched) this.#resources.delete(key)
    }
  }
}
