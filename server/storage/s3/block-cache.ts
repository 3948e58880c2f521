// Blocks of objects in memory, up to a limit, shared by all readers of a process.
import { LRUCache } from 'lru-cache'

/** Recorders' tables are read 16 to 32 KiB at a time; a segment has half a block too much. */
export const BLOCK_BYTES = 32 * 1024

/** An object version; equal ids have equal bytes. */
export interface CachedObject {
  id: string
  sizeBytes: number
}

/** Reads the next block, in order. */
export type ReadBlock = (length: number) => Promise<Buffer>

export class BlockCache {
  readonly #blocks: LRUCache<string, Buffer>
  readonly #inFlight = new Map<string, Promise<Buffer>>()

  /** @param maxBytes limit of the blocks in memory, without those in flight */
  constructor(maxBytes: number) {
    this.#blocks = new LRUCache({
      maxSize: Math.max(maxBytes, BLOCK_BYTES),
      sizeCalculation: ({ length }) => length,
    })
  }

  /** The block, if it is in memory. */
  get({ id }: CachedObject, index: number): Buffer | undefined {
    return this.#blocks.get(blockKey(id, index))
  }

  inFlight({ id }: CachedObject, index: number): Promise<Buffer> | undefined {
    return this.#inFlight.get(blockKey(id, index))
  }

  /** Whether the block is in memory or in flight. */
  has({ id }: CachedObject, index: number): boolean {
    const key = blockKey(id, index)
    return this.#blocks.has(key) || this.#inFlight.has(key)
  }

  /** Reads a block that is neither in memory nor in flight, and shares it with other readers. */
  load(object: CachedObject, index: number, read: ReadBlock): Promise<Buffer> {
    const key = blockKey(object.id, index)
    const length = Math.min(BLOCK_BYTES, object.sizeBytes - index * BLOCK_BYTES)
    const loading = read(length)
      .then((block) => {
        this.#blocks.set(key, block)
        return block
      })
      .finally(() => this.#inFlight.delete(key))
    // Reported where the block is awaited, if it is.
    loading.catch(() => undefined)
    this.#inFlight.set(key, loading)
    return loading
  }
}

function blockKey(id: string, index: number): string {
  return `${index} ${id}`
}
