// One finished segment in memory, which may be read while it is still being filled.
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { eachChunk } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'

/** Held memory comes in pieces of this size, so that what one segment leaves fits any other. */
export const BLOCK_BYTES = 256 * 1024

/** Where a segment's bytes come from. */
export interface SegmentSource {
  chunks: ChunkSource
  /** Rejects where what was read may be of another recording. */
  checkUnchanged(this: void): Promise<void>
}

type State =
  | { status: 'filling' }
  /** All bytes are there and may be kept. */
  | { status: 'finished' }
  | { status: 'failed'; error: unknown }

export class HeldSegment {
  readonly blocks: readonly Buffer[]
  readonly #sizeBytes: number
  #filledBytes = 0
  #state: State = { status: 'filling' }
  #progress = Promise.withResolvers<void>()

  /** @param blocks each of BLOCK_BYTES, as many as the bytes need */
  constructor(sizeBytes: number, blocks: readonly Buffer[]) {
    this.#sizeBytes = sizeBytes
    this.blocks = blocks
  }

  get hasFailed(): boolean {
    return this.#state.status === 'failed'
  }

  /** Takes in all bytes, at its own pace: no reader waits for another's connection. Readers are told of an error. */
  async fill({ chunks, checkUnchanged }: SegmentSource): Promise<void> {
    try {
      for await (const chunk of eachChunk(chunks)) {
        this.#append(chunk)
        this.#tellReaders()
        // A chunk is encrypted in one go, while all others wait.
        await setImmediate()
      }
      if (this.#filledBytes < this.#sizeBytes) throw wrongSize()
      await checkUnchanged()
      this.#state = { status: 'finished' }
    } catch (error) {
      this.#state = { status: 'failed', error }
    }
    this.#tellReaders()
  }

  /**
   * The bytes from `start` up to, not including, `end`. The last of them come when all are known to be of one
   * recording: where they are not, no reader has a whole body. Asking for a chunk throws what filling failed with.
   */
  read({ start, end }: { start: number; end: number }): ChunkSource {
    let position = start
    const next = (): Chunk | Promise<Chunk> => {
      if (position >= end) return undefined
      const from = position % BLOCK_BYTES
      const to = Math.min(from + end - position, BLOCK_BYTES)
      const after = position - from + to
      if (this.#state.status === 'failed') throw this.#state.error
      if (!this.#isReadable(after, end)) return this.#whenMoreIsThere(next)
      const block = this.blocks[(position - from) / BLOCK_BYTES]
      position = after
      return block?.subarray(from, to)
    }
    return { next }
  }

  #isReadable(after: number, end: number): boolean {
    return this.#state.status === 'finished' || (after < end && after <= this.#filledBytes)
  }

  async #whenMoreIsThere(next: () => Chunk | Promise<Chunk>): Promise<Chunk> {
    await this.#progress.promise
    return next()
  }

  #append(chunk: Uint8Array): void {
    if (this.#filledBytes + chunk.length > this.#sizeBytes) throw wrongSize()
    for (let done = 0; done < chunk.length;) {
      const at = this.#filledBytes % BLOCK_BYTES
      const piece = chunk.subarray(done, done + BLOCK_BYTES - at)
      this.blocks[(this.#filledBytes - at) / BLOCK_BYTES]?.set(piece, at)
      this.#filledBytes += piece.length
      done += piece.length
    }
  }

  #tellReaders(): void {
    const { resolve } = this.#progress
    this.#progress = Promise.withResolvers()
    resolve()
  }
}

function wrongSize(): AppError {
  return new AppError('failed', 'a segment is not as long as it was planned')
}
