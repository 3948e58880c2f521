// The first pass of a scan: walks the library, or one folder of it, and brings the catalog's rows up to date.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, isAppError } from '../errors.ts'
import type { FileStat, Storage, StorageEntry } from '../storage/storage.ts'
import type {
  CatalogWriter,
  FoundRecording,
  KnownFolder,
  KnownRecording,
} from './catalog-writer.ts'
import type { Layout, LayoutPosition } from './layout.ts'
import { joinPath, splitPath } from './library-path.ts'

export interface WalkOptions {
  storage: Storage
  layout: Layout
  writer: CatalogWriter
  /** A file counts as finished when it has not changed for so long. */
  settleMs: number
  /**
   * Whether an empty library is to be believed. Before it was seen otherwise, it is more likely a disk that is not
   * mounted.
   */
  mayBeEmpty: boolean
  /** Milliseconds since 1970. */
  now: () => number
  /** A folder could not be read; its recordings are kept. */
  onFolderError: (folder: string, error: unknown) => void
  /** Called after each folder with the number of recordings met so far in this walk. */
  onFound?: (recordings: number) => void
}

/** Folders read at once. */
const FOLDERS_AT_ONCE = 8
/** Recordings in one transaction, which bounds how long the event loop stands still. */
const ROWS_PER_TRANSACTION = 500

/**
 * Walks `start` ('' = the whole library) and all below it. Answers whether the catalog changed. Throws AppError
 * `failed` where the library itself is not there: then nothing is removed.
 */
export async function walkLibrary(
  start: string,
  options: WalkOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const folder = startingFolder(start, options.layout)
  if (!folder) return false
  const walk = new Walk(options, signal)
  await walk.run(folder)
  return walk.hasChanged
}

interface Folder {
  path: string
  position: LayoutPosition
}

/** The folder to walk for a path: itself, or where the path is that of a recording, the folder that holds it. */
function startingFolder(path: string, layout: Layout): Folder | undefined {
  const position = positionOf(path, layout)
  if (position) return { path, position }
  const place = splitPath(path)
  const parent = place && positionOf(place.folder, layout)
  if (!parent || !layout.match(parent, place.name, 0)) return undefined
  return { path: place.folder, position: parent }
}

/** Position of a folder by its path, or undefined where no recording can lie at or below it. */
function positionOf(path: string, layout: Layout): LayoutPosition | undefined {
  let position: LayoutPosition | undefined = layout.root
  for (const name of path === '' ? [] : path.split('/')) {
    position = position && layout.enter(position, name)
  }
  return position
}

class Walk {
  readonly #options: WalkOptions
  readonly #signal: AbortSignal
  /** A stack, so that a subtree is done before the next begins. */
  readonly #open: Folder[] = []
  /** Paths that were not found where the catalog knows something. */
  readonly #vanished: string[] = []
  #found: FoundRecording[] = []
  #gone: number[] = []
  #met = 0
  hasChanged = false

  constructor(options: WalkOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  async run(start: Folder): Promise<void> {
    // the root first and alone: if it cannot be read, nothing else is tried
    if (start.path === '') await this.#readFolder(start)
    else this.#open.push(start)
    await this.#readOpenFolders()
    this.#flush()
    await this.#removeVanished()
  }

  async #readOpenFolders(): Promise<void> {
    const underWay = new Set<Promise<void>>()
    while (this.#open.length > 0 || underWay.size > 0) {
      this.#signal.throwIfAborted()
      const folder = underWay.size < FOLDERS_AT_ONCE ? this.#open.pop() : undefined
      if (!folder) {
        await Promise.race(underWay)
        continue
      }
      const reading = this.#tryFolder(folder).finally(() => underWay.delete(reading))
      underWay.add(reading)
    }
  }

  async #tryFolder(folder: Folder): Promise<void> {
    try {
      await this.#readFolder(folder)
    } catch (error) {
      if (isAppError(error, 'not_found')) this.#vanished.push(folder.path)
      else if (isAppError(error)) this.#options.onFolderError(folder.path, error)
      else throw error
    }
  }

  async #readFolder({ path, position }: Folder): Promise<void> {
    const { storage, layout, writer, onFound } = this.#options
    const entries = await storage.list(path, { stats: true })
    const known = writer.readFolder(path)
    if (path === '') this.#checkNotEmptied(entries, known)
    const goneFolders = new Set(known.folders)
    const goneFiles = new Map(known.recordings.map((recording) => [recording.name, recording]))
    for (const entry of entries) {
      const inside = entry.kind === 'folder' ? layout.enter(position, entry.name) : undefined
      if (inside) {
        goneFolders.delete(entry.name)
        this.#open.push({ path: joinPath(path, entry.name), position: inside })
      } else if (entry.kind === 'file' && entry.stat) {
        this.#meetFile({ path, position }, { name: entry.name, stat: entry.stat }, goneFiles)
      }
    }
    for (const { id } of goneFiles.values()) this.#gone.push(id)
    for (const name of goneFolders) this.#vanished.push(joinPath(path, name))
    this.#flushIfFull()
    onFound?.(this.#met)
  }

  /** Takes a file that is a recording off `gone`, and notes it if it is new or has changed. */
  #meetFile(
    folder: Folder,
    { name, stat }: { name: string; stat: FileStat },
    gone: Map<string, KnownRecording>,
  ): void {
    const match = this.#options.layout.match(folder.position, name, stat.modifiedMs)
    if (!match) return
    this.#met += 1
    const known = gone.get(name)
    gone.delete(name)
    if (known?.sizeBytes === stat.sizeBytes && known.modifiedMs === stat.modifiedMs) return
    const settlesAtMs = this.#settlesAtMs(stat, known !== undefined)
    this.#found.push({ folder: folder.path, name, stat, match, settlesAtMs })
    this.#flushIfFull()
  }

  /** At first sight a file is judged by its own time, where one in the future counts as finished; later by ours. */
  #settlesAtMs({ modifiedMs }: FileStat, hasChanged: boolean): number {
    const now = this.#options.now()
    if (hasChanged) return now + this.#options.settleMs
    return modifiedMs > now ? now : modifiedMs + this.#options.settleMs
  }

  #flushIfFull(): void {
    if (this.#found.length + this.#gone.length >= ROWS_PER_TRANSACTION) this.#flush()
  }

  #flush(): void {
    if (this.#found.length + this.#gone.length === 0) return
    this.#options.writer.apply({ found: this.#found, gone: this.#gone })
    this.#found = []
    this.#gone = []
    this.hasChanged = true
  }

  /**
   * Removes what is still not there, if the library itself still is: a disk that went away in the middle of the walk
   * looks as if all folders had been removed.
   */
  async #removeVanished(): Promise<void> {
    if (this.#vanished.length === 0) return
    const { storage, writer } = this.#options
    const removable: string[] = []
    for (const path of this.#vanished) {
      this.#signal.throwIfAborted()
      if (await isAbsent(storage, path)) removable.push(path)
    }
    this.#checkNotEmptied(await storage.list(''), writer.readFolder(''))
    for (const path of removable) {
      while (writer.removeSome(path, ROWS_PER_TRANSACTION)) {
        this.#signal.throwIfAborted()
        await nextTurn()
      }
      this.hasChanged = true
    }
  }

  #checkNotEmptied(entries: readonly StorageEntry[], known: KnownFolder): void {
    if (entries.length > 0 || this.#options.mayBeEmpty) return
    if (known.folders.length + known.recordings.length === 0) return
    throw new AppError('failed', 'the library is empty although the catalog knows recordings of it')
  }
}

async function isAbsent(storage: Storage, path: string): Promise<boolean> {
  try {
    await storage.list(path)
    return false
  } catch (error) {
    return isAppError(error, 'not_found')
  }
}
