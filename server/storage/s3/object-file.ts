// An open object: reads go through the block cache. Announced bytes are read with one GET in the
// order of the reads; others with GETs of a few blocks, and ahead of sequential readers.
import { AppError } from '../../errors.ts'
import type { FileStat, OpenFile } from '../storage.ts'
import { BLOCK_BYTES } from './block-cache.ts'
import type { BlockCache, CachedObject } from './block-cache.ts'
import type { ByteRange, PinnedObject } from './bucket.ts'
import type { ObjectStream } from './object-stream.ts'
import type { OpenStreams } from './open-streams.ts'

/** Blocks of one GET that was not announced. */
const MAX_RUN_BLOCKS = (4 * 1024 * 1024) / BLOCK_BYTES
/** Blocks that are skipped by reading them: a GET takes as long. */
const MAX_SKIPPED_BLOCKS = 8
/** After as many bytes in sequence, more are expected. */
const SEQUENTIAL_BYTES = 256 * 1024
const MAX_AHEAD_BLOCKS = (4 * 1024 * 1024) / BLOCK_BYTES

export interface ObjectFileOptions {
  object: PinnedObject
  cache: BlockCache
  streams: OpenStreams
  /** Called when a read found that the object is gone or was replaced. */
  onReplaced: () => void
  onClosed: () => void
}

/** Reads and streams after `close` reject with `failed`. */
export class ObjectFile implements OpenFile {
  readonly stat: FileStat
  readonly #options: ObjectFileOptions
  readonly #cached: CachedObject
  #announced: ByteRange = { start: 0, end: 0 }
  #stream: ObjectStream | undefined
  /** Of the reads in sequence so far. */
  #sequence: ByteRange = { start: 0, end: 0 }
  #isClosed = false

  constructor(options: ObjectFileOptions) {
    const { key, stat } = options.object
    this.stat = stat
    this.#options = options
    this.#cached = { id: `${stat.version} ${key}`, sizeBytes: stat.sizeBytes }
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    return this.readv([buffer], position)
  }

  async readv(buffers: readonly Uint8Array[], position: number): Promise<number> {
    const target = new Target(buffers)
    const end = Math.min(position + target.length, this.stat.sizeBytes)
    this.#noteSequence(position, end)
    for (let at = position; at < end;) {
      this.#checkOpen()
      const index = Math.floor(at / BLOCK_BYTES)
      const block =
        this.#options.cache.get(this.#cached, index) ?? (await this.#block(index, lastBlock(end)))
      at += target.write(block.subarray(at % BLOCK_BYTES, (at % BLOCK_BYTES) + end - at))
    }
    return Math.max(0, end - position)
  }

  readCached(buffers: readonly Uint8Array[], position: number): number {
    this.#checkOpen()
    const target = new Target(buffers)
    const end = Math.min(position + target.length, this.stat.sizeBytes)
    let at = position
    while (at < end) {
      const block = this.#options.cache.get(this.#cached, Math.floor(at / BLOCK_BYTES))
      if (block === undefined) break
      at += target.write(block.subarray(at % BLOCK_BYTES, (at % BLOCK_BYTES) + end - at))
    }
    return Math.max(0, at - position)
  }

  willReadInOrder(position: number, length: number): void {
    this.#announced = { start: position, end: Math.min(position + length, this.stat.sizeBytes) }
  }

  /** Every GET requires the version of `stat`. */
  async checkUnchanged(): Promise<void> {
    this.#checkOpen()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closeStream()
    this.#options.onClosed()
  }

  /** A block; `last` is the last one that is needed as well. */
  async #block(index: number, last: number): Promise<Buffer> {
    const { cache } = this.#options
    // Undefined also if another reader, which loads it, fails: it may have been closed.
    const found = await cache.inFlight(this.#cached, index)?.catch(() => undefined)
    if (found !== undefined) return found
    try {
      if (this.#isAnnounced(index) && this.#stream?.isReading !== true) {
        return await this.#readAnnounced(index)
      }
      this.#loadRun(index, last)
      const loading = cache.inFlight(this.#cached, index)
      if (loading === undefined) throw new AppError('failed', 'the recording cannot be read')
      return await loading
    } catch (error) {
      if (error instanceof AppError && (error.code === 'gone' || error.code === 'not_found')) {
        this.#options.onReplaced()
      }
      throw error
    }
  }

  #isAnnounced(index: number): boolean {
    const { start, end } = this.#announced
    return index * BLOCK_BYTES < end && (index + 1) * BLOCK_BYTES > start
  }

  async #readAnnounced(index: number): Promise<Buffer> {
    const { cache, streams } = this.#options
    const stream = this.#streamAt(index)
    streams.use(stream)
    // Blocks in memory or in flight are read again: the stream continues after them.
    while (stream.position < index * BLOCK_BYTES) await stream.read(BLOCK_BYTES)
    const block = await cache.load(this.#cached, index, (length) => stream.read(length))
    if (stream.isOver) this.#closeStream()
    return block
  }

  /** The stream if it is at the block or shortly before it, else a new one. */
  #streamAt(index: number): ObjectStream {
    const start = index * BLOCK_BYTES
    const skipped = this.#stream === undefined ? -1 : start - this.#stream.position
    if (this.#stream && skipped >= 0 && skipped <= MAX_SKIPPED_BLOCKS * BLOCK_BYTES) {
      return this.#stream
    }
    this.#closeStream()
    const end = Math.min((lastBlock(this.#announced.end) + 1) * BLOCK_BYTES, this.stat.sizeBytes)
    const { streams, object } = this.#options
    this.#stream = streams.open(object, { start, end })
    return this.#stream
  }

  #closeStream(): void {
    if (this.#stream === undefined) return
    this.#options.streams.close(this.#stream)
    this.#stream = undefined
  }

  /** Loads consecutive blocks with one GET, up to one that is in memory or in flight. */
  #loadRun(first: number, last: number): void {
    const { streams, object, cache } = this.#options
    const limit = Math.min(last, first + MAX_RUN_BLOCKS - 1, lastBlock(this.stat.sizeBytes))
    let end = first
    while (end <= limit && !cache.has(this.#cached, end)) end += 1
    if (end === first) return
    const stream = streams.open(object, {
      start: first * BLOCK_BYTES,
      end: Math.min(end * BLOCK_BYTES, this.stat.sizeBytes),
    })
    let previous: Promise<unknown> = Promise.resolve()
    for (let index = first; index < end; index += 1) {
      const before = previous
      previous = cache.load(this.#cached, index, async (length) => {
        await before
        return stream.read(length)
      })
    }
  }

  /** Loads the next blocks for a sequential reader, in two runs: one loads while one is read. */
  #noteSequence(start: number, end: number): void {
    const isNext = start === this.#sequence.end
    this.#sequence = { start: isNext ? this.#sequence.start : start, end }
    const sequentialBytes = end - this.#sequence.start
    if (!isNext || sequentialBytes < SEQUENTIAL_BYTES) return
    if (this.#isAnnounced(lastBlock(end))) return
    const blocks = Math.min(Math.floor(sequentialBytes / BLOCK_BYTES / 2), MAX_AHEAD_BLOCKS)
    const next = lastBlock(end) + 1
    const half = next + Math.ceil(blocks / 2)
    for (const index of [next, half]) {
      if (index * BLOCK_BYTES >= this.stat.sizeBytes) return
      if (!this.#options.cache.has(this.#cached, index)) {
        this.#loadRun(index, index + Math.ceil(blocks / 2) - 1)
      }
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new AppError('failed', 'the file is already closed')
  }
}

/** Index of the block with the last byte before `end`. */
function lastBlock(end: number): number {
  return Math.max(0, Math.ceil(end / BLOCK_BYTES) - 1)
}

/** Buffers that are filled one after another. */
class Target {
  readonly length: number
  readonly #buffers: readonly Uint8Array[]
  #index = 0
  #filled = 0

  constructor(buffers: readonly Uint8Array[]) {
    this.#buffers = buffers
    this.length = buffers.reduce((sum, { length }) => sum + length, 0)
  }

  /** Copies all bytes; returns their number. */
  write(bytes: Uint8Array): number {
    let from = 0
    for (;;) {
      const buffer = this.#buffers[this.#index]
      if (buffer === undefined || from === bytes.length) return from
      const part = bytes.subarray(from, from + buffer.length - this.#filled)
      buffer.set(part, this.#filled)
      from += part.length
      this.#filled += part.length
      if (this.#filled < buffer.length) return from
      this.#index += 1
      this.#filled = 0
    }
  }
}
