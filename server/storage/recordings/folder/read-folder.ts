// Reads a folder and the stats of its files: synchronously on the calling thread, which is faster
// than libuv's threads while everything is in memory, or asynchronously.
import { lstat, lstatSync, readdirSync, realpathSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { sep } from 'node:path'
import type { StorageEntry } from '../storage.ts'
import { isVisibleName } from '../visible-path.ts'
import { asAppError } from './folder-errors.ts'
import { fileStat } from './open-file.ts'
import type { StatNumbers } from './open-file.ts'
import { isInside } from './storage-path.ts'

/** Numbers per file in `ReadFolder.fileStats`. */
export const STAT_NUMBERS = 4

/** A folder to read. Paths are absolute. */
export interface FolderRequest {
  path: string
  /** Nothing outside of this folder is read. */
  realRoot: string
}

/** A folder's contents. */
export interface ReadFolder extends FolderEntries {
  /** Its path with links resolved. */
  real: string
  /**
   * Size, mtime, ctime and inode of the first files, four numbers each; NaN for what is no file or
   * was deleted.
   */
  fileStats: Float64Array<ArrayBuffer>
}

/** Whether the work up to a number of files took longer than it takes from memory. */
export type IsSlow = (done: number) => boolean

/**
 * Entries of a folder, with stats of its files until it becomes slow. Undefined if it cannot be
 * read: the asynchronous read then reproduces the error.
 */
export function readFolderAtOnce(
  { path, realRoot }: FolderRequest,
  isSlow: IsSlow,
): ReadFolder | undefined {
  try {
    const real = realpathSync.native(path)
    if (!isInside(realRoot, real)) return undefined
    const entries = sortEntries(readdirSync(real, { withFileTypes: true }))
    return { ...entries, real, fileStats: statFilesAtOnce(real, entries.files, isSlow) }
  } catch {
    return undefined
  }
}

function statFilesAtOnce(folder: string, names: readonly string[], isSlow: IsSlow) {
  const fileStats = new Float64Array(STAT_NUMBERS * names.length)
  let done = 0
  for (const name of names) {
    if (isSlow(done)) break
    const stats = lstatSync(folder + sep + name, { throwIfNoEntry: false })
    const { size, mtimeMs, ctimeMs, ino } = stats?.isFile() ? stats : NO_FILE
    fileStats.set([size, mtimeMs, ctimeMs, ino], STAT_NUMBERS * done)
    done += 1
  }
  return fileStats.slice(0, STAT_NUMBERS * done)
}

const NO_FILE: StatNumbers = { size: NaN, mtimeMs: NaN, ctimeMs: NaN, ino: NaN }

/** Names in a folder, as reported by the system. */
export interface FolderEntries {
  files: string[]
  folders: string[]
  /** Entries that need a further check. */
  odd: OddEntry[]
}

/** A link, something that is neither file nor folder, or a name that may not be the one on disk. */
export interface OddEntry {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
}

/** Classifies entries; hidden ones are ignored. */
export function sortEntries(found: readonly Dirent[]): FolderEntries {
  const sorted: FolderEntries = { files: [], folders: [], odd: [] }
  for (const dirent of found) {
    const { name } = dirent
    if (!isVisibleName(name)) continue
    const kind = kindOf(dirent)
    if (mayBeMisread(name)) sorted.odd.push({ name, kind })
    else if (kind === 'file') sorted.files.push(name)
    else if (kind === 'folder') sorted.folders.push(name)
    else sorted.odd.push({ name, kind })
  }
  return sorted
}

/** Whether a name contained invalid UTF-8: no file can be opened by it. */
export function mayBeMisread(name: string): boolean {
  return name.includes('\uFFFD')
}

function kindOf(dirent: Dirent): OddEntry['kind'] {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'folder'
  return dirent.isSymbolicLink() ? 'link' : 'other'
}

/**
 * Adds the files with stats from the thread; ignores what is no file or has been deleted, and
 * returns how many those are.
 */
export function addStats(
  entries: StorageEntry[],
  files: readonly string[],
  fileStats: Float64Array,
): number {
  let vanished = 0
  for (const [at, name] of files.entries()) {
    const first = STAT_NUMBERS * at
    if (first >= fileStats.length) break
    const [size = NaN, mtimeMs = NaN, ctimeMs = NaN, ino = NaN] = fileStats.subarray(first)
    if (Number.isNaN(size)) vanished += 1
    else entries.push({ name, kind: 'file', stat: fileStat({ size, mtimeMs, ctimeMs, ino }) })
  }
  return vanished
}

interface StatedFiles {
  entries: StorageEntry[]
  /** Number of files that were deleted or renamed since the folder was read. */
  vanished: number
}

/**
 * Stats of files in one folder, in a single promise: one per file would cost as much as the stats.
 * Ignores what has vanished, is no longer a file, or can never have a stat (its path is too long).
 */
export function statFiles(folder: string, names: readonly string[]): Promise<StatedFiles> {
  const { promise, resolve, reject } = Promise.withResolvers<StatedFiles>()
  const found: StatedFiles = { entries: [], vanished: 0 }
  let left = names.length
  for (const name of names) {
    lstat(folder + sep + name, (error, stats) => {
      if (error) {
        const failure = asAppError(error)
        if (failure.code !== 'not_found') reject(failure)
        if (error.code === 'ENOENT') found.vanished += 1
      } else if (stats.isFile()) {
        found.entries.push({ name, kind: 'file', stat: fileStat(stats) })
      }
      left -= 1
      if (left === 0) resolve(found)
    })
  }
  return promise
}
