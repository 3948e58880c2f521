// The stored chats: an index and packs of buckets, in a folder of this node and shared by all.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { nameArtifact } from '../../storage/artifacts/artifact-store.ts'
import { LimitedFolder } from '../../storage/artifacts/limited-folder.ts'
import type { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import type { ReadChat } from '../../media/chat/read-chat.ts'

/** In the names of artifacts: increment it when a file gives other buckets or another index. */
const ARTIFACT_KIND = 'chat-1'
/** The chats of about 200 busy sessions of some hours. */
const MAX_FOLDER_BYTES = 2 * 1024 * 1024 * 1024
/** Of packs, in memory. */
const MAX_MEMORY_BYTES = 32 * 1024 * 1024

const counts = z.array(z.int().nonnegative())
const storedShape = z.object({
  status: z.literal('read'),
  versions: z.array(z.string()).min(1),
  counts,
  sizes: counts,
  packs: counts,
})

/** A chat without its messages. */
export type StoredChat = z.infer<typeof storedShape>

export interface ChatCacheOptions {
  folder: string
  /** What nodes share. Default nothing. */
  shared?: SharedArtifacts | undefined
  log: { warn(details: object, message: string): void }
}

/** A failing disk costs time, never messages. */
export class ChatCache {
  readonly #folder: LimitedFolder
  readonly #options: ChatCacheOptions
  readonly #memory = new LRUCache<string, Uint8Array>({
    maxSize: MAX_MEMORY_BYTES,
    sizeCalculation: (bytes) => bytes.length + 1,
  })

  constructor(options: ChatCacheOptions) {
    this.#options = options
    this.#folder = new LimitedFolder({ folder: options.folder, maxBytes: MAX_FOLDER_BYTES })
  }

  /** @param key what the chat is made of. Rejects only with the signal's reason. */
  async find(key: string, signal: AbortSignal): Promise<StoredChat | undefined> {
    const bytes = await this.#read(nameOf('index', key), signal)
    if (bytes === undefined) return undefined
    try {
      return storedShape.parse(JSON.parse(Buffer.from(bytes).toString()))
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a stored chat is corrupt; it is read again')
      return undefined
    }
  }

  /** The compressed buckets of a pack. Rejects only with the signal's reason. */
  async findPack(
    { versions }: StoredChat,
    pack: number,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    return this.#read(packName(versions, pack), signal)
  }

  /** Never rejects. */
  async add(key: string, { bytes, ...stored }: ReadChat): Promise<StoredChat> {
    for (const [pack, content] of bytes.entries()) {
      await this.#write(packName(stored.versions, pack), content)
    }
    // Last: an index has all of its packs.
    await this.#write(nameOf('index', key), Buffer.from(JSON.stringify(stored)))
    return stored
  }

  async #read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const cached = this.#memory.get(name)
    if (cached !== undefined) return cached
    const local = await this.#readLocal(name)
    const bytes = local ?? (await this.#options.shared?.read(name, signal))
    if (bytes === undefined) return undefined
    this.#memory.set(name, bytes)
    if (local === undefined) await this.#writeLocal(name, bytes)
    return bytes
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    this.#memory.set(name, bytes)
    await this.#writeLocal(name, bytes)
    this.#options.shared?.share(name, { sizeBytes: bytes.length, make: () => bytes })
  }

  async #readLocal(name: string): Promise<Uint8Array | undefined> {
    try {
      return (await this.#folder.read(localName(name)))?.bytes
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a stored chat cannot be read')
      return undefined
    }
  }

  async #writeLocal(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#folder.write(localName(name), bytes)
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a chat cannot be stored')
    }
  }
}

function nameOf(...facts: [string, string]): string {
  return nameArtifact(ARTIFACT_KIND, facts, 'bin')
}

function packName(versions: readonly string[], pack: number): string {
  return nameOf(versions.at(-1) ?? '', String(pack))
}

/** Without the kind, which the folder has. */
function localName(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
