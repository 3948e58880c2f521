// Sidecars of one kind, parsed once for each version of a file.
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../base/closing.ts'
import type { Gate } from '../../base/admission/gate.ts'
import { isAppError } from '../../base/errors.ts'
import type { FileStat, Storage } from '../../storage/recordings/storage.ts'
import type { SidecarParser } from './sidecar-parser.ts'

export interface ParsedFilesOptions {
  storage: Pick<Storage, 'stat' | 'open'>
  /** Admits the files that are parsed. */
  gate: Gate
  log: { warn(fields: object, message: string): void }
}

/** Characters of the values of all files of one kind. */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** Memory of a file without text. */
const ENTRY_CHARACTERS = 200

/** A file that exists. */
export interface ParsedFile<Value> {
  /** `FileStat.version`. */
  version: string
  /** Undefined for a file that is not valid, too large or not readable. */
  value: Value | undefined
}

export class ParsedFiles<Value extends object> {
  readonly #options: ParsedFilesOptions
  readonly #createParser: () => SidecarParser<Value>
  /** By version and path. */
  readonly #parsed = new LRUCache<string, ParsedFile<Value>>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ value }) => ENTRY_CHARACTERS + JSON.stringify(value ?? '').length,
  })

  constructor(options: ParsedFilesOptions, createParser: () => SidecarParser<Value>) {
    this.#options = options
    this.#createParser = createParser
  }

  /**
   * A file; undefined if there is none.
   *
   * @throws AppError `busy` if too many files are read or storage is unavailable; the signal's
   *   reason
   */
  async find(path: string, signal: AbortSignal): Promise<ParsedFile<Value> | undefined> {
    const version = await this.#versionOf(path, signal)
    if (version === undefined) return undefined
    try {
      return this.#parsed.get(`${version} ${path}`) ?? (await this.#read(path, signal))
    } catch (error) {
      if (isAppError(error, 'not_found')) return undefined
      if (!isAppError(error, 'gone', 'failed')) throw error
      this.#options.log.warn({ err: error, path }, 'unreadable sidecar')
      return { version, value: undefined }
    }
  }

  async #versionOf(path: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return (await this.#options.storage.stat(path, { signal })).version
    } catch (error) {
      if (isAppError(error, 'not_found', 'failed')) return undefined
      throw error
    }
  }

  async #read(path: string, signal: AbortSignal): Promise<ParsedFile<Value>> {
    const { storage, gate } = this.#options
    const parser = this.#createParser()
    const { stat, value } = await gate.run(
      async () => readSidecar(storage, path, { parser, signal }),
      signal,
    )
    const file = { version: stat.version, value }
    this.#parsed.set(`${stat.version} ${path}`, file)
    return file
  }
}

/** Larger sidecars are ignored. */
export const MAX_SIDECAR_BYTES = 16 * 1024 * 1024
/** The slowest parser takes about 5 ms for it. */
const CHUNK_BYTES = 32 * 1024

/** A parsed file: undefined if it is not valid. */
export interface ReadSidecar<Value> {
  stat: FileStat
  value: Value | undefined
}

/**
 * The content of the file at `path`.
 *
 * @throws AppError `not_found`; `gone`, `failed` or `busy` if it is not readable, or changes
 */
export async function readSidecar<Value>(
  storage: Pick<Storage, 'open'>,
  path: string,
  { parser, signal }: { parser: SidecarParser<Value>; signal: AbortSignal },
): Promise<ReadSidecar<Value>> {
  const file = await storage.open(path, { signal })
  await using _closing = closingAsync(file)
  const { stat } = file
  if (stat.sizeBytes > MAX_SIDECAR_BYTES) return { stat, value: undefined }
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, stat.sizeBytes))
  for (let position = 0, isOpen = true; isOpen && position < stat.sizeBytes;) {
    signal.throwIfAborted()
    const length = await file.read(chunk, position)
    isOpen = length > 0 && parser.add(chunk.subarray(0, length))
    position += length
  }
  const value = parser.end()
  await file.checkUnchanged()
  return { stat, value }
}
