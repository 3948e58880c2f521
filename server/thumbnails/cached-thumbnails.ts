// What is kept of a session between requests: its pictures by format, and which key frame was chosen, or that none can be.
import { createHash } from 'node:crypto'
import { sniffImageType } from './image-format.ts'
import type { ImageFormat } from './image-format.ts'
import type { ThumbnailCache } from './thumbnail-cache.ts'

/** What is remembered of a recording. `gave up`: the decoder was killed over it, and another try may do better. */
export type Choice =
  | { status: 'splitPoint'; splitPoint: number }
  | { status: 'none' }
  | { status: 'gave up' }

export interface KeptLog {
  warn(details: object, message: string): void
}

/** Part of every kept name: another way of making pictures makes them anew. */
const RECIPE = '1'
/** Between a try that was given up and the next; a busy machine may have been at fault. */
const RETRY_MS = 60 * 60 * 1000

/** One session's corner of the cache. A disk that does not read or take pictures costs time, never pictures. */
export class CachedThumbnails {
  readonly #cache: ThumbnailCache
  readonly #log: KeptLog | undefined

  constructor(cache: ThumbnailCache, log: KeptLog | undefined) {
    this.#cache = cache
    this.#log = log
  }

  /** The kept picture; one that a failing disk damaged counts as none. */
  async findImage(key: string, format: ImageFormat): Promise<Uint8Array | undefined> {
    const kept = await this.#read(keptName(key, format))
    return kept && sniffImageType(kept.bytes) === `image/${format}` ? kept.bytes : undefined
  }

  async findChoice(key: string): Promise<Choice | undefined> {
    const kept = await this.#read(keptName(key, 'json'))
    const choice = kept && parseChoice(kept.bytes)
    if (kept === undefined || choice === undefined) return undefined
    const expired = choice.status === 'gave up' && Date.now() - kept.modifiedMs > RETRY_MS
    return expired ? undefined : choice
  }

  async cacheImage(key: string, format: ImageFormat, bytes: Uint8Array): Promise<void> {
    await this.#write(keptName(key, format), bytes)
  }

  async keepChoice(key: string, choice: Choice): Promise<void> {
    await this.#write(keptName(key, 'json'), Buffer.from(JSON.stringify(choice)))
  }

  async #read(name: string) {
    try {
      return await this.#cache.read(name)
    } catch (error) {
      this.#log?.warn({ err: error }, 'a kept thumbnail cannot be read')
      return undefined
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#cache.write(name, bytes)
    } catch (error) {
      this.#log?.warn({ err: error }, 'a thumbnail cannot be kept')
    }
  }
}

function keptName(key: string, extension: ImageFormat | 'json'): string {
  return `${createHash('sha256').update(`${RECIPE}\n${key}`).digest('hex')}.${extension}`
}

/** A file that says anything else is as good as none. */
function parseChoice(bytes: Uint8Array): Choice | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (typeof value !== 'object' || value === null || !('status' in value)) return undefined
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
