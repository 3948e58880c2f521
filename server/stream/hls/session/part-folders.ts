// Lists the parts of sessions that are folders, at most once a second for all requests.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { joinPath } from '../../../storage/recordings/library-path.ts'
import { findPlaylist, readSessionFolder } from '../../../library/catalog/names/session-folder.ts'
import { runShared } from '../../../base/admission/client.ts'
import { AppError, checkLimit } from '../../../base/errors.ts'
import type { RecordedFile } from '../../../media/recorded/recorded-lists.ts'
import type { RecordedStorage } from '../../../media/recorded/recorded-storage.ts'
import { isRecent } from './freshness.ts'

/** A file in a session's folder, or a run of segments in a recorder's playlist. */
export type PartFile = RecordedFile

/** A folder with an unusual name of its playlist is listed again after this time. */
const PLAYLIST_TTL_MS = 5000
/** Parts of all cached listings: about 300 bytes each. */
const MAX_CACHED_PARTS = 50_000
/** A day in parts of one minute. */
const MAX_PARTS = 1500

/** What was found in a folder. */
type Contents =
  | { kind: 'playlist'; name: string; chosenMs: number; parts: readonly PartFile[] }
  /** Equal listings have equal fingerprints. */
  | { kind: 'parts'; fingerprint: string; parts: readonly PartFile[] }

type PartStorage = Omit<RecordedStorage, 'withRanges'>

interface Flight {
  parts: Promise<readonly PartFile[]>
  join: () => void
}

interface Listing {
  contents: Contents
  listedMs: number
}

export class PartFolders {
  readonly #storage: PartStorage
  readonly #now: () => number
  readonly #listings = new LRUCache<string, Listing>({
    maxSize: MAX_CACHED_PARTS,
    sizeCalculation: ({ contents: { parts } }) => parts.length + 1,
  })
  readonly #inFlight = new Map<string, Flight>()

  /** @param now milliseconds of a monotonic clock */
  constructor(storage: PartStorage, now = () => performance.now()) {
    this.#storage = storage
    this.#now = now
  }

  /**
   * The parts of a folder in playback order, as they were at most a second ago. Returns the same
   * array until they change.
   *
   * @throws AppError `not_found` (no folder, or no parts), `unplayable`
   */
  async list(folder: string): Promise<readonly PartFile[]> {
    const cached = this.#listings.get(folder)
    if (cached !== undefined && isRecent(cached.listedMs, this.#now())) {
      return cached.contents.parts
    }
    const flight = this.#inFlight.get(folder)
    flight?.join()
    return flight?.parts ?? this.listNow(folder)
  }

  /** As `list`, but never from the cache: for callers that were notified of a change. */
  async listNow(folder: string): Promise<readonly PartFile[]> {
    const { result, join } = runShared(async () => this.#refresh(folder))
    const parts = result.finally(() => {
      if (this.#inFlight.get(folder)?.parts === parts) this.#inFlight.delete(folder)
    })
    this.#inFlight.set(folder, { parts, join })
    return parts
  }

  async #refresh(folder: string): Promise<readonly PartFile[]> {
    const listedMs = this.#now()
    try {
      const contents = await this.#read(folder, this.#listings.get(folder)?.contents)
      const { parts } = contents
      if (parts.length === 0) throw new AppError('not_found', 'the session has no recordings')
      checkLimit('parts', MAX_PARTS, parts.length)
      const latestMs = this.#listings.get(folder)?.listedMs ?? listedMs
      if (latestMs <= listedMs) this.#listings.set(folder, { contents, listedMs })
      return parts
    } catch (error) {
      this.#listings.delete(folder)
      throw error
    }
  }

  async #read(folder: string, known: Contents | undefined): Promise<Contents> {
    if (known?.kind === 'parts') return this.#readParts(folder, known)
    const isRecent = known !== undefined && this.#now() - known.chosenMs < PLAYLIST_TTL_MS
    const name = await findPlaylist(this.#storage, folder, isRecent ? known.name : undefined)
    if (name !== undefined) return this.#readPlaylist(folder, name, known?.chosenMs)
    // Without stats: a playlist's folder may have thousands of segments.
    const found = readSessionFolder(await this.#storage.list(folder))
    if (found === undefined) throw new AppError('not_found', 'the session has no recordings')
    return found.kind === 'playlist'
      ? this.#readPlaylist(folder, found.name)
      : this.#readParts(folder)
  }

  async #readPlaylist(folder: string, name: string, chosenMs = this.#now()): Promise<Contents> {
    const parts = await this.#storage.listRuns(joinPath(folder, name))
    return { kind: 'playlist', name, chosenMs, parts }
  }

  /** Chooses the parts again with their stats: an empty file is a part only if all are empty. */
  async #readParts(folder: string, known?: Contents): Promise<Contents> {
    const entries = await this.#storage.list(folder, { stats: true })
    const fingerprint = createHash('sha256').update(JSON.stringify(entries)).digest('base64')
    if (known?.kind === 'parts' && known.fingerprint === fingerprint) return known
    const names = entries.map(({ name, kind }) => ({ name, kind }))
    const byName = readSessionFolder(names)
    if (byName?.kind === 'playlist') return this.#readPlaylist(folder, byName.name)
    const found = readSessionFolder(entries) ?? byName
    const stats = new Map(entries.map(({ name, stat }) => [name, stat]))
    const parts = (found?.kind === 'parts' ? found.names : []).flatMap((name) => {
      const stat = stats.get(name)
      return stat === undefined ? [] : [{ name, path: joinPath(folder, name), stat }]
    })
    return { kind: 'parts', fingerprint, parts }
  }
}
