// The stored chats: an index and packs of buckets, in a folder of this node and shared by all.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { ArtifactCache, cachedArtifact } from '../../storage/artifacts/artifact-cache.ts'
import type {
  ArtifactCacheOptions,
  CachedArtifact,
} from '../../storage/artifacts/artifact-cache.ts'
import { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import { bucketTableSchema } from '../../media/chat/chat-buckets.ts'
import { isSprite } from '../../decode/emotes/emote-sprite.ts'
import type { RenderedSprite } from '../../decode/emotes/emote-sprite.ts'
import type { ReadChat } from '../../media/chat/read-chat.ts'

/** In the names of artifacts: increment it when a file gives other buckets or another index. */
const ARTIFACT_KIND = 'chat-2'
/** The chats of about 200 busy sessions of some hours. */
const MAX_FOLDER_BYTES = 2 * 1024 * 1024 * 1024
/** Of packs, in memory. */
const MAX_MEMORY_BYTES = 32 * 1024 * 1024

const pixels = z.int().nonnegative()
const emotesShape = z.object({
  version: z.string(),
  width: pixels,
  height: pixels,
  list: z.array(z.object({ name: z.string(), x: pixels, y: pixels, width: pixels })),
})
const storedShape = bucketTableSchema.extend({
  status: z.literal('read'),
  emotes: emotesShape.optional(),
})

/** A chat that was read, with an image of its emotes. */
export type DrawnChat = Omit<ReadChat, 'emotes'> & RenderedSprite

/** A chat without its messages. */
export type StoredChat = z.infer<typeof storedShape>

export interface ChatCacheOptions extends Pick<ArtifactCacheOptions, 'shared' | 'log'> {
  folder: string
}

export class ChatCache {
  readonly #files: ArtifactCache
  readonly #log: ChatCacheOptions['log']
  readonly #memory = new LRUCache<string, Uint8Array>({
    maxSize: MAX_MEMORY_BYTES,
    sizeCalculation: (bytes) => bytes.length + 1,
  })

  constructor({ folder: path, shared, log }: ChatCacheOptions) {
    const folder = new LimitedFolder({ folder: path, maxBytes: MAX_FOLDER_BYTES })
    this.#files = new ArtifactCache({ folder, shared, log, kind: ARTIFACT_KIND })
    this.#log = log
  }

  /** @param key what the chat is made of. Rejects only with the signal's reason. */
  async find(key: string, signal: AbortSignal): Promise<StoredChat | undefined> {
    const bytes = await this.#read(fileOf('index', key), signal)
    if (bytes === undefined) return undefined
    try {
      return storedShape.parse(JSON.parse(Buffer.from(bytes).toString()))
    } catch (error) {
      this.#log?.warn({ err: error }, 'a stored chat is corrupt; it is read again')
      return undefined
    }
  }

  /** The compressed buckets of a pack. Rejects only with the signal's reason. */
  async findPack(
    { versions }: StoredChat,
    pack: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    return this.#read(packOf(versions, pack), signal)
  }

  /** The image of emotes, unless it is corrupt. Rejects only with the signal's reason. */
  async findImage(version: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const bytes = await this.#read(fileOf('emotes', version), signal)
    return bytes && isSprite(bytes, version) ? bytes : undefined
  }

  /** Never rejects. */
  async add(key: string, { bytes, image, isLasting, ...stored }: DrawnChat): Promise<StoredChat> {
    for (const [pack, content] of bytes.entries()) {
      await this.#write(packOf(stored.versions, pack), content)
    }
    if (image && stored.emotes) await this.#write(fileOf('emotes', stored.emotes.version), image)
    // Last: an index has all of its packs, and its image.
    if (isLasting) await this.#write(fileOf('index', key), Buffer.from(JSON.stringify(stored)))
    return stored
  }

  async #read(file: CachedArtifact, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const cached = this.#memory.get(file.name)
    if (cached !== undefined) return cached
    const bytes = await this.#files.find(file, (found) => found, signal)
    if (bytes !== undefined) this.#memory.set(file.name, bytes)
    return bytes
  }

  async #write(file: CachedArtifact, bytes: Uint8Array): Promise<void> {
    this.#memory.set(file.name, bytes)
    await this.#files.add(file, bytes)
  }
}

function fileOf(...facts: [string, string]): CachedArtifact {
  return cachedArtifact(ARTIFACT_KIND, facts, 'bin')
}

function packOf(versions: readonly string[], pack: number): CachedArtifact {
  return fileOf(versions.at(-1) ?? '', String(pack))
}
