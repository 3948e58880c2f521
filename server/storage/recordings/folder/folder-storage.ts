// Recordings in a local folder. Enforces containment: nothing outside of the folder is listed or
// opened.
import { constants, lstat, open, readdir, readlink, realpath, stat } from 'node:fs'
import { opendir } from 'node:fs/promises'
import type { Dirent, Stats } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../../base/errors.ts'
import { addStats, mayBeMisread, sortEntries, STAT_NUMBERS, statFiles } from './read-folder.ts'
import { orAppError } from './folder-errors.ts'
import type { OddEntry, ReadFolder } from './read-folder.ts'
import type { FolderThread } from './folder-thread.ts'
import { closeDescriptor, DescriptorFile, fileStat, statDescriptor } from './open-file.ts'
import type { PageCache } from '../page-cache.ts'
import { isInside, joinLibraryPath } from './storage-path.ts'
import type {
  FileStat,
  LibraryStorage,
  ListOptions,
  OpenFile,
  OpenOptions,
  StorageEntry,
} from '../storage.ts'
import { isVisibleName, notFound } from '../visible-path.ts'
import { watchFolder } from './watch-folder.ts'

/** Called for every entry that is ignored for a reason of interest to the operator. */
export type OnSkipped = (reason: string, path: string) => void

export interface FolderStorageOptions {
  onSkipped?: OnSkipped
  /** Non-blocking reads and sends from the page cache, where the system has them. */
  pageCache?: PageCache | undefined
  /** Reads very large folders off the event loop. */
  folderThread?: FolderReader
}

/** Reads folders and stats of their files in a thread; see `FolderThread`. */
type FolderReader = Pick<FolderThread, 'read' | 'count'>

/** Concurrent stats of one listing; libuv runs four at a time, more only cost memory. */
const STATS_AT_ONCE = 256
/** The root may be a link that is switched to another folder: its real path is cached this long. */
const ROOT_FRESH_MS = 1000
/** How often a watch checks whether the root is still the watched folder. */
const ROOT_CHECK_MS = 2000
/** Recently opened files whose containment need not be checked again. */
const MAX_KNOWN_FILES = 1024
/**
 * Far above the granularity of file times: a file that changed this long ago shares its time with
 * no later change.
 */
const SETTLED_MS = 100
/** O_NONBLOCK: opening a FIFO that replaced the file must not block. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

const realPathOf = promisify(realpath.native)
const statPath = promisify<string, Stats>(stat)
const lstatPath = promisify<string, Stats>(lstat)
const openPath = promisify<string, number, number>(open)
const readLink = promisify<string, string>(readlink)
const readFolder = promisify<string, { withFileTypes: true }, Dirent[]>(readdir)

export class FolderStorage implements LibraryStorage {
  readonly #root: string
  readonly #onSkipped: OnSkipped
  readonly #pageCache: PageCache | undefined
  readonly #folderThread: FolderReader | undefined
  /** Real path of the root, and when it was resolved. */
  #resolved: { realRoot: string; atMs: number } | undefined
  /** Device and inode of the root when it last had content. */
  #identity: string | undefined
  #openFiles = 0
  /** Identities of files inside of the root, by library path. */
  readonly #known = new LRUCache<string, string>({ max: MAX_KNOWN_FILES })

  /** @param root absolute, or relative to the working directory; it may not exist yet */
  constructor(root: string, { onSkipped, pageCache, folderThread }: FolderStorageOptions = {}) {
    this.#root = root
    this.#onSkipped = onSkipped ?? (() => undefined)
    this.#pageCache = pageCache
    this.#folderThread = folderThread
  }

  async list(folder: string, options: ListOptions = {}): Promise<StorageEntry[]> {
    const { entries, vanished } = await this.#list(folder, options)
    // A file that was renamed after the folder was read would be in the list under neither name.
    return vanished === 0 ? entries : (await this.#list(folder, options)).entries
  }

  /** Entries of a folder, and the number of files that vanished before their stat. */
  async #list(
    folder: string,
    options: ListOptions,
  ): Promise<{ entries: StorageEntry[]; vanished: number }> {
    const stats = options.stats === true
    const { isKnown = () => false } = options
    const all = stats && options.isKnown === undefined
    const { real, realRoot, files, folders, odd, fileStats } = await this.#read(folder, all)
    const here: Listing = { folder, real, realRoot, stats }
    const entries = folders.map((name): StorageEntry => ({ name, kind: 'folder' }))
    for (const entry of odd) entries.push(...(await this.#oddEntry(here, entry)))
    const unknown: string[] = []
    for (const name of files) {
      if (stats && !isKnown(name)) unknown.push(name)
      else entries.push({ name, kind: 'file' })
    }
    let vanished = addStats(entries, unknown, fileStats)
    const first = fileStats.length / STAT_NUMBERS
    for (let start = first; start < unknown.length; start += STATS_AT_ONCE) {
      const found = await statFiles(real, unknown.slice(start, start + STATS_AT_ONCE))
      entries.push(...found.entries)
      vanished += found.vanished
    }
    return { entries, vanished }
  }

  /** Entries of a folder, read by the thread if that is faster, with the stats that it returned. */
  async #read(folder: string, stats: boolean): Promise<ReadFolder & { realRoot: string }> {
    const path = joinLibraryPath(this.#root, folder)
    if (stats && folder !== '' && this.#folderThread !== undefined) {
      const known = await this.#currentRoot()
      const read = await this.#folderThread.read({ path, realRoot: known })
      if (read) return { ...read, realRoot: known }
    }
    const { realRoot, real } = await this.#resolve(folder)
    const found = await orAppError(readFolder(real, { withFileTypes: true }))
    if (stats) this.#folderThread?.count(found.length)
    if (folder === '') await this.#checkIdentity(real, found.length)
    return { ...sortEntries(found), real, realRoot, fileStats: NO_STATS }
  }

  get openFiles(): number {
    return this.#openFiles
  }

  async hasContent(): Promise<boolean> {
    const { real } = await this.#resolve('')
    const hasContent = await orAppError(hasVisibleEntry(real))
    await this.#checkIdentity(real, hasContent ? 1 : 0)
    return hasContent
  }

  async stat(path: string): Promise<FileStat> {
    const { real } = await this.#resolve(path)
    const stats = await orAppError(statPath(real))
    if (!stats.isFile()) throw notFound()
    return fileStat(stats)
  }

  async open(path: string, { listed }: OpenOptions = {}): Promise<OpenFile> {
    return (await this.#openKnown(path, listed)) ?? this.#openChecked(path)
  }

  /**
   * Opens a file whose containment was checked when it was opened before or listed: few system
   * calls, for every segment of a recording. The path must lead to the same, unchanged file.
   */
  async #openKnown(path: string, listed: FileStat | undefined): Promise<OpenFile | undefined> {
    const known = this.#known.get(path)
    if (known === undefined && listed === undefined) return undefined
    const opened = openPath(joinLibraryPath(this.#root, path), OPEN_FLAGS)
    const descriptor = await opened.catch(() => undefined)
    if (descriptor === undefined) return undefined
    const stats = await statDescriptor(descriptor).catch(() => undefined)
    if (stats?.isFile() && (fileIdentity(stats) === known || isSettledAs(stats, listed))) {
      return this.#createFile(descriptor, stats)
    }
    await closeDescriptor(descriptor)
    return undefined
  }

  #createFile(descriptor: number, stats: Stats): OpenFile {
    this.#openFiles += 1
    const onClosed = (): void => {
      this.#openFiles -= 1
    }
    return new DescriptorFile(descriptor, stats, { pageCache: this.#pageCache, onClosed })
  }

  async #openChecked(path: string): Promise<OpenFile> {
    // O_NOFOLLOW: a link that replaced the file must not lead outside.
    const flags = OPEN_FLAGS | (constants.O_NOFOLLOW ?? 0)
    const { real } = await this.#resolve(path)
    const descriptor = await orAppError(openPath(real, flags))
    try {
      const stats = await orAppError(statDescriptor(descriptor))
      // A folder of the path may have become a link between the check and the open.
      if (!stats.isFile() || !(await isAt(descriptor, real))) throw notFound()
      if (isSettled(stats)) this.#known.set(path, fileIdentity(stats))
      return this.#createFile(descriptor, stats)
    } catch (error) {
      await closeDescriptor(descriptor)
      throw error
    }
  }

  async watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void> {
    const { real } = await this.#resolve('')
    const switched = new AbortController()
    const ended = AbortSignal.any([signal, switched.signal])
    const checking = this.#watchRoot(real, switched, ended)
    try {
      await watchFolder(real, onChange, ended)
    } finally {
      clearInterval(checking)
    }
    if (switched.signal.aborted && !signal.aborted) {
      throw new AppError('failed', 'the recordings folder is a link that was switched')
    }
  }

  /** No system call reports that a link above the watched folders has another target. */
  #watchRoot(real: string, switched: AbortController, ended: AbortSignal): NodeJS.Timeout {
    let isBusy = false
    const check = async (): Promise<void> => {
      if (isBusy || ended.aborted) return
      isBusy = true
      // A root that is gone is reported by the watch itself.
      const realRoot = await this.#resolveRoot().catch(() => real)
      isBusy = false
      if (realRoot !== real) switched.abort()
    }
    return setInterval(() => void check(), ROOT_CHECK_MS).unref()
  }

  async #resolve(path: string): Promise<{ realRoot: string; real: string }> {
    const joined = joinLibraryPath(this.#root, path)
    // Resolved again with each listing of the root, so at the start of every scan.
    const realRoot = path === '' ? await this.#resolveRoot() : await this.#currentRoot()
    const real = path === '' ? realRoot : await orAppError(realPathOf(joined))
    if (isInside(realRoot, real)) return { realRoot, real }
    // The path leads outside, or the root was switched since it was resolved.
    const switched = await this.#resolveRoot()
    if (switched === realRoot || !isInside(switched, real)) throw notFound()
    return { realRoot: switched, real }
  }

  /** Real path of the root, at most `ROOT_FRESH_MS` old. */
  async #currentRoot(): Promise<string> {
    const known = this.#resolved
    const isFresh = known !== undefined && performance.now() - known.atMs < ROOT_FRESH_MS
    return isFresh ? known.realRoot : this.#resolveRoot()
  }

  async #resolveRoot(): Promise<string> {
    const realRoot = await orAppError(realPathOf(this.#root))
    this.#resolved = { realRoot, atMs: performance.now() }
    return realRoot
  }

  /**
   * An unmounted disk leaves an empty folder with another identity: a failure, not an empty
   * library.
   */
  async #checkIdentity(real: string, entryCount: number): Promise<void> {
    const stats = await orAppError(statPath(real))
    const identity = `${stats.dev}:${stats.ino}`
    if (entryCount > 0) this.#identity = identity
    else if (this.#identity !== undefined && this.#identity !== identity) {
      throw new AppError('failed', 'the library is empty where another folder was before')
    }
  }

  /** An entry that needs a further check: one entry, or none if it is ignored. */
  async #oddEntry(here: Listing, { name, kind }: OddEntry): Promise<StorageEntry[]> {
    if (mayBeMisread(name) && !(await exists(join(here.real, name)))) {
      return this.#skip(here, name, 'the name is not valid UTF-8')
    }
    if (kind === 'link') return this.#linkEntry(here, name)
    if (kind === 'other') return this.#skip(here, name, 'it is neither a file nor a folder')
    if (kind !== 'file' || !here.stats) return [{ name, kind }]
    return (await statFiles(here.real, [name])).entries
  }

  async #linkEntry(here: Listing, name: string): Promise<StorageEntry[]> {
    const target = await realPathOf(join(here.real, name)).catch(() => undefined)
    if (target === undefined) return this.#skip(here, name, 'the link target does not exist')
    if (!isInside(here.realRoot, target))
      return this.#skip(here, name, 'the link leaves the library')
    const stats = await statPath(target).catch(() => undefined)
    if (stats?.isDirectory()) return [{ name, kind: 'folder' }]
    if (!stats?.isFile())
      return this.#skip(here, name, 'the link target is neither file nor folder')
    return [here.stats ? { name, kind: 'file', stat: fileStat(stats) } : { name, kind: 'file' }]
  }

  #skip(here: Listing, name: string, reason: string): [] {
    this.#onSkipped(reason, here.folder === '' ? name : `${here.folder}/${name}`)
    return []
  }
}

/** Whether an open file still has this real path: one system call on Linux (proc(5)). */
async function isAt(descriptor: number, real: string): Promise<boolean> {
  const opened = await readLink(`/proc/self/fd/${descriptor}`).catch(() => undefined)
  return opened === real || (await orAppError(realPathOf(real))) === real
}

function isSettledAs(stats: Stats, listed: FileStat | undefined): boolean {
  return fileStat(stats).version === listed?.version && isSettled(stats)
}

function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > SETTLED_MS
}

/** Identifies a file, also against a later one with the same inode: that has a later ctime. */
function fileIdentity({ dev, ino, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${ctimeMs}`
}

async function hasVisibleEntry(folder: string): Promise<boolean> {
  for await (const { name } of await opendir(folder)) if (isVisibleName(name)) return true
  return false
}

interface Listing {
  folder: string
  real: string
  realRoot: string
  stats: boolean
}

const NO_STATS = new Float64Array()

function exists(path: string): Promise<boolean> {
  return lstatPath(path).then(
    () => true,
    () => false,
  )
}
