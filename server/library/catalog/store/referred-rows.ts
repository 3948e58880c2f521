// The rows that the row of a recording refers to: its folder, with the folders around it, and its
// streamer.
import { splitPath } from '../../../storage/recordings/library-path.ts'
import type { SessionKey, SessionListing } from './session-listing.ts'
import type { FolderQueries } from './writer-queries.ts'

/** Looks rows up and adds missing ones, each once in a transaction. */
export class ReferredRows {
  readonly #queries: FolderQueries
  readonly #listing: SessionListing
  readonly #folders = new Map<string, number>()
  readonly #streamers = new Map<string, number>()
  readonly #newDates = new Map<string, boolean>()

  constructor(queries: FolderQueries, listing: SessionListing) {
    this.#queries = queries
    this.#listing = listing
  }

  /** The id of a folder's row, which is added with its ancestors if it is missing. */
  folder(path: string): number {
    return once(this.#folders, path, () => {
      return this.#queries.folder.get({ path })?.id ?? this.#addFolder(path)
    })
  }

  /** The id of a streamer's row, which is added if it is missing. */
  streamer(name: string): number {
    return once(this.#streamers, name, () => this.#listing.ensureStreamer(name))
  }

  /**
   * Whether the streamer had no recording of this date. One query for all recordings of the date,
   * far cheaper than one per session.
   */
  isNewDate(key: SessionKey): boolean {
    const text = `${key.streamerId}/${key.date}`
    return once(this.#newDates, text, () => this.#listing.isNewDate(key))
  }

  #addFolder(path: string): number {
    const parent = splitPath(path)
    const parentId = parent ? this.folder(parent.folder) : null
    const added = this.#queries.addFolder.get({ path, parentId })
    if (!added) throw new Error('an inserted folder has no id')
    return added.id
  }
}

function once<Value>(known: Map<string, Value>, key: string, find: () => Value): Value {
  const value = known.get(key) ?? find()
  known.set(key, value)
  return value
}

/** Removes a folder without recordings and subfolders, and then its ancestors likewise. */
export function removeEmptyFolder(
  queries: Pick<FolderQueries, 'removeEmptyFolder'>,
  id: number,
): void {
  const removed = queries.removeEmptyFolder.get({ id })
  if (typeof removed?.parentId === 'number') removeEmptyFolder(queries, removed.parentId)
}
