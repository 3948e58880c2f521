// The first pass of a scan: walks the library, or one folder of it, and brings the catalog's rows up to date.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, isAppError } from '../../errors.ts'
import type { FileStat, Storage, StorageEntry } from '../../storage/storage.ts'
import type {
  CatalogWriter,
  FoundRecording,
  KnownFolder,
  KnownRecording,
} from '../store/catalog-writer.ts'
import type { Layout, LayoutPosition } from '../names/layout.ts'
import { joinPath, splitPath } from '../names/library-path.ts'
import { statSessionFolder } from '../names/session-folder.ts'

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
  /** What goes before the rest of this walk. */
  changes?: DueChanges
}

/** Changes of which the storage told while a walk is under way: a walk of a large library is long. */
export interface DueChanges {
  /** Whether there are any that are to be walked by now. */
  areDue(): boolean
  /** Walks them, and nothing else. */
  walk(): Promise<void>
}

/** Folders read at once. */
const FOLDERS_AT_ONCE = 8
/** Recordings in one transaction, which bounds how long the event loop stands still. */
const ROWS_PER_TRANSACTION = 500
/** Vanished paths that are looked at before the first of them is removed. */
const VANISHED_AT_ONCE = 500

/**
 * Walks `start` ('' = the whole library) and all below it. Answers whether the catalog changed. Throws AppError
 * `failed` where the library itself is not there: then nothing is removed.
 */
export async function walkLibrary(
  start: string,
  options: WalkOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const begin = startOfWalk(start, options)
  if (!begin) return false
  const walk = new Walk(options, signal)
  await walk.run(begin)
  return walk.hasChanged
}

/** A folder in which recordings, or folders that lead to them, may lie. */
interface Folder {
  kind: 'folder'
  path: string
  position: LayoutPosition
}

/** A folder whose name is that of a session: it is one recording if it holds parts. */
interface SessionFolder {
  kind: 'session'
  path: string
  parent: Folder
  name: string
}

/**
 * What to walk for a path where something changed or vanished: the folder itself; where the path is that of a recording,
 * the folder that holds it; where it lies in a session's folder, that one alone.
 */
function startOfWalk(path: string, options: WalkOptions): Folder | SessionFolder | undefined {
  const { layout } = options
  const itself = folderOf(path, layout)
  const place = splitPath(path)
  if (itself || !place) return itself
  const parent = folderOf(place.folder, layout)
  if (!parent) return sessionFolderOf(place.folder, layout)
  const file = { name: place.name, kind: 'file', modifiedMs: 0 } as const
  if (layout.match(parent.position, file)) return parent
  return sessionFolderOf(path, layout)
}

function sessionFolderOf(path: string, layout: Layout): SessionFolder | undefined {
  const place = splitPath(path)
  const parent = place && folderOf(place.folder, layout)
  if (!parent || !mayBeSession(parent, place.name, layout)) return undefined
  return { kind: 'session', path, parent, name: place.name }
}

/** Whether a folder has a session's name; what is in it is not known yet. */
function mayBeSession({ position }: Folder, name: string, layout: Layout): boolean {
  return layout.match(position, { name, kind: 'folder', modifiedMs: 0 }) !== undefined
}

/** Undefined where no recording can lie at or below the path. */
function folderOf(path: string, layout: Layout): Folder | undefined {
  let position: LayoutPosition | undefined = layout.root
  for (const name of path === '' ? [] : path.split('/')) {
    position = position && layout.enter(position, name)
  }
  return position && { kind: 'folder', path, position }
}

class Walk {
  readonly #options: WalkOptions
  readonly #signal: AbortSignal
  /** A stack, so that a subtree is done before the next begins. */
  readonly #open: (Folder | SessionFolder)[] = []
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

  async run(start: Folder | SessionFolder): Promise<void> {
    // the root first and alone: if it cannot be read, nothing else is tried
    if (start.kind === 'folder' && start.path === '') await this.#readFolder(start)
    else this.#open.push(start)
    await this.#readOpenFolders()
    this.#flush()
    while (this.#vanished.length > 0) await this.#removeSomeVanished()
  }

  async #readOpenFolders(): Promise<void> {
    const underWay = new Set<Promise<void>>()
    for (;;) {
      this.#signal.throwIfAborted()
      await this.#makeWay(underWay)
      const folder = underWay.size < FOLDERS_AT_ONCE ? this.#open.pop() : undefined
      if (folder) {
        const reading = this.#tryFolder(folder).finally(() => underWay.delete(reading))
        underWay.add(reading)
      } else if (underWay.size > 0) {
        await Promise.race(underWay)
      } else {
        return
      }
    }
  }

  /**
   * Lets changes go first. Only when all that was read is written: what is read later is newer, and must not be
   * overwritten with what was seen before.
   */
  async #makeWay(underWay: Iterable<Promise<void>> = []): Promise<void> {
    const { changes } = this.#options
    if (!changes?.areDue()) return
    await Promise.all(underWay)
    this.#flush()
    await changes.walk()
  }

  async #tryFolder(folder: Folder | SessionFolder): Promise<void> {
    try {
      if (folder.kind === 'folder') await this.#readFolder(folder)
      else await this.#readSessionFolder(folder)
    } catch (error) {
      if (isAppError(error, 'not_found')) this.#vanished.push(folder.path)
      else if (isAppError(error)) this.#options.onFolderError(folder.path, error)
      else throw error
    }
  }

  async #readFolder(folder: Folder): Promise<void> {
    const { path } = folder
    const { storage, writer, onFound } = this.#options
    const entries = await storage.list(path, { stats: true })
    const known = writer.readFolder(path)
    if (path === '') this.#checkNotEmptied(entries, known)
    const goneFolders = new Set(known.folders)
    const gone = new Map(known.recordings.map((recording) => [recording.name, recording]))
    for (const { name, kind, stat } of entries) {
      const recording = gone.get(name)
      if (kind === 'folder' && this.#meetFolder(folder, name)) {
        goneFolders.delete(name)
        gone.delete(name)
      } else if (stat && this.#meetRecording(folder, { name, kind, stat }, recording)) {
        gone.delete(name)
      }
    }
    for (const { id } of gone.values()) this.#gone.push(id)
    for (const name of goneFolders) this.#vanished.push(joinPath(path, name))
    this.#flushIfFull()
    onFound?.(this.#met)
  }

  /** Notes a folder to be read if recordings may lie in it, or if it may be one. Answers whether it is noted. */
  #meetFolder(parent: Folder, name: string): boolean {
    const path = joinPath(parent.path, name)
    const position = this.#options.layout.enter(parent.position, name)
    if (position) this.#open.push({ kind: 'folder', path, position })
    else if (!mayBeSession(parent, name, this.#options.layout)) return false
    else this.#open.push({ kind: 'session', path, parent, name })
    return true
  }

  async #readSessionFolder({ path, parent, name }: SessionFolder): Promise<void> {
    const { storage, writer } = this.#options
    const stat = await statSessionFolder(storage, path)
    const known = writer.readRecording(parent.path, name)
    if (stat) this.#meetRecording(parent, { name, kind: 'folder', stat }, known)
    else if (known) this.#gone.push(known.id)
    this.#flushIfFull()
  }

  /** Notes a recording that is new or has changed. Answers whether it is one. */
  #meetRecording(
    folder: Folder,
    { name, kind, stat }: { name: string; kind: 'file' | 'folder'; stat: FileStat },
    known: KnownRecording | undefined,
  ): boolean {
    const { sizeBytes, modifiedMs } = stat
    if (known?.sizeBytes === sizeBytes && known.modifiedMs === modifiedMs) {
      // what the catalog knows was found by this very layout
      this.#met += 1
      return true
    }
    const match = this.#options.layout.match(folder.position, { name, kind, modifiedMs })
    if (!match) return false
    this.#met += 1
    const settlesAtMs = this.#settlesAtMs(stat, known !== undefined)
    this.#found.push({ folder: folder.path, name, kind, stat, match, settlesAtMs })
    this.#flushIfFull()
    return true
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
   * looks as if all folders had been removed. What is left when changes are due is looked at anew after them, as it may
   * have come back.
   */
  async #removeSomeVanished(): Promise<void> {
    await this.#makeWay()
    const { storage, writer, changes } = this.#options
    const absent = await this.#stillAbsent(this.#vanished.splice(0, VANISHED_AT_ONCE))
    if (absent.length === 0) return
    this.#checkNotEmptied(await storage.list(''), writer.readFolder(''))
    this.hasChanged = true
    for (const [at, path] of absent.entries()) {
      for (let hasMore = true; hasMore;) {
        hasMore = writer.removeSome(path, ROWS_PER_TRANSACTION)
        await nextTurn()
        this.#signal.throwIfAborted()
        if (!changes?.areDue()) continue
        this.#vanished.push(...absent.slice(hasMore ? at : at + 1))
        return
      }
    }
  }

  async #stillAbsent(paths: readonly string[]): Promise<string[]> {
    const absent: string[] = []
    for (const path of paths) {
      this.#signal.throwIfAborted()
      if (await isAbsent(this.#options.storage, path)) absent.push(path)
    }
    return absent
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
