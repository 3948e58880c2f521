// Buffers for bodies under way, kept for reuse and bounded in all.
import { DISCARD_BYTES } from './read-plan.ts'

/** 384 KiB stay in the processor's second cache between read, encryption and send: larger and smaller chunks are slower. */
const CHUNK_BYTES = 384 * 1024
/** What a response gets when the pool is at its bound: slower, but never refused. */
const SMALL_CHUNK_BYTES = 64 * 1024
/** All pooled buffers together. */
const MAX_POOLED_BYTES = 96 * 1024 * 1024

/** Lends buffers. A buffer that is not given back is only garbage, never an error. */
export class BufferPool {
  readonly #free: Uint8Array[] = []
  #pooledBytes = 0

  /** A buffer of the best size, or a small one while too many are lent. */
  take(): Uint8Array {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#pooledBytes + CHUNK_BYTES > MAX_POOLED_BYTES) {
      return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    }
    this.#pooledBytes += CHUNK_BYTES
    return Buffer.allocUnsafeSlow(CHUNK_BYTES)
  }

  give(buffer: Uint8Array): void {
    if (buffer.length === CHUNK_BYTES) this.#free.push(buffer)
  }
}

/** What one response borrows. */
export class BufferLease {
  readonly #pool: BufferPool
  readonly #lent: Uint8Array[] = []
  #main: Uint8Array | undefined
  #discard: Uint8Array | undefined

  constructor(pool: BufferPool) {
    this.#pool = pool
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

  /** Whether these bytes lie in a buffer of the pool, and may be written over by who has read them. */
  holds({ buffer }: Uint8Array): boolean {
    return this.#lent.some((lent) => lent.buffer === buffer)
  }

  /** Only when nothing reads or sends them any more. */
  release(): void {
    for (const buffer of this.#lent) this.#pool.give(buffer)
  }

  #take(): Uint8Array {
    const buffer = this.#pool.take()
    this.#lent.push(buffer)
    return buffer
  }
}
