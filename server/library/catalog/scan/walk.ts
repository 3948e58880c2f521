// First pass of a scan: walks the library or one of its folders, and updates the catalog's rows.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { FileStat, Storage, StorageEntry } from '../../../storage/recordings/storage.ts'
import type {
  AdoptedRecording,
  CatalogWriter,
  FoundRecording,
  KnownRecording,
  SignedRecording,
} from '../store/catalog-writer.ts'
import type { Layout, LayoutPosition } from '../names/layout.ts'
import { joinPath, splitPath } from '../../../storage/recordings/library-path.ts'
import { parseRecordingName } from '../names/recording-name.ts'
import { statSessionFolder } from '../names/session-folder.ts'
import { listSidecars, signSidecars } from '../names/text-sidecars.ts'
import type { SidecarVersions } from '../names/text-sidecars.ts'
import type { UnmatchedCollector } from './unmatched.ts'

export interface WalkOptions {
  storage: Storage
  layout: Layout
  writer: CatalogWriter
  /** A file that has not changed for this long counts as finished. */
  settleMs: number
  /**
   * Whether an empty library may be real. Before any content was seen, an unmounted disk is more
   * likely.
   */
  mayBeEmpty: boolean
  /** Milliseconds since 1970. */
  now: () => number
  /** A folder could not be read; its recordings stay in the catalog. */
  onFolderError: (folder: string, error: unknown) => void
  /** Called after each folder with the number of recordings found so far. */
  onFound?: (recordings: number) => void
  /** Changes that take precedence over the rest of this walk. */
  changes?: DueChanges
  /** Receives what is no session. */
  unmatched?: UnmatchedCollector | undefined
}

/** Changes reported by storage during a walk, which takes long in a large library. */
export interface DueChanges {
  /** Whether changes are due. */
  areDue(): boolean
  /** Walks the changed folders only. */
  walk(): Promise<void>
}

/** Number of concurrent folder reads. */
const FOLDERS_AT_ONCE = 8
/** Rows per transaction, which bounds how long the event loop is blocked. */
const ROWS_PER_TRANSACTION = 500
/** Vanished paths collected before they are checked and removed. */
const VANISHED_AT_ONCE = 500

/**
 * Walks `start` ('' = the whole library) and everything below it. Returns whether the catalog
 * changed. Removes nothing if the library itself is missing.
 *
 * @throws AppError `failed` if the library is missing
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

/** An entry of a folder that may be a recording. */
interface MetEntry {
  name: string
  kind: 'file' | 'folder'
  stat: FileStat
  /** Signature of its sidecars with text. */
  sidecars: string
}

/** A folder that may contain recordings, directly or in subfolders. */
interface Folder {
  kind: 'folder'
  path: string
  position: LayoutPosition
}

/** A folder with a session's name: it is one recording if it contains parts. */
interface SessionFolder {
  kind: 'session'
  path: string
  parent: Folder
  name: string
}

/**
 * Where to walk for a changed or deleted path: the folder itself, the parent folder of a recording,
 * or the session folder that contains the path.
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

/** Whether a folder has a session's name; its contents are not known yet. */
function mayBeSession({ position }: Folder, name: string, layout: Layout): boolean {
  return layout.match(position, { name, kind: 'folder', modifiedMs: 0 }) !== undefined
}

/** Undefined if no recording can be at or below the path. */
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
  /** A stack, so that a subtree is finished before the next one starts. */
  readonly #open: (Folder | SessionFolder)[] = []
  /** Missing paths for which the catalog has rows. */
  readonly #vanished: string[] = []
  #found: FoundRecording[] = []
  #gone: number[] = []
  #adopted: AdoptedRecording[] = []
  #signed: SignedRecording[] = []
  #met = 0
  hasChanged = false

  constructor(options: WalkOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  async run(start: Folder | SessionFolder): Promise<void> {
    // The root first and alone: if it cannot be read, nothing else is tried.
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
        // Awaited below, unless the walk ends before.
        reading.catch(() => undefined)
        underWay.add(reading)
      } else if (underWay.size > 0) {
        await Promise.race(underWay)
      } else {
        return
      }
    }
  }

  /**
   * Processes due changes, once everything read so far is written: a later read is newer and must
   * not be overwritten with older data.
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
    const { storage, writer, onFound, unmatched } = this.#options
    const entries = await storage.list(path, { stats: true, signal: this.#signal })
    const known = writer.readFolder(path)
    if (path === '') this.#checkNotEmptied(entries)
    const sidecars = listSidecars(entries)
    const goneFolders = new Set(known.folders)
    const gone = new Map(known.recordings.map((recording) => [recording.name, recording]))
    const others: StorageEntry[] = []
    const recordings = new Set<string>()
    for (const entry of entries) {
      const { name, kind, stat } = entry
      // In a bucket, a folder may have the name of a file, and both would have one row.
      if (kind === 'folder' && !recordings.has(name) && this.#meetFolder(folder, name)) {
        goneFolders.delete(name)
        gone.delete(name)
        continue
      }
      const met = stat && { name, kind, stat, sidecars: signFileSidecars(name, sidecars) }
      if (met && this.#meetRecording(folder, met, gone.get(name))) {
        recordings.add(name)
        gone.delete(name)
      } else others.push(entry)
    }
    unmatched?.meet(path, others)
    for (const { id } of gone.values()) this.#gone.push(id)
    for (const name of goneFolders) this.#vanished.push(joinPath(path, name))
    this.#flushIfFull()
    onFound?.(this.#met)
  }

  /** Queues a folder that may contain recordings or be one. Returns whether it was queued. */
  #meetFolder(parent: Folder, name: string): boolean {
    const path = joinPath(parent.path, name)
    const position = this.#options.layout.enter(parent.position, name)
    if (position) this.#open.push({ kind: 'folder', path, position })
    else if (!mayBeSession(parent, name, this.#options.layout)) return false
    else this.#open.push({ kind: 'session', path, parent, name })
    return true
  }

  async #readSessionFolder({ path, parent, name }: SessionFolder): Promise<void> {
    const { storage, writer, unmatched } = this.#options
    const state = await statSessionFolder(storage, path)
    const known = writer.readRecording(parent.path, name)
    if (state) this.#meetRecording(parent, { name, kind: 'folder', ...state }, known)
    else {
      unmatched?.meet(parent.path, [{ name, kind: 'folder' }])
      if (known) this.#gone.push(known.id)
    }
    this.#flushIfFull()
  }

  /** Adds a new or changed recording. Returns whether the entry is a recording. */
  #meetRecording(
    folder: Folder,
    { name, kind, stat, sidecars }: MetEntry,
    known: KnownRecording | undefined,
  ): boolean {
    if (known !== undefined && known.sidecars !== sidecars) {
      this.#signed.push({ id: known.id, sidecars })
    }
    if (known !== undefined && this.#isUnchanged(known, stat)) {
      // The catalog's rows were found with the same layout.
      this.#met += 1
      return true
    }
    const { modifiedMs } = stat
    const match = this.#options.layout.match(folder.position, { name, kind, modifiedMs })
    if (!match) return false
    this.#met += 1
    const settlesAtMs = this.#settlesAtMs(stat, known !== undefined)
    this.#found.push({ folder: folder.path, name, kind, stat, match, settlesAtMs, sidecars })
    this.#flushIfFull()
    return true
  }

  #isUnchanged({ id, ...known }: KnownRecording, { sizeBytes, modifiedMs, version }: FileStat) {
    if (known.version !== '') return known.version === version
    if (known.sizeBytes !== sizeBytes || known.modifiedMs !== modifiedMs) return false
    this.#adopted.push({ id, version })
    return true
  }

  /**
   * At first sight a file is judged by its own time (one in the future counts as finished), later
   * by our clock.
   */
  #settlesAtMs({ modifiedMs, isImmutable }: FileStat, hasChanged: boolean): number {
    const now = this.#options.now()
    if (isImmutable === true) return now
    if (hasChanged) return now + this.#options.settleMs
    return modifiedMs > now ? now : modifiedMs + this.#options.settleMs
  }

  #flushIfFull(): void {
    const changed = this.#found.length + this.#gone.length
    const rows = changed + this.#adopted.length + this.#signed.length
    if (rows >= ROWS_PER_TRANSACTION) this.#flush()
  }

  #flush(): void {
    const hasChanged = this.#found.length + this.#gone.length + this.#signed.length > 0
    if (!hasChanged && this.#adopted.length === 0) return
    this.#options.writer.apply({
      found: this.#found,
      gone: this.#gone,
      adopted: this.#adopted,
      signed: this.#signed,
    })
    this.#found = []
    this.#gone = []
    this.#adopted = []
    this.#signed = []
    this.hasChanged ||= hasChanged
  }

  /**
   * Removes paths that are still missing, provided that the library itself is there: a disk that is
   * unmounted during the walk looks as if every folder had been deleted. If changes are due, the
   * remaining paths are checked after them.
   */
  async #removeSomeVanished(): Promise<void> {
    await this.#makeWay()
    const { storage, writer, changes } = this.#options
    const absent = await this.#stillAbsent(this.#vanished.splice(0, VANISHED_AT_ONCE))
    if (absent.length === 0) return
    this.#checkNotEmptied(await storage.list('', { signal: this.#signal }))
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
      if (await isAbsent(this.#options.storage, path, this.#signal)) absent.push(path)
    }
    return absent
  }

  #checkNotEmptied(entries: readonly StorageEntry[]): void {
    if (entries.length > 0 || this.#options.mayBeEmpty) return
    if (this.#options.writer.countRecordings() === 0) return
    throw new AppError('failed', 'the library is empty although the catalog has recordings of it')
  }
}

function signFileSidecars(name: string, versions: SidecarVersions): string {
  if (versions.size === 0) return ''
  const base = parseRecordingName(name)?.base
  return base === undefined ? '' : signSidecars([base], versions)
}

async function isAbsent(storage: Storage, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await storage.list(path, { signal })
    return false
  } catch (error) {
    return isAppError(error, 'not_found')
  }
}
