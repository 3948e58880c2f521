// The cached thumbnail data of a session: its images by format, and the key frame that was chosen,
// if any. Of a finished recording, nodes share both.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ArtifactCache } from '../../storage/artifacts/artifact-cache.ts'
import type {
  ArtifactCacheOptions,
  CachedArtifact,
} from '../../storage/artifacts/artifact-cache.ts'
import { nameArtifact } from '../../storage/artifacts/artifact-store.ts'
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

/** Part of every cache key: increment it when rendering changes. */
const RENDER_VERSION = '1'
const ARTIFACT_KIND = `thumbnail-${RENDER_VERSION}`
/** Time before a retry after `gave up`, which a busy machine may have caused. */
const RETRY_MS = 60 * 60 * 1000

/** The recording of a thumbnail. */
export interface CachedSource {
  /** Identity of its content. */
  key: string
  /** Nodes that have the recording have the same key for it. */
  isFinal: boolean
}

export class CachedThumbnails {
  readonly #files: ArtifactCache

  constructor(options: Omit<ArtifactCacheOptions, 'kind'>) {
    this.#files = new ArtifactCache({ ...options, kind: ARTIFACT_KIND })
  }

  /** The cached image, or that of another node; ignored if it is corrupt. */
  async findImage(
    source: CachedSource,
    format: ImageFormat,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const intact = (bytes: Uint8Array) =>
      sniffImageType(bytes) === `image/${format}` ? bytes : undefined
    return this.#files.find(fileOf(source, format), intact, signal)
  }

  async findChoice(source: CachedSource): Promise<Choice | undefined> {
    const cached = await this.#files.readOwn(fileOf(source, 'json'))
    const choice = cached && parseChoice(cached.bytes)
    if (cached === undefined || choice === undefined) return undefined
    const expired = choice.status === 'gave up' && Date.now() - cached.modifiedMs > RETRY_MS
    return expired ? undefined : choice
  }

  /** The choice of another node. */
  async findSharedChoice(source: CachedSource, signal: AbortSignal): Promise<Choice | undefined> {
    const shared = await this.#files.readShared(fileOf(source, 'json'), signal)
    return shared && parseChoice(shared)
  }

  async cacheImage(source: CachedSource, format: ImageFormat, bytes: Uint8Array): Promise<void> {
    await this.#files.add(fileOf(source, format), bytes)
  }

  /** Only a choice is shared: that no frame was decoded may be due to this node. */
  async cacheChoice(source: CachedSource, choice: Choice): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(choice))
    const file = fileOf(source, 'json')
    await this.#files.write(file, bytes)
    if (choice.status === 'splitPoint') this.#files.share(file, bytes)
  }
}

function fileOf({ key, isFinal }: CachedSource, extension: ImageFormat | 'json'): CachedArtifact {
  const hash = createHash('sha256').update(`${RENDER_VERSION}\n${key}`).digest('hex')
  return {
    name: `${hash.slice(0, 2)}/${hash}.${extension}`,
    sharedName: isFinal ? nameArtifact(ARTIFACT_KIND, [key], extension) : undefined,
    sync: true,
  }
}

/** Any other content is a cache miss. */
function parseChoice(bytes: Uint8Array): Choice | undefined {
  try {
    return choiceShape.safeParse(JSON.parse(Buffer.from(bytes).toString())).data
  } catch {
    return undefined
  }
}
