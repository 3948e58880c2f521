// A folder read at once, on the calling thread: quicker than libuv's threads as long as the system has in memory what it
// asks for.
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { sortEntries } from './folder-entries.ts'
import type { FolderEntries } from './folder-entries.ts'
import { fileStat } from './open-file.ts'
import { isInside } from './storage-path.ts'

/** A folder to be read. Paths are absolute. */
export interface FolderRequest {
  path: string
  /** Nothing is read that does not lie in here. */
  realRoot: string
}

/** A folder as it was read. */
export interface ReadFolder extends FolderEntries {
  /** Its path without links. */
  real: string
  /** Size and time of the first files, one behind the other; NaN for what is no file, or not there any more. */
  told: Float64Array<ArrayBuffer>
}

/** Whether all that was done up to a number of files took longer than it takes from memory. */
export type IsSlow = (done: number) => boolean

/**
 * What a folder holds, with stats of its files up to where it becomes slow. Undefined where it cannot be read: who reads
 * it otherwise meets the error again.
 */
export function readFolderAtOnce(
  { path, realRoot }: FolderRequest,
  isSlow: IsSlow,
): ReadFolder | undefined {
  try {
    const real = realpathSync.native(path)
    if (!isInside(realRoot, real)) return undefined
    const entries = sortEntries(readdirSync(real, { withFileTypes: true }))
    return { ...entries, real, told: statFilesAtOnce(real, entries.files, isSlow) }
  } catch {
    return undefined
  }
}

function statFilesAtOnce(folder: string, names: readonly string[], isSlow: IsSlow) {
  const told = new Float64Array(2 * names.length)
  let done = 0
  for (const name of names) {
    if (isSlow(done)) break
    const stats = lstatSync(folder + sep + name, { throwIfNoEntry: false })
    const { sizeBytes, modifiedMs } = stats?.isFile() ? fileStat(stats) : NO_FILE
    told[2 * done] = sizeBytes
    told[2 * done + 1] = modifiedMs
    done += 1
  }
  return told.slice(0, 2 * done)
}

const NO_FILE = { sizeBytes: NaN, modifiedMs: NaN }
