// Blocks of objects in memory, up to a limit, shared by all readers of a process. Their memory is
// used again: allocating a block for each read would keep the garbage collector busy.
import { LRUCache } from 'lru-cache'

/** Recorders' tables are read 16 to 32 KiB at a time; a segment has half a block too much. */
export const BLOCK_BYTES = 32 * 1024
const BLOCKS_PER_SLAB = 32
/** As many runs fit, so that none is evicted before it was read. */
const MIN_RUNS = 4
const MAX_KNOWN_OBJECTS = 10_000

/** An object version; equal numbers have equal bytes. */
export interface CachedObject {
  number: number
  sizeBytes: number
}

/** Consecutive blocks; `end` is exclusive. */
export interface BlockRun {
  first: number
  end: number
}

/** Fills the memory of the blocks, in order. */
export type FillBlocks = (blocks: readonly Uint8Array[]) => Promise<void>

interface Block {
  /** Has `BLOCK_BYTES`, also if the object ends before. */
  memory: Uint8Array
  /** The bytes of the object. */
  bytes: Uint8Array
}

interface BlockLoad {
  key: string
  block: Block
}

export class BlockCache {
  readonly #blocks: LRUCache<string, Block>
  readonly #inFlight = new Map<string, Promise<void>>()
  /** By id, which would be a slow key: a block takes several lookups. */
  readonly #objects = new LRUCache<string, CachedObject>({ max: MAX_KNOWN_OBJECTS })
  #objectCount = 0
  /** Memory of blocks that were evicted, or could not be loaded. */
  readonly #free: Uint8Array[] = []

  /** @param maxBytes limit of the blocks in memory, without those in flight */
  constructor(maxBytes: number) {
    this.#blocks = new LRUCache({
      max: Math.max(1, Math.floor(maxBytes / BLOCK_BYTES)),
      dispose: ({ memory }) => this.#free.push(memory),
    })
  }

  /** @param id of an object version; equal ids have equal bytes */
  objectOf(id: string, sizeBytes: number): CachedObject {
    const known = this.#objects.get(id)
    if (known !== undefined) return known
    this.#objectCount += 1
    const object = { number: this.#objectCount, sizeBytes }
    this.#objects.set(id, object)
    return object
  }

  /**
   * The bytes of a block, if they are in memory. They must be copied before other work runs: then
   * their memory may have those of another block.
   */
  get({ number }: CachedObject, index: number): Uint8Array | undefined {
    return this.#blocks.get(blockKey(number, index))?.bytes
  }

  /** Settles when the block was loaded, or could not be; undefined if it is not in flight. */
  inFlight({ number }: CachedObject, index: number): Promise<void> | undefined {
    return this.#inFlight.get(blockKey(number, index))
  }

  /** Whether the block is in memory or in flight. */
  has({ number }: CachedObject, index: number): boolean {
    const key = blockKey(number, index)
    return this.#blocks.has(key) || this.#inFlight.has(key)
  }

  /** The end of a run of blocks that are neither in memory nor in flight, and few of the cache. */
  endOfMissing(object: CachedObject, { first, end }: BlockRun): number {
    const limit = Math.min(end, first + Math.max(1, Math.floor(this.#blocks.max / MIN_RUNS)))
    let at = first
    while (at < limit && !this.has(object, at)) at += 1
    return at
  }

  /** Loads blocks that are neither in memory nor in flight, for all readers. */
  load(object: CachedObject, run: BlockRun, fill: FillBlocks): Promise<void> {
    const loads: BlockLoad[] = []
    for (let index = run.first; index < run.end; index += 1) {
      const memory = this.#takeMemory()
      const length = Math.min(BLOCK_BYTES, object.sizeBytes - index * BLOCK_BYTES)
      const block = { memory, bytes: memory.subarray(0, length) }
      loads.push({ key: blockKey(object.number, index), block })
    }
    const loading = this.#load(loads, fill)
    // Reported where it is awaited, if it is.
    loading.catch(() => undefined)
    for (const { key } of loads) this.#inFlight.set(key, loading)
    return loading
  }

  async #load(loads: readonly BlockLoad[], fill: FillBlocks): Promise<void> {
    try {
      await fill(loads.map(({ block }) => block.bytes))
      for (const { key, block } of loads) this.#blocks.set(key, block)
    } catch (error) {
      for (const { block } of loads) this.#free.push(block.memory)
      throw error
    } finally {
      for (const { key } of loads) this.#inFlight.delete(key)
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

function blockKey(number: number, index: number): string {
  return `${number} ${index}`
}
