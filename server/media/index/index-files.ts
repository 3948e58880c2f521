// The index files: one per recording, keyed by its path, written atomically.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { writeAtomically } from '../../storage/atomic-write.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { Inspection } from './inspect-recording.ts'

/** Increment it when the shape of an index changes: older index files are then discarded. */
const FORMAT = 'aftercast-index-9'
/** A larger file is not an index; ten hours take a few megabytes. */
const MAX_SIDE_FILE_BYTES = 256 * 1024 * 1024
const DIGEST_BYTES = 32

/** The synchronous calls cost half of those of `node:fs/promises`. */
const readWholeFile = promisify(readFile)

/** Content of an index file. */
export interface StoredInspection {
  inspection: Inspection
  stat: FileStat
}

export class IndexFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Undefined if there is none, or it is corrupt or of another format. */
  async read(path: string): Promise<(StoredInspection & { memoryBytes: number }) | undefined> {
    const file = await readWholeFile(this.#sideFile(path)).catch(() => undefined)
    if (file === undefined || file.length < DIGEST_BYTES || file.length > MAX_SIDE_FILE_BYTES)
      return undefined
    const bytes = file.subarray(DIGEST_BYTES)
    if (!digest(bytes).equals(file.subarray(0, DIGEST_BYTES))) return undefined
    const value: StoredInspection & { format: string; path: string } = deserialize(bytes)
    if (value.format !== FORMAT || value.path !== path) return undefined
    return { inspection: value.inspection, stat: value.stat, memoryBytes: bytes.length }
  }

  /** Rejects if it cannot be written; the previous file is then unchanged. */
  async write(path: string, stored: StoredInspection): Promise<void> {
    const bytes = serialize({ format: FORMAT, path, ...stored })
    await writeAtomically(this.#sideFile(path), Buffer.concat([digest(bytes), bytes]))
  }

  #sideFile(path: string): string {
    const name = createHash('sha256').update(path).digest('hex')
    return join(this.#folder, name.slice(0, 2), `${name.slice(2)}.index`)
  }
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
