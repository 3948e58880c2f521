// An on-disk cache of thumbnails: written atomically, evicted in least-recently-used order.
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TEMPORARY_SUFFIX, writeAtomically } from '../storage/atomic-write.ts'

export interface ThumbnailCacheOptions {
  folder: string
  maxBytes: number
}

/** Evicts to slightly below the limit, so that not every write evicts. */
const TRIM_FACTOR = 0.9

/**
 * A cache in one folder. Names consist of hexadecimal digits and an extension, never of user input.
 */
export class ThumbnailCache {
  readonly #folder: string
  readonly #maxBytes: number
  /** Sizes by name, least recently used first. */
  readonly #sizes = new Map<string, number>()
  #totalBytes = 0
  #trimming: Promise<void> | undefined
  readonly #counted: Promise<void>

  constructor({ folder, maxBytes }: ThumbnailCacheOptions) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#counted = this.#countStored()
  }

  /**
   * The cached bytes with their file's time; undefined if there are none. Rejects with the system's
   * error.
   */
  async read(name: string): Promise<{ bytes: Uint8Array; modifiedMs: number } | undefined> {
    const path = this.#pathOf(name)
    try {
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)])
      this.#touch(name, bytes.length)
      return { bytes, modifiedMs: mtimeMs }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /**
   * Stores the bytes. Rejects with the system's error if they cannot be written; nothing is stored
   * then.
   */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    await writeAtomically(this.#pathOf(name), bytes, { sync: true })
    this.#touch(name, bytes.length)
    void this.#startTrim()
  }

  /** Resolves when all stored files are counted and the excess is evicted. */
  async settled(): Promise<void> {
    await this.#counted
    await this.#trimming
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name)
  }

  #touch(name: string, sizeBytes: number): void {
    this.#totalBytes += sizeBytes - (this.#sizes.get(name) ?? 0)
    this.#sizes.delete(name)
    this.#sizes.set(name, sizeBytes)
  }

  /**
   * Counts the files of earlier runs, oldest first; those used since the start stay the most
   * recent.
   */
  async #countStored(): Promise<void> {
    const found = await listFiles(this.#folder)
    const used = [...this.#sizes]
    const older = found.filter(({ name }) => !this.#sizes.has(name))
    older.sort((left, right) => left.usedMs - right.usedMs)
    for (const { name, sizeBytes } of older) this.#touch(name, sizeBytes)
    for (const [name, sizeBytes] of used) this.#touch(name, sizeBytes)
    void this.#startTrim()
  }

  #startTrim(): Promise<void> {
    if (this.#totalBytes <= this.#maxBytes) return Promise.resolve()
    // A file that cannot be removed is not counted until the next start.
    this.#trimming ??= this.#trim()
      .catch(() => undefined)
      .finally(() => (this.#trimming = undefined))
    return this.#trimming
  }

  async #trim(): Promise<void> {
    for (const [name, sizeBytes] of this.#sizes) {
      if (this.#totalBytes <= this.#maxBytes * TRIM_FACTOR) return
      this.#sizes.delete(name)
      this.#totalBytes -= sizeBytes
      await rm(this.#pathOf(name), { force: true })
    }
  }
}

interface CachedFile {
  name: string
  sizeBytes: number
  /** Time of the last read or write, as precise as the file system's atime. */
  usedMs: number
}

/** All cached files; removes temporary files of an earlier run. */
async function listFiles(folder: string): Promise<CachedFile[]> {
  const files: CachedFile[] = []
  const startedMs = Date.now()
  for (const subfolder of await readdirIfPresent(folder)) {
    for (const name of await readdirIfPresent(join(folder, subfolder))) {
      const path = join(folder, subfolder, name)
      const found = await statIfPresent(path)
      if (found === undefined) continue
      if (!name.endsWith(TEMPORARY_SUFFIX)) files.push({ name, ...found })
      else if (found.usedMs < startedMs) await rm(path, { force: true })
    }
  }
  return files
}

async function readdirIfPresent(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    // A missing folder has no thumbnails.
    return []
  }
}

async function statIfPresent(path: string): Promise<Omit<CachedFile, 'name'> | undefined> {
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
