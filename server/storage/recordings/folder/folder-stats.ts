// Stats of the files in one folder.
import { lstat } from 'node:fs'
import { sep } from 'node:path'
import type { StorageEntry } from '../storage.ts'
import { asAppError } from './folder-errors.ts'
import { fileStat } from './open-file.ts'
import { STAT_NUMBERS } from './read-folder.ts'

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
