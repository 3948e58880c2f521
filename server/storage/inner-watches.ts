// Watches of their own for folders that came with folders inside: the tree's own watch sees only the outermost of what is
// made or moved at once (`mkdir -p`), and nothing of what is written below.
import watcher from '@parcel/watcher'
import type { AsyncSubscription, SubscribeCallback } from '@parcel/watcher'
import { readdir } from 'node:fs/promises'

/** Of more the oldest are let go: recordings are written to the newest folders, and a rescan finds the rest. */
const MAX_WATCHES = 256

export interface InnerWatchesOptions {
  report: SubscribeCallback
  /** Called with a folder once it is watched, as what changed before is not known. */
  onBegun: (path: string) => void
}

export class InnerWatches {
  readonly #options: InnerWatchesOptions
  readonly #watches = new Map<string, Promise<AsyncSubscription | undefined>>()
  #isClosed = false

  constructor(options: InnerWatchesOptions) {
    this.#options = options
  }

  /** Watches a folder that has just come, where it has folders inside. */
  async add(path: string): Promise<void> {
    if (this.#isClosed || this.#watches.has(path) || !(await hasFolders(path))) return
    if (this.#isClosed || this.#watches.has(path)) return
    // One that cannot be watched has gone again, or is left to the rescan.
    const watch = watcher.subscribe(path, this.#options.report).catch(() => undefined)
    this.#watches.set(path, watch)
    const [oldest] = this.#watches.keys()
    if (this.#watches.size > MAX_WATCHES && oldest !== undefined) await this.remove(oldest)
    if ((await watch) !== undefined) this.#options.onBegun(path)
  }

  /** Ends the watch of a folder that is no more. */
  async remove(path: string): Promise<void> {
    const watch = this.#watches.get(path)
    this.#watches.delete(path)
    // The folder itself may be gone, and its watch with it.
    await (await watch)?.unsubscribe().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const path of this.#watches.keys()) await this.remove(path)
  }
}

async function hasFolders(path: string): Promise<boolean> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.some((entry) => entry.isDirectory())
}
