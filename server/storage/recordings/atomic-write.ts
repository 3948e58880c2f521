// Writes files of the data folder so that a crash leaves the old content or the new one, complete.
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../base/errors.ts'

/** Files with this ending are left over from a write that a crash interrupted. */
export const TEMPORARY_SUFFIX = '.tmp'

export interface AtomicWriteOptions {
  /** `keep` leaves a file that exists already as it is. Default `replace`. */
  existing?: 'replace' | 'keep'
  /** Permissions of the file. Default those of the process. */
  mode?: number
  /** Waits until the disk has the bytes and the name. Default false. */
  sync?: boolean
}

/**
 * Creates the folder if needed. Returns false if there was a file that it did not replace. Rejects
 * with the error of the file system, without a temporary file left.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { existing = 'replace', mode = 0o666, sync = false }: AtomicWriteOptions = {},
): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}${TEMPORARY_SUFFIX}`
  const folder = dirname(path)
  let isWritten = true
  try {
    const firstCreated = await mkdir(folder, { recursive: true })
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(content)
      if (sync) await file.sync()
    } finally {
      await file.close()
    }
    if (existing === 'replace') await rename(temporary, path)
    else isWritten = await linkUnlessExists(temporary, path)
    if (sync) await syncFolders(folder, firstCreated)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
  return isWritten
}

/** Some network file systems have no links: there, of two writers at once, the last one wins. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

async function linkUnlessExists(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path)
  } catch (error) {
    const code = codeOf(error)
    if (NO_LINKS.includes(code)) {
      await rename(temporary, path)
      return true
    }
    if (code !== 'EEXIST') throw error
    await rm(temporary)
    return false
  }
  await rm(temporary)
  return true
}

/** The folder of a file, and those above it up to the one in which the first was created. */
async function syncFolders(folder: string, firstCreated: string | undefined): Promise<void> {
  await syncFolder(folder)
  if (firstCreated === undefined) return
  for (let at = folder; at !== dirname(firstCreated) && at !== dirname(at);) {
    at = dirname(at)
    await syncFolder(at)
  }
}

/** Some file systems cannot write a folder by itself. */
const NO_FOLDER_SYNC = ['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EROFS']

/** Waits until the disk has the names in a folder. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } catch (error) {
    if (!NO_FOLDER_SYNC.includes(codeOf(error))) throw error
  } finally {
    await folder.close()
  }
}
