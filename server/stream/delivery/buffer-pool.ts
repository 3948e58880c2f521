// Reusable buffers for response bodies, with a limit for the whole process.
import type { Gate, Release } from '../../base/admission/gate.ts'
import { MIN_RESPONSE_BYTES } from '../../base/admission/limits.ts'
import { BLOCK_BYTES } from './block-cipher.ts'
import { DISCARD_BYTES } from './read-plan.ts'

/** 384 KiB stay in the L2 cache between read, encryption and send. Other sizes are slower. */
const CHUNK_BYTES = 384 * 1024
/** Used when the pool has reached its limit: slower, but the response is admitted. */
const SMALL_CHUNK_BYTES = MIN_RESPONSE_BYTES
const MAX_POOLED_BYTES = 96 * 1024 * 1024

/** Bytes with a block of memory before them, which encryption may overwrite. */
export function allocateChunk(sizeBytes: number): Uint8Array {
  return Buffer.allocUnsafeSlow(BLOCK_BYTES + sizeBytes).subarray(BLOCK_BYTES)
}

/** A buffer that is never given back is garbage, not an error. */
export class BufferPool {
  readonly #free: Uint8Array[] = []
  #pooledBytes = 0

  /** Bytes of the pooled buffers that responses use now. */
  get usedBytes(): number {
    return this.#pooledBytes - this.#free.length * CHUNK_BYTES
  }

  /** A buffer of the best size, or a small one while the pool is at its limit. */
  take(): Uint8Array {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#pooledBytes + CHUNK_BYTES > MAX_POOLED_BYTES) {
      return allocateChunk(SMALL_CHUNK_BYTES)
    }
    this.#pooledBytes += CHUNK_BYTES
    return allocateChunk(CHUNK_BYTES)
  }

  give(buffer: Uint8Array): void {
    if (buffer.length === CHUNK_BYTES) this.#free.push(buffer)
  }
}

/** The buffers of one response. */
export class BufferLease {
  readonly #pool: BufferPool
  readonly #gate: Gate | undefined
  readonly #leased: Uint8Array[] = []
  readonly #memory = new Set<ArrayBufferLike>()
  readonly #charged: Release[] = []
  #main: Uint8Array | undefined
  #discard: Uint8Array | undefined

  /** @param gate counts the bytes of extra buffers; it has already admitted the response */
  constructor(pool: BufferPool, gate?: Gate) {
    this.#pool = pool
    this.#gate = gate
  }

  /** The buffer that each chunk is read into. */
  get main(): Uint8Array {
    this.#main ??= this.#take()
    return this.#main
  }

  /** A buffer of exactly this size, for bytes that are sent later than they are read. */
  extra(sizeBytes: number): Uint8Array {
    if (sizeBytes === 0) return new Uint8Array(0)
    if (this.#gate !== undefined) this.#charged.push(this.#gate.add(sizeBytes))
    // A corrupt recording may need thousands of them.
    const isSmall = sizeBytes <= SMALL_CHUNK_BYTES
    const buffer = isSmall ? this.#own(allocateChunk(sizeBytes)) : this.#take()
    return buffer.length < sizeBytes
      ? Buffer.allocUnsafeSlow(sizeBytes)
      : buffer.subarray(0, sizeBytes)
  }

  /** A buffer for bytes that are read but not sent. */
  get discard(): Uint8Array {
    this.#discard ??= Buffer.allocUnsafe(DISCARD_BYTES)
    return this.#discard
  }

  /** Whether the bytes are in a leased buffer, so that the reader may overwrite them. */
  owns({ buffer }: Uint8Array): boolean {
    return this.#memory.has(buffer)
  }

  /** Call only when no read or send uses the buffers any more. */
  release(): void {
    for (const buffer of this.#leased) this.#pool.give(buffer)
    for (const release of this.#charged) release()
  }

  #take(): Uint8Array {
    const buffer = this.#pool.take()
    this.#leased.push(buffer)
    return this.#own(buffer)
  }

  #own(buffer: Uint8Array): Uint8Array {
    this.#memory.add(buffer.buffer)
    return buffer
  }
}
