// Blocks of objects in memory, up to a limit, shared by all readers of a process. Their memory is
// used again: allocating a block for each read would keep the garbage collector busy.
import { LRUCache } from 'lru-cache'

/** Recorders' tables are read 16 to 32 KiB at a time; a segment has half a block too much. */
export const BLOCK_BYTES = 32 * 1024
const BLOCKS_PER_SLAB = 32

/** An object version; equal ids have equal bytes. */
export interface CachedObject {
  id: string
  sizeBytes: number
}

/** Fills the memory of the next block, in order. */
export type FillBlock = (block: Uint8Array) => Promise<void>

interface Block {
  /** Has `BLOCK_BYTES`, also if the object ends before. */
  memory: Uint8Array
  /** The bytes of the object. */
  bytes: Uint8Array
}

export class BlockCache {
  readonly #blocks: LRUCache<string, Block>
  readonly #inFlight = new Map<string, Promise<void>>()
  /** Memory of blocks that were evicted, or could not be loaded. */
  readonly #free: Uint8Array[] = []

  /** @param maxBytes limit of the blocks in memory, without those in flight */
  constructor(maxBytes: number) {
    this.#blocks = new LRUCache({
      max: Math.max(1, Math.floor(maxBytes / BLOCK_BYTES)),
      dispose: ({ memory }) => this.#free.push(memory),
    })
  }

  /**
   * The bytes of a block, if they are in memory. They must be copied before other work runs: then
   * their memory may have those of another block.
   */
  get({ id }: CachedObject, index: number): Uint8Array | undefined {
    return this.#blocks.get(blockKey(id, index))?.bytes
  }

  /** Settles when the block was loaded, or could not be; undefined if it is not in flight. */
  inFlight({ id }: CachedObject, index: number): Promise<void> | undefined {
    return this.#inFlight.get(blockKey(id, index))
  }

  /** Whether the block is in memory or in flight. */
  has({ id }: CachedObject, index: number): boolean {
    const key = blockKey(id, index)
    return this.#blocks.has(key) || this.#inFlight.has(key)
  }

  /** Loads a block that is neither in memory nor in flight, for all readers. */
  load(object: CachedObject, index: number, fill: FillBlock): Promise<void> {
    const key = blockKey(object.id, index)
    const loading = this.#load(
      key,
      Math.min(BLOCK_BYTES, object.sizeBytes - index * BLOCK_BYTES),
      fill,
    )
    // Reported where it is awaited, if it is.
    loading.catch(() => undefined)
    this.#inFlight.set(key, loading)
    return loading
  }

  async #load(key: string, length: number, fill: FillBlock): Promise<void> {
    const memory = this.#takeMemory()
    const bytes = memory.subarray(0, length)
    try {
      await fill(bytes)
      this.#blocks.set(key, { memory, bytes })
    } catch (error) {
      this.#free.push(memory)
      throw error
    } finally {
      this.#inFlight.delete(key)
    }
  }

  /** Evicts a block only if the limit is reached: blocks in flight are few beside it. */
  #takeMemory(): Uint8Array {
    if (this.#free.length === 0 && this.#blocks.size === this.#blocks.max) this.#blocks.pop()
    if (this.#free.length === 0) this.#addSlab()
    return this.#free.pop() ?? new Uint8Array(BLOCK_BYTES)
  }

  #addSlab(): void {
    const { buffer } = Buffer.allocUnsafeSlow(BLOCKS_PER_SLAB * BLOCK_BYTES)
    for (let i = 0; i < BLOCKS_PER_SLAB; i += 1) {
      this.#free.push(new Uint8Array(buffer, i * BLOCK_BYTES, BLOCK_BYTES))
    }
  }
}

function blockKey(id: string, index: number): string {
  return `${index} ${id}`
}
