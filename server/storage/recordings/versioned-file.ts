// A file that several processes replace by compare-and-set: a folder with one file per version,
// named by its number. The content is that of the highest number.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import { syncFolder, writeAtomically } from './atomic-write.ts'

/** Content that changes, and what a writer has to know to replace it. */
export interface Versioned {
  bytes: Uint8Array
  version: string
}

const VERSION = /^[1-9]\d{0,14}$/

/** Undefined if there is none. Rejects with the error of the file system. */
export async function latestVersion(folder: string): Promise<string | undefined> {
  const numbers = await listVersions(folder)
  return numbers.length === 0 ? undefined : String(Math.max(...numbers))
}

/** On the disk, also if another process has written it this moment. Rejects as `latestVersion`. */
export async function readVersioned(folder: string): Promise<Versioned | undefined> {
  for (let missing: string | undefined; ;) {
    const version = await latestVersion(folder)
    if (version === undefined) return undefined
    try {
      const bytes = await readFile(join(folder, version))
      await syncFolder(folder)
      return { bytes, version }
    } catch (error) {
      // A later version has replaced it; the same one does not come back.
      if (codeOf(error) !== 'ENOENT' || version === missing) throw error
      missing = version
    }
  }
}

/**
 * Writes the next version to the disk. Returns it, or undefined if the given one is not the latest
 * any more. Then the caller reads again: another writer may have replaced the new version already,
 * so that its content has become part of the latest. Rejects with the error of the file system.
 *
 * @param version undefined if there must be none
 */
export async function replaceVersioned(
  folder: string,
  bytes: Uint8Array,
  version: string | undefined,
): Promise<string | undefined> {
  const next = Number(version ?? 0) + 1
  const path = join(folder, String(next))
  if (!(await writeAtomically(path, bytes, { existing: 'keep', sync: true }))) return undefined
  const numbers = await listVersions(folder)
  // The number may have been free because it was deleted: a lower number than others is no version.
  const isLatest = next === Math.max(...numbers)
  const obsolete = isLatest ? numbers.filter((number) => number < next) : [next]
  // One that remains changes nothing, and is removed by the next writer.
  const remove = async (number: number) => rm(join(folder, String(number)), { force: true })
  await Promise.allSettled(obsolete.map(remove))
  return isLatest ? String(next) : undefined
}

async function listVersions(folder: string): Promise<number[]> {
  try {
    return (await readdir(folder)).filter((name) => VERSION.test(name)).map(Number)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
