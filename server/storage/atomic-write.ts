// Writes files of the data folder so that a crash leaves the old content or the new one, complete.
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Files with this ending are left over from a write that a crash interrupted. */
export const TEMPORARY_SUFFIX = '.tmp'

export interface AtomicWriteOptions {
  /** `keep` leaves a file that exists already as it is. Default `replace`. */
  existing?: 'replace' | 'keep'
  /** Permissions of the file. Default those of the process. */
  mode?: number
  /** Waits until the disk has the bytes. Default false. */
  sync?: boolean
}

/**
 * Creates the folder if needed. Rejects with the error of the file system, without a temporary file
 * left.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { existing = 'replace', mode = 0o666, sync = false }: AtomicWriteOptions = {},
): Promise<void> {
  const temporary = `${path}.${randomUUID()}${TEMPORARY_SUFFIX}`
  try {
    await mkdir(dirname(path), { recursive: true })
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(content)
      if (sync) await file.sync()
    } finally {
      await file.close()
    }
    if (existing === 'replace') await rename(temporary, path)
    else await linkUnlessExists(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Some network file systems have no links: there, of two writers at once, the last one wins. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

async function linkUnlessExists(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (NO_LINKS.includes(code)) return rename(temporary, path)
    if (code !== 'EEXIST') throw error
  }
  await rm(temporary)
}
