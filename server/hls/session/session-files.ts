// The recordings of a session that is a folder: listed at most once a second, however many segments are asked for.
import { LRUCache } from 'lru-cache'
import { joinPath } from '../../catalog/names/library-path.ts'
import { readSessionFolder } from '../../catalog/names/session-folder.ts'
import { AppError, UnplayableError } from '../../errors.ts'
import type { RecordedStorage } from '../../media/recorded/recorded-storage.ts'
import type { FileStat } from '../../storage/storage.ts'

/** One part as it lies in its folder, or as a recorder's playlist lists it. */
export interface PartFile {
  name: string
  path: string
  stat: FileStat
  /** When it began, in milliseconds since 1970, where the recorder's playlist says so. */
  startMs?: number
}

const LISTED_FOR_MS = 1000
const MAX_FOLDERS = 256
/** A day in parts of a minute; more is no broadcast. */
const MAX_PARTS = 1500

export class SessionFiles {
  readonly #storage: RecordedStorage
  readonly #listings = new LRUCache<string, Promise<PartFile[]>>({
    max: MAX_FOLDERS,
    ttl: LISTED_FOR_MS,
  })

  constructor(storage: RecordedStorage) {
    this.#storage = storage
  }

  /**
   * The parts of a folder in the order they are played.
   *
   * @throws AppError `not_found` (no folder, or nothing in it), `unplayable`
   */
  async list(folder: string): Promise<PartFile[]> {
    return this.#listings.get(folder) ?? this.relist(folder)
  }

  /** As `list`, but as the folder is now: for who was told that it has changed. */
  async relist(folder: string): Promise<PartFile[]> {
    const listing = this.#read(folder)
    this.#listings.set(folder, listing)
    listing.catch(() => this.#listings.delete(folder))
    return listing
  }

  async #read(folder: string): Promise<PartFile[]> {
    // A playlist's folder may hold thousands of segments: their stats are not asked for in vain.
    const found = readSessionFolder(await this.#storage.list(folder))
    if (found === undefined) throw new AppError('not_found', 'the session has no recordings')
    const parts =
      found.kind === 'playlist'
        ? await this.#readRuns(folder, found.name)
        : await this.#readParts(folder)
    if (parts.length === 0) throw new AppError('not_found', 'the session has no recordings')
    if (parts.length > MAX_PARTS) {
      throw new UnplayableError({ code: 'limit-exceeded', limit: 'parts', max: MAX_PARTS })
    }
    return parts
  }

  async #readRuns(folder: string, playlist: string): Promise<PartFile[]> {
    const runs = await this.#storage.listRuns(joinPath(folder, playlist))
    // They have no names of their own; their place in the list stays as the list grows.
    return runs.map((run, i) => ({ ...run, name: `${i}` }))
  }

  /** Chosen anew with their stats: what is empty stands for no part, unless there is nothing else. */
  async #readParts(folder: string): Promise<PartFile[]> {
    const entries = await this.#storage.list(folder, { stats: true })
    const names = entries.map(({ name, kind }) => ({ name, kind }))
    const found = readSessionFolder(entries) ?? readSessionFolder(names)
    const stats = new Map(entries.map(({ name, stat }) => [name, stat]))
    return (found?.kind === 'parts' ? found.names : []).flatMap((name) => {
      const stat = stats.get(name)
      return stat === undefined ? [] : [{ name, path: joinPath(folder, name), stat }]
    })
  }
}
