// The index files: one per recording, keyed by its path, written atomically.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { nameArtifact } from '../../storage/artifacts/artifact-store.ts'
import { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import { seal, unseal } from '../../storage/artifacts/sealed-bytes.ts'
import { writeAtomically } from '../../storage/recordings/atomic-write.ts'
import type { FileStat } from '../../storage/recordings/storage.ts'
import type { Inspection } from './inspect-recording.ts'

/**
 * Increment it when an index of the same bytes changes: older index files are then discarded, and
 * all recordings get new URLs.
 */
export const INDEX_FORMAT = 'aftercast-index-12'
/** A larger file is not an index; ten hours take a few megabytes. */
const MAX_SIDE_FILE_BYTES = 256 * 1024 * 1024

/** The synchronous calls cost half of those of `node:fs/promises`. */
const readWholeFile = promisify(readFile)

/** Content of an index file. */
export interface StoredInspection {
  inspection: Inspection
  stat: FileStat
}

export interface ReadInspection extends StoredInspection {
  memoryBytes: number
}

export class IndexFiles {
  readonly #folder: string
  readonly #limited: LimitedFolder | undefined

  /** @param maxBytes evicts the least recently used files beyond it; default unlimited */
  constructor(folder: string, maxBytes?: number) {
    this.#folder = folder
    this.#limited = maxBytes === undefined ? undefined : new LimitedFolder({ folder, maxBytes })
  }

  /** Undefined if there is none, or it is corrupt or of another format. */
  async read(path: string): Promise<ReadInspection | undefined> {
    const sealed = await this.#readFile(nameOf(path)).catch(() => undefined)
    if (sealed === undefined || sealed.length > MAX_SIDE_FILE_BYTES) return undefined
    const bytes = unseal(sealed)
    return bytes && decodeIndex(bytes, path)
  }

  /** Rejects if it cannot be written; the previous file is then unchanged. */
  async write(path: string, stored: StoredInspection): Promise<void> {
    const sealed = seal(encodeIndex(path, stored))
    if (this.#limited !== undefined) await this.#limited.write(nameOf(path), sealed)
    else await writeAtomically(join(this.#folder, nameOf(path)), sealed)
  }

  async #readFile(name: string): Promise<Uint8Array | undefined> {
    if (this.#limited === undefined) return readWholeFile(join(this.#folder, name))
    return (await this.#limited.read(name))?.bytes
  }
}

/** The name of the artifact with the index of one version of a recording. */
export function indexArtifact(path: string, { version }: FileStat): string {
  return nameArtifact(INDEX_FORMAT, [path, version], 'index')
}

export function encodeIndex(path: string, { inspection, stat }: StoredInspection): Buffer {
  return serialize({ format: INDEX_FORMAT, path, inspection, stat })
}

/**
 * Undefined if it is of another format, or of another path.
 *
 * @param bytes are intact
 */
export function decodeIndex(bytes: Uint8Array, path: string): ReadInspection | undefined {
  const value: (StoredInspection & { format: string; path: string }) | undefined = parse(bytes)
  if (value?.format !== INDEX_FORMAT || value.path !== path) return undefined
  return { inspection: value.inspection, stat: value.stat, memoryBytes: bytes.length }
}

/** Undefined for the format of a later Node. */
function parse(bytes: Uint8Array) {
  try {
    return deserialize(bytes)
  } catch {
    return undefined
  }
}

function nameOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex')
  return join(hash.slice(0, 2), `${hash.slice(2)}.index`)
}
