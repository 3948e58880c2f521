// Lists the parts of sessions that are folders, at most once a second for all requests.
import { LRUCache } from 'lru-cache'
import { joinPath } from '../../catalog/names/library-path.ts'
import { readSessionFolder } from '../../catalog/names/session-folder.ts'
import { AppError, UnplayableError } from '../../errors.ts'
import type { RecordedStorage } from '../../media/recorded/recorded-storage.ts'
import type { FileStat } from '../../storage/storage.ts'

/** A file in a session's folder, or a run of segments in a recorder's playlist. */
export interface PartFile {
  name: string
  path: string
  stat: FileStat
  /** Start in milliseconds since 1970, if the recorder's playlist contains it. */
  startMs?: number
}

const LISTING_TTL_MS = 1000
const MAX_FOLDERS = 256
/** A day in parts of one minute. */
const MAX_PARTS = 1500

export class PartFolders {
  readonly #storage: RecordedStorage
  readonly #listings = new LRUCache<string, Promise<PartFile[]>>({
    max: MAX_FOLDERS,
    ttl: LISTING_TTL_MS,
  })

  constructor(storage: RecordedStorage) {
    this.#storage = storage
  }

  /**
   * The parts of a folder in playback order, as they were at most a second ago.
   *
   * @throws AppError `not_found` (no folder, or no parts), `unplayable`
   */
  async list(folder: string): Promise<PartFile[]> {
    return this.#listings.get(folder) ?? this.listNow(folder)
  }

  /** As `list`, but never from the cache: for callers that were notified of a change. */
  async listNow(folder: string): Promise<PartFile[]> {
    const listing = this.#read(folder)
    this.#listings.set(folder, listing)
    listing.catch(() => this.#listings.delete(folder))
    return listing
  }

  async #read(folder: string): Promise<PartFile[]> {
    // Without stats: a playlist's folder may have thousands of segments.
    const found = readSessionFolder(await this.#storage.list(folder))
    if (found === undefined) throw new AppError('not_found', 'the session has no recordings')
    const parts =
      found.kind === 'playlist'
        ? await this.#listRuns(folder, found.name)
        : await this.#listParts(folder)
    if (parts.length === 0) throw new AppError('not_found', 'the session has no recordings')
    if (parts.length > MAX_PARTS) {
      throw new UnplayableError({ code: 'limit-exceeded', limit: 'parts', max: MAX_PARTS })
    }
    return parts
  }

  async #listRuns(folder: string, playlist: string): Promise<PartFile[]> {
    const runs = await this.#storage.listRuns(joinPath(folder, playlist))
    // Runs have no names, but their numbers do not change as the list grows.
    return runs.map((run, i) => ({ ...run, name: `${i}` }))
  }

  /** Chooses the parts again with their stats: an empty file is a part only if all are empty. */
  async #listParts(folder: string): Promise<PartFile[]> {
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
