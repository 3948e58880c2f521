// The cached thumbnail data of a session: its images by format, and the key frame that was chosen,
// if any. Of a finished recording, nodes share both.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { nameArtifact } from '../../storage/artifacts/artifact-store.ts'
import type { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import type { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { sniffImageType } from './image-format.ts'
import type { ImageFormat } from './image-format.ts'

const choiceShape = z.union([
  z.object({ status: z.literal('splitPoint'), splitPoint: z.int() }),
  z.object({ status: z.enum(['none', 'gave up']) }),
  // As version 0.1 wrote it.
  z
    .object({ status: z.literal('cut'), cut: z.int() })
    .transform(({ cut }) => ({ status: 'splitPoint' as const, splitPoint: cut })),
])

/**
 * Cached result of choosing a key frame. `gave up`: the decoder was killed, and a retry may
 * succeed.
 */
export type Choice = z.infer<typeof choiceShape>

export interface CacheLog {
  warn(details: object, message: string): void
}

/** Part of every cache key: increment it when rendering changes. */
const RENDER_VERSION = '1'
/** Time before a retry after `gave up`, which a busy machine may have caused. */
const RETRY_MS = 60 * 60 * 1000

/** The recording of a thumbnail. */
export interface CachedSource {
  /** Identity of its content. */
  key: string
  /** Nodes that have the recording have the same key for it. */
  isFinal: boolean
}

export interface CachedThumbnailsOptions {
  cache: LimitedFolder
  /** The images that nodes share. Default none. */
  shared?: SharedArtifacts | undefined
  log?: CacheLog | undefined
}

/** A failing disk costs time, never images. */
export class CachedThumbnails {
  readonly #cache: LimitedFolder
  readonly #shared: SharedArtifacts | undefined
  readonly #log: CacheLog | undefined

  constructor({ cache, shared, log }: CachedThumbnailsOptions) {
    this.#cache = cache
    this.#shared = shared
    this.#log = log
  }

  /** The cached image, or that of another node; ignored if it is corrupt. */
  async findImage(
    source: CachedSource,
    format: ImageFormat,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const isImage = (bytes: Uint8Array) => sniffImageType(bytes) === `image/${format}`
    const cached = await this.#read(cacheName(source.key, format))
    if (cached !== undefined && isImage(cached.bytes)) return cached.bytes
    const shared = await this.#readShared(source, format, signal)
    if (shared === undefined || !isImage(shared)) return undefined
    await this.#write(cacheName(source.key, format), shared)
    return shared
  }

  async findChoice({ key }: CachedSource): Promise<Choice | undefined> {
    const cached = await this.#read(cacheName(key, 'json'))
    const choice = cached && parseChoice(cached.bytes)
    if (cached === undefined || choice === undefined) return undefined
    const expired = choice.status === 'gave up' && Date.now() - cached.modifiedMs > RETRY_MS
    return expired ? undefined : choice
  }

  /** The choice of another node. */
  async findSharedChoice(source: CachedSource, signal: AbortSignal): Promise<Choice | undefined> {
    const shared = await this.#readShared(source, 'json', signal)
    return shared && parseChoice(shared)
  }

  async cacheImage(source: CachedSource, format: ImageFormat, bytes: Uint8Array): Promise<void> {
    await this.#write(cacheName(source.key, format), bytes)
    this.#share(source, format, bytes)
  }

  /** Only a choice is shared: that no frame was decoded may be due to this node. */
  async cacheChoice(source: CachedSource, choice: Choice): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(choice))
    await this.#write(cacheName(source.key, 'json'), bytes)
    if (choice.status === 'splitPoint') this.#share(source, 'json', bytes)
  }

  async #readShared(
    { key, isFinal }: CachedSource,
    extension: ImageFormat | 'json',
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    return isFinal ? this.#shared?.read(artifactName(key, extension), signal) : undefined
  }

  #share({ key, isFinal }: CachedSource, extension: ImageFormat | 'json', bytes: Uint8Array): void {
    if (!isFinal) return
    const artifact = { sizeBytes: bytes.length, make: () => bytes }
    this.#shared?.share(artifactName(key, extension), artifact)
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

function artifactName(key: string, extension: ImageFormat | 'json'): string {
  return nameArtifact(`thumbnail-${RENDER_VERSION}`, [key], extension)
}

/** Any other content is a cache miss. */
function parseChoice(bytes: Uint8Array): Choice | undefined {
  try {
    return choiceShape.safeParse(JSON.parse(Buffer.from(bytes).toString())).data
  } catch {
    return undefined
  }
}
