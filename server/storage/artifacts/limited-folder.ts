// An on-disk cache that all processes of a machine share: written atomically, evicted in
// least-recently-used order.
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import { TEMPORARY_SUFFIX, writeAtomically } from '../recordings/atomic-write.ts'
import type { AtomicWriteOptions } from '../recordings/atomic-write.ts'

export interface LimitedFolderOptions {
  folder: string
  /** Limit of all files together, whichever process wrote them. */
  maxBytes: number
}

/** Named by two hexadecimal digits of a hash, which fills them evenly. */
const SUBFOLDERS = 256
/** The time of use is written at most this often; a file system may not do it by itself. */
const USED_EVERY_MS = 60 * 60 * 1000
/** No write takes this long: an older temporary file is left over from a crash. */
const MAX_WRITE_MS = 60 * 1000

/**
 * A cache in one folder. Names are `xx/rest`, where `xx` are two hexadecimal digits, and are never
 * user input. Each subfolder has an equal share of the limit and is counted on disk after each
 * write, so the limit holds without any communication between processes.
 */
export class LimitedFolder {
  readonly #folder: string
  readonly #shareBytes: number

  constructor({ folder, maxBytes }: LimitedFolderOptions) {
    this.#folder = folder
    this.#shareBytes = Math.floor(maxBytes / SUBFOLDERS)
  }

  /**
   * The cached bytes with their file's time; undefined if there are none. Rejects with the system's
   * error.
   */
  async read(name: string): Promise<{ bytes: Uint8Array; modifiedMs: number } | undefined> {
    const path = join(this.#folder, name)
    try {
      const [bytes, { mtimeMs, mtime, atimeMs }] = await Promise.all([readFile(path), stat(path)])
      const nowMs = Date.now()
      if (nowMs - Math.max(atimeMs, mtimeMs) > USED_EVERY_MS) {
        // On a read-only file system nothing is evicted either.
        await utimes(path, nowMs / 1000, mtime).catch(() => undefined)
      }
      return { bytes, modifiedMs: mtimeMs }
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Stores the bytes, unless they exceed the share of a subfolder. Rejects with the system's error
   * if they cannot be written; nothing is stored then. `sync` waits until the disk has them.
   */
  async write(
    name: string,
    bytes: Uint8Array,
    options: Pick<AtomicWriteOptions, 'sync'> = {},
  ): Promise<void> {
    if (bytes.length > this.#shareBytes) return
    const path = join(this.#folder, name)
    await writeAtomically(path, bytes, options)
    await this.#trim(join(path, '..'))
  }

  async #trim(subfolder: string): Promise<void> {
    const files = await listFiles(subfolder)
    let totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    for (const { path, sizeBytes } of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
      if (totalBytes <= this.#shareBytes) return
      totalBytes -= sizeBytes
      // A file that cannot be removed is tried again after the next write.
      await rm(path, { force: true }).catch(() => undefined)
    }
  }
}

interface CachedFile {
  path: string
  sizeBytes: number
  usedMs: number
}

/** All cached files; removes temporary files of interrupted writes. */
async function listFiles(subfolder: string): Promise<CachedFile[]> {
  const files: CachedFile[] = []
  const nowMs = Date.now()
  for (const name of await readdir(subfolder).catch(() => [])) {
    const path = join(subfolder, name)
    const found = await statIfPresent(path)
    if (found === undefined) continue
    if (!name.endsWith(TEMPORARY_SUFFIX)) files.push({ path, ...found })
    else if (nowMs - found.usedMs > MAX_WRITE_MS) await rm(path, { force: true })
  }
  return files
}

async function statIfPresent(path: string): Promise<Omit<CachedFile, 'path'> | undefined> {
  try {
    const found = await stat(path)
    return found.isFile()
      ? { sizeBytes: found.size, usedMs: Math.max(found.atimeMs, found.mtimeMs) }
      : undefined
  } catch {
    // Removed in the meantime.
    return undefined
  }
}
