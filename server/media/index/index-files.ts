// The side files of indexes: one for each recording, found by its path, never seen half written.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { writeAtomically } from '../../storage/atomic-write.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { Inspection } from './inspect-recording.ts'

/** Raised when the shape of an index changes: older side files are then made anew. */
const FORMAT = 'aftercast-index-5'
/** A side file above this is not ours: ten hours take a few megabytes. */
const MAX_SIDE_FILE_BYTES = 256 * 1024 * 1024
const DIGEST_BYTES = 32

/** Each of its four calls costs half of those of `node:fs/promises`. */
const readWholeFile = promisify(readFile)

/** What a side file holds. */
export interface StoredInspection {
  inspection: Inspection
  stat: FileStat
}

export class IndexFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Undefined where there is none, or none that is whole and fits. */
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

  /** Rejects where it cannot be written; what was there before is still there then. */
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
