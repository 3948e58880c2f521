// The thumbnails that are kept on disk: written whole or not at all, the least recently used removed first.
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TEMPORARY_SUFFIX, writeAtomically } from '../storage/atomic-write.ts'

export interface ThumbnailCacheOptions {
  folder: string
  maxBytes: number
}

/** Removing goes a little below the bound, so that not every write removes. */
const TRIM_FACTOR = 0.9

/** A cache in one folder. Names are made by the caller from hexadecimal digits and an extension, never from user input. */
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
    this.#counted = this.#countKept()
  }

  /** The kept bytes with their file's time; undefined where there are none. Rejects with the system's error. */
  async read(name: string): Promise<{ bytes: Uint8Array; modifiedMs: number } | undefined> {
    const path = this.#pathOf(name)
    try {
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)])
      this.#note(name, bytes.length)
      return { bytes, modifiedMs: mtimeMs }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** Keeps the bytes. Rejects with the system's error where the disk does not take them; nothing half is left then. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    await writeAtomically(this.#pathOf(name), bytes, { sync: true })
    this.#note(name, bytes.length)
    void this.#trimOnce()
  }

  /** Resolves when everything kept is counted and what was too much is removed. */
  async settled(): Promise<void> {
    await this.#counted
    await this.#trimming
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name)
  }

  #note(name: string, sizeBytes: number): void {
    this.#totalBytes += sizeBytes - (this.#sizes.get(name) ?? 0)
    this.#sizes.delete(name)
    this.#sizes.set(name, sizeBytes)
  }

  /** Counts what earlier runs left, oldest first; what this run has used since it started stays the most recent. */
  async #countKept(): Promise<void> {
    const found = await listFiles(this.#folder)
    const used = [...this.#sizes]
    const older = found.filter(({ name }) => !this.#sizes.has(name))
    older.sort((left, right) => left.usedMs - right.usedMs)
    for (const { name, sizeBytes } of older) this.#note(name, sizeBytes)
    for (const [name, sizeBytes] of used) this.#note(name, sizeBytes)
    void this.#trimOnce()
  }

  #trimOnce(): Promise<void> {
    if (this.#totalBytes <= this.#maxBytes) return Promise.resolve()
    // A file that cannot be removed stays uncounted until the next start, which counts it again.
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

interface KeptFile {
  name: string
  sizeBytes: number
  /** When it was last read or made; as exact as the file system notes reads. */
  usedMs: number
}

/** Every kept file; temporary files of an earlier run are removed on the way. */
async function listFiles(folder: string): Promise<KeptFile[]> {
  const files: KeptFile[] = []
  const startedMs = Date.now()
  for (const shelf of await readdirOrNothing(folder)) {
    for (const name of await readdirOrNothing(join(folder, shelf))) {
      const path = join(folder, shelf, name)
      const found = await statOrNothing(path)
      if (found === undefined) continue
      if (!name.endsWith(TEMPORARY_SUFFIX)) files.push({ name, ...found })
      else if (found.usedMs < startedMs) await rm(path, { force: true })
    }
  }
  return files
}

async function readdirOrNothing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    // Not there yet, or no folder: then it holds no thumbnails.
    return []
  }
}

async function statOrNothing(path: string): Promise<Omit<KeptFile, 'name'> | undefined> {
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
