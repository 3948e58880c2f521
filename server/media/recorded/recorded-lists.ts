// The runs of recorders' playlists, cached: read again if a playlist changes, checked again after a
// while.
import { LRUCache } from 'lru-cache'
import { runShared } from '../../base/admission/client.ts'
import { AppError } from '../../base/errors.ts'
import { tableBytes } from '../../storage/recordings/range-list.ts'
import type { FileStat, Storage } from '../../storage/recordings/storage.ts'
import { RecordedFolders } from './read-recorded-folder.ts'
import type { RecordedList } from './read-recorded-folder.ts'

/** A run of a playlist, with the path at which `RecordedStorage` opens it. */
export interface RecordedFile {
  /** Its number in the playlist, which does not change as that grows. */
  name: string
  path: string
  stat: FileStat
  /** Start in Unix milliseconds, if the playlist has it. */
  startMs?: number
}

/** How old the check of a playlist's files may be. The playlist itself is always compared. */
export type CheckAge = 'any' | 'recent'

export interface PlaylistRequest {
  path: string
  sizeBytes: number
  /** The version of a list that the caller has. */
  known: string | undefined
}

export interface RecordedListOptions {
  /**
   * Reads a playlist of this size off the event loop, as `RecordedFolders.read`; by default on this
   * thread.
   */
  read?: (request: PlaylistRequest) => Promise<RecordedList | 'unchanged'>
  /** Milliseconds of a monotonic clock. */
  now?: () => number
  /** Limit of the cached lists. */
  maxCachedBytes?: number
}

/** The longest playlist that is parsed takes less. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
/** Memory of a run without its ranges. */
const RUN_BYTES = 500
/** An unchanged playlist is checked again then: a segment may be added late, or deleted. */
const LIST_TTL_MS = 5000

interface CachedList {
  /** Of the playlist, before it was read. */
  stat: FileStat
  readMs: number
  list: RecordedList
  /** The same array until a run changes. */
  files: readonly RecordedFile[]
}

interface Flight {
  stat: FileStat
  found: Promise<CachedList>
  join: () => void
}

export class RecordedLists {
  readonly #storage: Storage
  readonly #options: Required<RecordedListOptions>
  readonly #cache: LRUCache<string, CachedList>
  readonly #inFlight = new Map<string, Flight>()

  constructor(storage: Storage, options: RecordedListOptions) {
    this.#storage = storage
    this.#options = {
      now: () => performance.now(),
      maxCachedBytes: MAX_CACHED_BYTES,
      ...options,
      // Created only if it is needed: its cache takes megabytes.
      read: options.read ?? readFrom(storage),
    }
    this.#cache = new LRUCache({
      maxSize: this.#options.maxCachedBytes,
      sizeCalculation: memoryBytes,
    })
  }

  /** @throws AppError `not_found` if there is no playlist, `unplayable` with the reason */
  async find(playlist: string, age: CheckAge): Promise<Omit<CachedList, 'stat' | 'readMs'>> {
    const stat = await this.#storage.stat(playlist)
    const cached = this.#cache.get(playlist)
    if (cached !== undefined && cached.stat.version === stat.version) {
      const isRecent = this.#options.now() - cached.readMs < LIST_TTL_MS
      if (isRecent || age === 'any') return cached
    }
    const flight = this.#inFlight.get(playlist)
    if (flight !== undefined && flight.stat.version === stat.version) {
      flight.join()
      return flight.found
    }
    const { result, join } = runShared(async () => this.#load(playlist, stat))
    const found = result.finally(() => {
      if (this.#inFlight.get(playlist)?.found === found) this.#inFlight.delete(playlist)
    })
    this.#inFlight.set(playlist, { stat, found, join })
    return found
  }

  evict(playlist: string): void {
    this.#cache.delete(playlist)
  }

  async #load(playlist: string, stat: FileStat): Promise<CachedList> {
    const { read, now } = this.#options
    const readMs = now()
    const known = this.#cache.get(playlist)
    try {
      const { sizeBytes } = stat
      const list = await read({ path: playlist, sizeBytes, known: known?.list.version })
      const content = list === 'unchanged' ? known : filesOf(playlist, list)
      if (content === undefined) throw new AppError('failed', 'the playlist was not read')
      const loaded = { ...content, stat, readMs }
      this.#cache.set(playlist, loaded)
      return loaded
    } catch (error) {
      this.#cache.delete(playlist)
      throw error
    }
  }
}

function filesOf(path: string, list: RecordedList): Pick<CachedList, 'list' | 'files'> {
  const files = list.runs.map(({ ranges, startMs }, number) => ({
    name: `${number}`,
    path: `${path}/${number}`,
    stat: ranges.stat,
    ...(startMs !== undefined && { startMs }),
  }))
  return { list, files }
}

function memoryBytes({ list: { runs } }: CachedList): number {
  const table = runs[0]?.ranges.table
  return (table === undefined ? 0 : tableBytes(table)) + RUN_BYTES * (runs.length + 1)
}

function readFrom(storage: Storage): Required<RecordedListOptions>['read'] {
  const folders = new RecordedFolders(storage)
  return async ({ path, known }) => folders.read(path, known)
}
