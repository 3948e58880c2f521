// One segment in memory, which can be read while it is being filled.
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { eachChunk } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import type { ByteWindow } from './segment-body.ts'
import type { SegmentMemory } from './segment-memory.ts'

/** Size of one read if the bytes cannot be sent without a copy. */
const CHUNK_BYTES = 256 * 1024

/** Where a segment's bytes come from. */
export interface SegmentSource {
  chunks: ChunkSource
  /** Rejects if the bytes that were read may belong to another recording. */
  checkUnchanged(this: void): Promise<void>
}

type State =
  | { status: 'filling' }
  /** All bytes are in memory and may be cached. */
  | { status: 'filled' }
  | { status: 'failed'; error: unknown }

export class CachedSegment {
  readonly sizeBytes: number
  readonly #memory: SegmentMemory
  #filledBytes = 0
  #state: State = { status: 'filling' }
  #progress = Promise.withResolvers<void>()

  /** @param memory has at least `sizeBytes` */
  constructor(sizeBytes: number, memory: SegmentMemory) {
    this.sizeBytes = sizeBytes
    this.#memory = memory
  }

  get hasFailed(): boolean {
    return this.#state.status === 'failed'
  }

  /** Fills the memory at its own pace, whatever the readers' connections. Readers get errors. */
  async fill({ chunks, checkUnchanged }: SegmentSource): Promise<void> {
    try {
      for await (const chunk of eachChunk(chunks)) {
        this.#append(chunk)
        this.#notifyReaders()
        // Encrypting a chunk blocks the event loop: other requests run in between.
        await setImmediate()
      }
      if (this.#filledBytes < this.sizeBytes) throw wrongSize()
      await checkUnchanged()
      this.#state = { status: 'filled' }
    } catch (error) {
      this.#state = { status: 'failed', error }
    }
    this.#notifyReaders()
  }

  /**
   * The bytes of the window. The last byte is withheld until the recording is known to be
   * unchanged: if it has changed, no reader gets a complete body, and `next` throws the error.
   */
  read({ start, end }: ByteWindow): ChunkSource {
    let position = start
    let buffer: Buffer | undefined
    const next = (maxBytes = CHUNK_BYTES): Chunk | Promise<Chunk> => {
      if (position >= end) return undefined
      if (this.#state.status === 'failed') throw this.#state.error
      const to = Math.min(position + maxBytes, this.#readableUpTo(end))
      if (to <= position) return this.#afterProgress(async () => next(maxBytes))
      if (buffer === undefined || buffer.length < to - position)
        buffer = Buffer.allocUnsafeSlow(to - position)
      const chunk = this.#memory.read({ start: position, end: to }, buffer)
      position += chunk.length
      return chunk
    }
    const send = (socket: number, maxBytes: number): number | undefined => {
      const to = Math.min(position + maxBytes, this.#readableUpTo(end))
      if (this.#state.status === 'failed' || to <= position) return undefined
      const sent = this.#memory.send({ start: position, end: to }, socket)
      position += sent ?? 0
      return sent
    }
    return { next, send }
  }

  /** Frees the memory. Call only when nothing reads or fills it any more. */
  free(): void {
    this.#memory.free()
  }

  #readableUpTo(end: number): number {
    return this.#state.status === 'filled' ? end : Math.min(this.#filledBytes, end - 1)
  }

  async #afterProgress(next: () => Promise<Chunk>): Promise<Chunk> {
    await this.#progress.promise
    return next()
  }

  #append(chunk: Uint8Array): void {
    if (this.#filledBytes + chunk.length > this.sizeBytes) throw wrongSize()
    this.#memory.write(chunk, this.#filledBytes)
    this.#filledBytes += chunk.length
  }

  #notifyReaders(): void {
    const { resolve } = this.#progress
    this.#progress = Promise.withResolvers()
    resolve()
  }
}

function wrongSize(): AppError {
  return new AppError('failed', 'the segment does not have its planned size')
}
