// Buffers for bodies under way, kept for reuse and bounded in all.

/** 384 KiB stay in the processor's second cache between read and send: larger and smaller chunks are slower. */
const PLAIN_CHUNK_BYTES = 384 * 1024
/** Encryption has a cost a call, so that it wants larger chunks. */
const ENCRYPTED_CHUNK_BYTES = 1024 * 1024
/** What a response gets when the pool is at its bound: slower, but never refused. */
const SMALL_CHUNK_BYTES = 64 * 1024
/** All pooled buffers together. */
const MAX_POOLED_BYTES = 96 * 1024 * 1024

export type ChunkPurpose = 'plain' | 'encrypted'

const CHUNK_BYTES = { plain: PLAIN_CHUNK_BYTES, encrypted: ENCRYPTED_CHUNK_BYTES } as const

/** Lends buffers. A buffer that is not given back is only garbage, never an error. */
export class BufferPool {
  readonly #free: Record<ChunkPurpose, Uint8Array[]> = { plain: [], encrypted: [] }
  #pooledBytes = 0

  /** A buffer of the purpose's best size, or a small one while too many are lent. */
  take(purpose: ChunkPurpose): Uint8Array {
    const free = this.#free[purpose].pop()
    if (free !== undefined) return free
    const sizeBytes = CHUNK_BYTES[purpose]
    if (this.#pooledBytes + sizeBytes > MAX_POOLED_BYTES)
      return Buffer.allocUnsafeSlow(SMALL_CHUNK_BYTES)
    this.#pooledBytes += sizeBytes
    return Buffer.allocUnsafeSlow(sizeBytes)
  }

  give(purpose: ChunkPurpose, buffer: Uint8Array): void {
    if (buffer.length === CHUNK_BYTES[purpose]) this.#free[purpose].push(buffer)
  }
}
