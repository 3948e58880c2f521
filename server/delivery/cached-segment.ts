// One finished segment in memory, which may be read while it is still being filled.
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { eachChunk } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import type { MemoryWindow, SegmentMemory } from './segment-memory.ts'

/** What is read in one go where it cannot be sent from where it lies. */
const CHUNK_BYTES = 256 * 1024

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

export class CachedSegment {
  readonly sizeBytes: number
  readonly #memory: SegmentMemory
  #filledBytes = 0
  #state: State = { status: 'filling' }
  #progress = Promise.withResolvers<void>()

  /** @param memory has room for so many bytes */
  constructor(sizeBytes: number, memory: SegmentMemory) {
    this.sizeBytes = sizeBytes
    this.#memory = memory
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
      if (this.#filledBytes < this.sizeBytes) throw wrongSize()
      await checkUnchanged()
      this.#state = { status: 'finished' }
    } catch (error) {
      this.#state = { status: 'failed', error }
    }
    this.#tellReaders()
  }

  /**
   * The bytes of the window. The last of them come when all are known to be of one
   * recording: where they are not, no reader has a whole body. Asking for a chunk throws what filling failed with.
   */
  read(window: MemoryWindow): ChunkSource {
    const { end } = window
    let position = window.start
    let buffer: Buffer | undefined
    const next = (maxBytes = CHUNK_BYTES): Chunk | Promise<Chunk> => {
      if (position >= end) return undefined
      if (this.#state.status === 'failed') throw this.#state.error
      const to = Math.min(position + maxBytes, this.#readableUpTo(end))
      if (to <= position) return this.#whenMoreIsThere(async () => next(maxBytes))
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

  /** Frees the memory; nothing reads or fills it any more. */
  free(): void {
    this.#memory.free()
  }

  #readableUpTo(end: number): number {
    return this.#state.status === 'finished' ? end : Math.min(this.#filledBytes, end - 1)
  }

  async #whenMoreIsThere(next: () => Promise<Chunk>): Promise<Chunk> {
    await this.#progress.promise
    return next()
  }

  #append(chunk: Uint8Array): void {
    if (this.#filledBytes + chunk.length > this.sizeBytes) throw wrongSize()
    this.#memory.write(chunk, this.#filledBytes)
    this.#filledBytes += chunk.length
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
