// Recordings in a folder of this machine. Containment lives here: nothing outside of the folder is listed or opened.
import { close, constants, lstat, open, readdir, realpath, stat } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import { mayBeMisread, sortEntries } from './folder-entries.ts'
import type { OddEntry } from './folder-entries.ts'
import type { FolderThread } from './folder-thread.ts'
import { createOpenFile, fileStat, statDescriptor } from './open-file.ts'
import type { PageCache } from './page-cache.ts'
import type { ReadFolder } from './read-folder.ts'
import { isInside, joinLibraryPath, notFound } from './storage-path.ts'
import type { FileStat, ListOptions, OpenFile, Storage, StorageEntry } from './storage.ts'
import { watchFolder } from './watch-folder.ts'

/** Told for every entry that is left out for a reason that the operator may want to know. */
export type OnSkipped = (reason: string, path: string) => void

export interface FolderStorageOptions {
  onSkipped?: OnSkipped
  /** What reads and sends without another thread's help, where the system has such. */
  pageCache?: PageCache | undefined
  /** What reads very many folders and files at less cost. */
  folderThread?: FolderReader
}

/** What reads folders off the event loop, with stats of their files; see `FolderThread`. */
type FolderReader = Pick<FolderThread, 'read' | 'count'>

/** Stats under way at once in one listing; libuv runs four at a time anyway, more only cost memory. */
const STATS_AT_ONCE = 256
/** Files that were opened of late and need no second look at where they lie. */
const MAX_KNOWN_FILES = 1024
/** Far above the tick of file times: a file that changed so long ago shares its time with no later one. */
const SETTLED_MS = 100
/** O_NONBLOCK: a FIFO that took the file's place must not hang us. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

const realPathOf = promisify(realpath.native)
const statPath = promisify<string, Stats>(stat)
const lstatPath = promisify<string, Stats>(lstat)
const openPath = promisify<string, number, number>(open)
const closeDescriptor = promisify(close)
const readFolder = promisify<string, { withFileTypes: true }, Dirent[]>(readdir)

/** A Storage over the folder `root` (absolute or relative to the working directory; it need not be there yet). */
export function createFolderStorage(root: string, options: FolderStorageOptions = {}): Storage {
  return new FolderStorage(root, options)
}

class FolderStorage implements Storage {
  readonly #root: string
  readonly #onSkipped: OnSkipped
  readonly #pageCache: PageCache | undefined
  readonly #folderThread: FolderReader | undefined
  #realRoot: string | undefined
  /** Device and inode of the root when it last held something. */
  #identity: string | undefined
  /** Identities of files that lay inside of the root, by library path. */
  readonly #known = new LRUCache<string, string>({ max: MAX_KNOWN_FILES })

  constructor(root: string, { onSkipped, pageCache, folderThread }: FolderStorageOptions) {
    this.#root = root
    this.#onSkipped = onSkipped ?? (() => undefined)
    this.#pageCache = pageCache
    this.#folderThread = folderThread
  }

  async list(folder: string, options: ListOptions = {}): Promise<StorageEntry[]> {
    const stats = options.stats === true
    const { real, realRoot, files, folders, odd, told } = await this.#read(folder, stats)
    const here: Listing = { folder, real, realRoot, stats }
    const entries = folders.map((name): StorageEntry => ({ name, kind: 'folder' }))
    for (const entry of odd) entries.push(...(await this.#oddEntry(here, entry)))
    if (!stats) return entries.concat(files.map((name) => ({ name, kind: 'file' })))
    addTold(entries, files, told)
    for (let start = told.length / 2; start < files.length; start += STATS_AT_ONCE) {
      entries.push(...(await statFiles(real, files.slice(start, start + STATS_AT_ONCE))))
    }
    return entries
  }

  /** What a folder holds, from the thread where that is quicker, with as many stats as come with it. */
  async #read(folder: string, stats: boolean): Promise<ReadFolder & { realRoot: string }> {
    const path = joinLibraryPath(this.#root, folder)
    const known = stats && folder !== '' ? this.#realRoot : undefined
    if (known !== undefined) {
      const read = await this.#folderThread?.read({ path, realRoot: known })
      if (read) return { ...read, realRoot: known }
    }
    const { realRoot, real } = await this.#resolve(folder)
    const found = await orAppError(readFolder(real, { withFileTypes: true }))
    if (stats) this.#folderThread?.count(found.length)
    if (folder === '') await this.#checkIdentity(real, found.length)
    return { ...sortEntries(found), real, realRoot, told: NOTHING_TOLD }
  }

  async stat(path: string): Promise<FileStat> {
    const { real } = await this.#resolve(path)
    const stats = await orAppError(statPath(real))
    if (!stats.isFile()) throw notFound()
    return fileStat(stats)
  }

  async open(path: string): Promise<OpenFile> {
    return (await this.#openKnown(path)) ?? this.#openChecked(path)
  }

  /**
   * Opens a file whose place was checked before: half the calls of `#openChecked`, for every segment of a recording.
   * What the path leads to must be the very file of then, unchanged.
   */
  async #openKnown(path: string): Promise<OpenFile | undefined> {
    const known = this.#known.get(path)
    if (known === undefined) return undefined
    const opened = openPath(joinLibraryPath(this.#root, path), OPEN_FLAGS)
    const descriptor = await opened.catch(() => undefined)
    if (descriptor === undefined) return undefined
    const stats = await statDescriptor(descriptor).catch(() => undefined)
    if (stats?.isFile() && fileIdentity(stats) === known) {
      return createOpenFile(descriptor, fileStat(stats), this.#pageCache)
    }
    await closeDescriptor(descriptor)
    return undefined
  }

  async #openChecked(path: string): Promise<OpenFile> {
    const { real } = await this.#resolve(path)
    // O_NOFOLLOW: a link that took the file's place must not lead us out
    const flags = OPEN_FLAGS | (constants.O_NOFOLLOW ?? 0)
    const descriptor = await orAppError(openPath(real, flags))
    try {
      const stats = await orAppError(statDescriptor(descriptor))
      // a folder on the way may have become a link between looking and opening
      if (!stats.isFile() || (await orAppError(realPathOf(real))) !== real) throw notFound()
      if (Date.now() - stats.ctimeMs > SETTLED_MS) this.#known.set(path, fileIdentity(stats))
      return createOpenFile(descriptor, fileStat(stats), this.#pageCache)
    } catch (error) {
      await closeDescriptor(descriptor)
      throw error
    }
  }

  async watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void> {
    const { real } = await this.#resolve('')
    await watchFolder(real, onChange, signal)
  }

  async #resolve(path: string): Promise<{ realRoot: string; real: string }> {
    const joined = joinLibraryPath(this.#root, path)
    // looked up anew with each listing of the root, so at the beginning of every scan
    if (path === '') this.#realRoot = undefined
    const realRoot = this.#realRoot ?? (await orAppError(realPathOf(this.#root)))
    this.#realRoot = realRoot
    const real = path === '' ? realRoot : await orAppError(realPathOf(joined))
    if (!isInside(realRoot, real)) throw notFound()
    return { realRoot, real }
  }

  /** An unmounted disk leaves an empty folder of another identity: that is a failure, not an empty library. */
  async #checkIdentity(real: string, entryCount: number): Promise<void> {
    const stats = await orAppError(statPath(real))
    const identity = `${stats.dev}:${stats.ino}`
    if (entryCount > 0) this.#identity = identity
    else if (this.#identity !== undefined && this.#identity !== identity) {
      throw new AppError('failed', 'the library is empty where another folder was before')
    }
  }

  /** An entry that needs a closer look: one, or none where it is left out. */
  async #oddEntry(here: Listing, { name, kind }: OddEntry): Promise<StorageEntry[]> {
    if (mayBeMisread(name) && !(await exists(join(here.real, name)))) {
      return this.#skip(here, name, 'the name is not valid UTF-8')
    }
    if (kind === 'link') return this.#linkEntry(here, name)
    if (kind === 'other') return this.#skip(here, name, 'it is neither a file nor a folder')
    return kind === 'file' && here.stats ? statFiles(here.real, [name]) : [{ name, kind }]
  }

  async #linkEntry(here: Listing, name: string): Promise<StorageEntry[]> {
    const target = await realPathOf(join(here.real, name)).catch(() => undefined)
    if (target === undefined) return this.#skip(here, name, 'the link leads nowhere')
    if (!isInside(here.realRoot, target))
      return this.#skip(here, name, 'the link leaves the library')
    const stats = await statPath(target).catch(() => undefined)
    if (stats?.isDirectory()) return [{ name, kind: 'folder' }]
    if (!stats?.isFile()) return this.#skip(here, name, 'the link leads to neither file nor folder')
    return [here.stats ? { name, kind: 'file', stat: fileStat(stats) } : { name, kind: 'file' }]
  }

  #skip(here: Listing, name: string, reason: string): [] {
    this.#onSkipped(reason, here.folder === '' ? name : `${here.folder}/${name}`)
    return []
  }
}

/** Tells a file from every other, also from one that got its inode later: that one's status changed after. */
function fileIdentity({ dev, ino, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${ctimeMs}`
}

interface Listing {
  folder: string
  real: string
  realRoot: string
  stats: boolean
}

const NOTHING_TOLD = new Float64Array()

/** Adds the files of which the thread told; what is no file, or gone, is left out. */
function addTold(entries: StorageEntry[], files: readonly string[], told: Float64Array): void {
  for (const [at, name] of files.entries()) {
    const [sizeBytes, modifiedMs] = [told[2 * at], told[2 * at + 1]]
    if (sizeBytes === undefined || modifiedMs === undefined) return
    const isFile = !Number.isNaN(sizeBytes)
    if (isFile) entries.push({ name, kind: 'file', stat: { sizeBytes, modifiedMs } })
  }
}

/**
 * Stats of files in one folder. One promise for all: with one for each, promises cost as much as the stats. A file
 * that vanished or was exchanged since the folder was read is left out, as if read a moment later.
 */
function statFiles(folder: string, names: readonly string[]): Promise<StorageEntry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<StorageEntry[]>()
  const entries: StorageEntry[] = []
  let left = names.length
  for (const name of names) {
    lstat(folder + sep + name, (error, stats) => {
      if (error) {
        const failure = asAppError(error)
        if (failure.code !== 'not_found') reject(failure)
      } else if (stats.isFile()) {
        entries.push({ name, kind: 'file', stat: fileStat(stats) })
      }
      left -= 1
      if (left === 0) resolve(entries)
    })
  }
  return promise
}

function exists(path: string): Promise<boolean> {
  return lstatPath(path).then(
    () => true,
    () => false,
  )
}

const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'])

/** Rejections of node:fs as AppErrors. */
async function orAppError<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    throw asAppError(error)
  }
}

/** What is not there is `not_found`, what cannot be read is `failed`. */
function asAppError(error: unknown): AppError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (absentCodes.has(code)) return notFound(error)
  return new AppError('failed', `the library cannot be read (${code})`, { cause: error })
}
