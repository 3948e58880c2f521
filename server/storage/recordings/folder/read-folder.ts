// Reads a folder synchronously on the calling thread: faster than libuv's threads while everything
// is in memory.
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { sortEntries } from './folder-entries.ts'
import type { FolderEntries } from './folder-entries.ts'
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
