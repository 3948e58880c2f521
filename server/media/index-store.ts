// Keeps what inspections found: in memory up to a bound, and in a side file each, so that a restart reads nothing anew.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import type { FileStat } from '../storage/storage.ts'
import type { ThreadResult } from './index-thread.ts'
import type { Inspection } from './inspect-recording.ts'

/** Raised when the shape of an index changes: older side files are then made anew. */
const FORMAT = 'aftercast-index-1'
/** Side files in memory, by their size on disk. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** A side file above this is not ours: ten hours take a few megabytes. */
const MAX_SIDE_FILE_BYTES = 256 * 1024 * 1024
const DIGEST_BYTES = 32

export interface IndexStoreOptions {
  /** Folder of the side files. */
  folder: string
  inspect(path: string, signal: AbortSignal): Promise<ThreadResult>
  /** Told when a side file could not be written; the site goes on without it. */
  onWriteError(error: unknown): void
}

interface Kept {
  inspection: Inspection
  sizeBytes: number
}

/** Finds the inspection of a recording: remembered, on disk, or made now. Equal requests in flight are one. */
export class IndexStore {
  readonly #options: IndexStoreOptions
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_MEMORY_BYTES,
    sizeCalculation: ({ sizeBytes }) => sizeBytes,
  })
  readonly #inFlight = new Map<string, Promise<Inspection>>()

  constructor(options: IndexStoreOptions) {
    this.#options = options
  }

  /**
   * The inspection of the recording at `path` with this size and time.
   *
   * @throws AppError `gone` where the file is another by now; whatever `inspect` throws
   */
  async find(path: string, stat: FileStat, signal: AbortSignal): Promise<Inspection> {
    const key = `${stat.sizeBytes}:${stat.modifiedMs}:${path}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept.inspection
    const running = this.#inFlight.get(key)
    if (running !== undefined) return running
    const inspection = this.#load(key, path, { stat, signal }).finally(() =>
      this.#inFlight.delete(key),
    )
    this.#inFlight.set(key, inspection)
    return inspection
  }

  async #load(
    key: string,
    path: string,
    { stat, signal }: { stat: FileStat; signal: AbortSignal },
  ): Promise<Inspection> {
    const stored = await this.#readSideFile(path, key)
    if (stored !== undefined) return this.#keep(key, stored)
    const result = await this.#options.inspect(path, signal)
    if (result.sizeBytes !== stat.sizeBytes || result.modifiedMs !== stat.modifiedMs) {
      throw new AppError('gone', 'the recording was replaced while it was read')
    }
    const bytes = serialize({ format: FORMAT, key, inspection: result.inspection })
    await this.#writeSideFile(path, bytes)
    return this.#keep(key, { inspection: result.inspection, sizeBytes: bytes.length })
  }

  #keep(key: string, kept: Kept): Inspection {
    this.#kept.set(key, kept)
    return kept.inspection
  }

  /** Undefined where there is none, or none that is whole and fits. */
  async #readSideFile(path: string, key: string): Promise<Kept | undefined> {
    const file = await readFile(this.#sideFile(path)).catch(() => undefined)
    if (file === undefined || file.length < DIGEST_BYTES || file.length > MAX_SIDE_FILE_BYTES)
      return undefined
    const bytes = file.subarray(DIGEST_BYTES)
    if (!digest(bytes).equals(file.subarray(0, DIGEST_BYTES))) return undefined
    const value: { format: string; key: string; inspection: Inspection } = deserialize(bytes)
    if (value.format !== FORMAT || value.key !== key) return undefined
    return { inspection: value.inspection, sizeBytes: bytes.length }
  }

  /** A half written file is never seen under its name. A disk that is full costs only the restart. */
  async #writeSideFile(path: string, bytes: Buffer): Promise<void> {
    const target = this.#sideFile(path)
    const temporary = `${target}.${randomUUID()}.tmp`
    try {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(temporary, Buffer.concat([digest(bytes), bytes]))
      await rename(temporary, target)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined)
      this.#options.onWriteError(error)
    }
  }

  #sideFile(path: string): string {
    const name = createHash('sha256').update(path).digest('hex')
    return join(this.#options.folder, name.slice(0, 2), `${name.slice(2)}.index`)
  }
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
