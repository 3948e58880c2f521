// The cached thumbnail data of a session: its images by format, and the key frame that was chosen,
// if any.
import { createHash } from 'node:crypto'
import type { LimitedFolder } from '../artifacts/limited-folder.ts'
import { sniffImageType } from './image-format.ts'
import type { ImageFormat } from './image-format.ts'

/**
 * Cached result of choosing a key frame. `gave up`: the decoder was killed, and a retry may
 * succeed.
 */
export type Choice =
  | { status: 'splitPoint'; splitPoint: number }
  | { status: 'none' }
  | { status: 'gave up' }

export interface CacheLog {
  warn(details: object, message: string): void
}

/** Part of every cache key: increment it when rendering changes. */
const RENDER_VERSION = '1'
/** Time before a retry after `gave up`, which a busy machine may have caused. */
const RETRY_MS = 60 * 60 * 1000

/** A failing disk costs time, never images. */
export class CachedThumbnails {
  readonly #cache: LimitedFolder
  readonly #log: CacheLog | undefined

  constructor(cache: LimitedFolder, log: CacheLog | undefined) {
    this.#cache = cache
    this.#log = log
  }

  /** The cached image; ignored if it is corrupt. */
  async findImage(key: string, format: ImageFormat): Promise<Uint8Array | undefined> {
    const cached = await this.#read(cacheName(key, format))
    return cached && sniffImageType(cached.bytes) === `image/${format}` ? cached.bytes : undefined
  }

  async findChoice(key: string): Promise<Choice | undefined> {
    const cached = await this.#read(cacheName(key, 'json'))
    const choice = cached && parseChoice(cached.bytes)
    if (cached === undefined || choice === undefined) return undefined
    const expired = choice.status === 'gave up' && Date.now() - cached.modifiedMs > RETRY_MS
    return expired ? undefined : choice
  }

  async cacheImage(key: string, format: ImageFormat, bytes: Uint8Array): Promise<void> {
    await this.#write(cacheName(key, format), bytes)
  }

  async cacheChoice(key: string, choice: Choice): Promise<void> {
    await this.#write(cacheName(key, 'json'), Buffer.from(JSON.stringify(choice)))
  }

  async #read(name: string) {
    try {
      return await this.#cache.read(name)
    } catch (error) {
      this.#log?.warn({ err: error }, 'a cached thumbnail cannot be read')
      return undefined
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#cache.write(name, bytes, { sync: true })
    } catch (error) {
      this.#log?.warn({ err: error }, 'a thumbnail cannot be cached')
    }
  }
}

function cacheName(key: string, extension: ImageFormat | 'json'): string {
  const hash = createHash('sha256').update(`${RENDER_VERSION}\n${key}`).digest('hex')
  return `${hash.slice(0, 2)}/${hash}.${extension}`
}

/** Any other content is a cache miss. */
function parseChoice(bytes: Uint8Array): Choice | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (typeof value !== 'object' || value === null || !('status' in value)) return undefined
    // Version 0.1 wrote `cut`.
    if (value.status === 'cut' && 'cut' in value && Number.isSafeInteger(value.cut)) {
      return { status: 'splitPoint', splitPoint: Number(value.cut) }
    }
    if (value.status === 'none' || value.status === 'gave up') return { status: value.status }
    if (
      value.status !== 'splitPoint' ||
      !('splitPoint' in value) ||
      !Number.isSafeInteger(value.splitPoint)
    ) {
      return undefined
    }
    return { status: 'splitPoint', splitPoint: Number(value.splitPoint) }
  } catch {
    return undefined
  }
}
