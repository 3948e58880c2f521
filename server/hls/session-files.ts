// The recordings of a session that is a folder: listed at most once a second, however many segments are asked for.
import { LRUCache } from 'lru-cache'
import { joinPath } from '../catalog/library-path.ts'
import { readSessionFolder } from '../catalog/session-folder.ts'
import { AppError } from '../errors.ts'
import type { FileStat, Storage } from '../storage/storage.ts'

/** One part as it lies in its folder. */
export interface PartFile {
  name: string
  path: string
  stat: FileStat
}

const LISTED_FOR_MS = 1000
const MAX_FOLDERS = 256
/** A day in parts of a minute; more is no broadcast. */
const MAX_PARTS = 1500

export class SessionFiles {
  readonly #storage: Storage
  readonly #listings = new LRUCache<string, Promise<PartFile[]>>({
    max: MAX_FOLDERS,
    ttl: LISTED_FOR_MS,
  })

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * The parts of a folder in the order they are played.
   *
   * @throws AppError `not_found` (no folder, or nothing in it), `unplayable`
   */
  async list(folder: string): Promise<PartFile[]> {
    const known = this.#listings.get(folder)
    if (known !== undefined) return known
    const listing = this.#read(folder)
    this.#listings.set(folder, listing)
    listing.catch(() => this.#listings.delete(folder))
    return listing
  }

  async #read(folder: string): Promise<PartFile[]> {
    const entries = await this.#storage.list(folder, { stats: true })
    const found = readSessionFolder(entries)
    if (found === undefined) throw new AppError('not_found', 'the session has no recordings')
    if (found.kind === 'playlist') {
      throw new AppError('unplayable', 'playlists that a recorder wrote cannot be played yet')
    }
    if (found.names.length > MAX_PARTS) {
      throw new AppError('unplayable', `the session has more than ${MAX_PARTS} parts`)
    }
    const stats = new Map(entries.map(({ name, stat }) => [name, stat]))
    return found.names.flatMap((name) => {
      const stat = stats.get(name)
      return stat === undefined ? [] : [{ name, path: joinPath(folder, name), stat }]
    })
  }
}
