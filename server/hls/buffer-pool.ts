// Buffers for bodies under way, kept for reuse and bounded in all.
import { DISCARD_BYTES } from './read-plan.ts'

/** 384 KiB stay in the processor's second cache between read and send: larger and smaller chunks are slower. */
const PLAIN_CHUNK_BYTES = 384 * 1024
/** Encryption has a cost a call, so that it wants larger chunks. */
const ENCRYPTED_CHUNK_BYTES = 1024 * 1024
/** What a response gets when the pool is at its bound: slower, but never refused. */
const SMALL_CHUNK_BYTES = 64 * 1024
/** All pooled buffers together, with what stands beside them. */
const MAX_POOLED_BYTES = 96 * 1024 * 1024

export type ChunkPurpose = 'plain' | 'encrypted'

const CHUNK_BYTES = { plain: PLAIN_CHUNK_BYTES, encrypted: ENCRYPTED_CHUNK_BYTES } as const
/** What was encrypted waits for the client beside the buffer that it came from. */
const HELD_BYTES = { plain: PLAIN_CHUNK_BYTES, encrypted: 2 * ENCRYPTED_CHUNK_BYTES } as const

/** Lends buffers. A buffer that is not given back is only garbage, never an error. */
export class BufferPool {
  readonly #free: Record<ChunkPurpose, Uint8Array[]> = { plain: [], encrypted: [] }
  #pooledBytes = 0

  /** A buffer of the purpose's best size, or a small one while too many are lent. */
  take(purpose: ChunkPurpose): Uint8Array {
    const free = this.#free[purpose].pop()
    if (free !== undefined) return free
    const heldBytes = HELD_BYTES[purpose]
    if (this.#pooledBytes + heldBytes > MAX_POOLED_BYTES) {
      return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    }
    this.#pooledBytes += heldBytes
    return Buffer.allocUnsafeSlow(CHUNK_BYTES[purpose])
  }

  give(purpose: ChunkPurpose, buffer: Uint8Array): void {
    if (buffer.length === CHUNK_BYTES[purpose]) this.#free[purpose].push(buffer)
  }
}

/** What one response borrows. */
export class LentBuffers {
  readonly #pool: BufferPool
  readonly #purpose: ChunkPurpose
  readonly #lent: Uint8Array[] = []
  #main: Uint8Array | undefined
  #discard: Uint8Array | undefined

  constructor(pool: BufferPool, purpose: ChunkPurpose) {
    this.#pool = pool
    this.#purpose = purpose
  }

  /** The buffer that one chunk after another is read into. */
  get main(): Uint8Array {
    this.#main ??= this.#take()
    return this.#main
  }

  /** A buffer of exactly this size for bytes that are held back. */
  extra(sizeBytes: number): Uint8Array {
    if (sizeBytes === 0) return new Uint8Array(0)
    const buffer = this.#take()
    return buffer.length < sizeBytes
      ? Buffer.allocUnsafeSlow(sizeBytes)
      : buffer.subarray(0, sizeBytes)
  }

  /** Room for bytes that nobody wants. */
  get discard(): Uint8Array {
    this.#discard ??= Buffer.allocUnsafe(DISCARD_BYTES)
    return this.#discard
  }

  /** Only when nothing reads or sends them any more. */
  giveBack(): void {
    for (const buffer of this.#lent) this.#pool.give(this.#purpose, buffer)
  }

  #take(): Uint8Array {
    const buffer = this.#pool.take(this.#purpose)
    this.#lent.push(buffer)
    return buffer
  }
}
