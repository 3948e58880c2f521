// Recordings in an S3-compatible object store. A folder is a common prefix of keys.
import { LRUCache } from 'lru-cache'
import { isAppError } from '../../../base/errors.ts'
import type { S3Location } from '../storage-location.ts'
import type { FileStat, ListOptions, OpenFile, OpenOptions } from '../storage.ts'
import type { LibraryStorage, StorageEntry } from '../storage.ts'
import { isVisibleName, notFound, splitVisiblePath } from '../visible-path.ts'
import { BlockCache } from './block-cache.ts'
import { Bucket, pinListed } from './bucket.ts'
import type { PinnedObject } from './bucket.ts'
import { ObjectFile } from './object-file.ts'
import { OpenStreams } from './open-streams.ts'
import type { StreamLimits } from './open-streams.ts'
import { watchBucket } from './watch-bucket.ts'

/** Limit of the block cache of a process that serves. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Longest key, in bytes. */
const MAX_KEY_BYTES = 1024
const MAX_KNOWN_OBJECTS = 10_000
/** A stat may be this old. */
const STAT_TTL_MS = 1000
/** The same for opening, since every read of a replaced object fails. */
const OPEN_TTL_MS = 3000

/** Undefined if there is no such object. */
interface KnownObject {
  object: PinnedObject | undefined
  foundMs: number
}

export interface S3StorageOptions {
  /** Limit of the cached blocks. */
  cacheBytes?: number
  /** Longest wait for the next bytes of a response, and streams that hold a connection. */
  streams?: StreamLimits
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

/** Opens no connection. */
export async function createS3Storage(
  location: S3Location,
  options: S3StorageOptions = {},
): Promise<S3Storage> {
  return new S3Storage(await Bucket.open(location), location.prefix, options)
}

export class S3Storage implements LibraryStorage {
  readonly #bucket: Bucket
  readonly #prefix: string
  readonly #now: () => number
  readonly #cache: BlockCache
  readonly #streams: OpenStreams
  readonly #known = new LRUCache<string, KnownObject>({ max: MAX_KNOWN_OBJECTS })
  readonly #inFlight = new Map<string, Promise<PinnedObject>>()
  #openFiles = 0

  constructor(bucket: Bucket, prefix: string, options: S3StorageOptions) {
    this.#bucket = bucket
    this.#prefix = prefix
    this.#now = options.now ?? (() => performance.now())
    this.#cache = new BlockCache(options.cacheBytes ?? CACHE_BYTES)
    this.#streams = new OpenStreams(bucket, options.streams)
  }

  get openFiles(): number {
    return this.#openFiles
  }

  async hasContent(signal?: AbortSignal): Promise<boolean> {
    return this.#bucket.hasKeys(this.#prefix, signal)
  }

  /** Files always have a stat: it is a part of the listing. */
  async list(folder: string, { signal }: ListOptions = {}): Promise<StorageEntry[]> {
    const prefix = folder === '' ? this.#prefix : `${this.#keyOf(folder)}/`
    const entries: StorageEntry[] = []
    let isEmpty = true
    for await (const page of this.#bucket.list({ prefix, delimiter: '/', signal })) {
      isEmpty &&= page.objects.length + page.prefixes.length === 0
      for (const { key, stat } of page.objects) {
        const name = key.slice(prefix.length)
        if (isVisibleName(name)) entries.push({ name, kind: 'file', stat })
      }
      for (const folderPrefix of page.prefixes) {
        const name = folderPrefix.slice(prefix.length, -1)
        if (isVisibleName(name)) entries.push({ name, kind: 'folder' })
      }
    }
    if (isEmpty && folder !== '') throw notFound()
    return entries
  }

  async stat(path: string, { signal }: OpenOptions = {}): Promise<FileStat> {
    return (await this.#find(path, STAT_TTL_MS, signal)).stat
  }

  async open(path: string, { listed, signal }: OpenOptions = {}): Promise<OpenFile> {
    const object =
      listed === undefined
        ? await this.#find(path, OPEN_TTL_MS, signal)
        : pinListed(this.#keyOf(path), listed)
    this.#openFiles += 1
    return new ObjectFile({
      object,
      cache: this.#cache,
      streams: this.#streams,
      onReplaced: () => this.#known.delete(path),
      onClosed: () => {
        this.#openFiles -= 1
      },
    })
  }

  async watch(onChange: (folder: string) => void, signal: AbortSignal): Promise<void> {
    await watchBucket({ bucket: this.#bucket, prefix: this.#prefix, onChange }, signal)
  }

  /** The object as it was at most `ttlMs` ago. */
  async #find(path: string, ttlMs: number, signal?: AbortSignal): Promise<PinnedObject> {
    const key = this.#keyOf(path)
    const known = this.#known.get(path)
    const ageMs = known === undefined ? Infinity : this.#now() - known.foundMs
    if (known?.object !== undefined && ageMs < ttlMs) return known.object
    if (known !== undefined && ageMs < STAT_TTL_MS) throw notFound()
    signal?.throwIfAborted()
    const flight = this.#inFlight.get(path) ?? this.#head(path, key)
    return flight
  }

  #head(path: string, key: string): Promise<PinnedObject> {
    const foundMs = this.#now()
    const heading = this.#bucket
      .head(key)
      .then((object) => {
        this.#known.set(path, { object, foundMs })
        return object
      })
      .catch((error: unknown) => {
        if (isAppError(error, 'not_found')) this.#known.set(path, { object: undefined, foundMs })
        throw error
      })
      .finally(() => this.#inFlight.delete(path))
    this.#inFlight.set(path, heading)
    return heading
  }

  /** @throws AppError `not_found` for a path that no listing contains */
  #keyOf(path: string): string {
    const key = this.#prefix + splitVisiblePath(path).join('/')
    if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw notFound()
    return key
  }
}
