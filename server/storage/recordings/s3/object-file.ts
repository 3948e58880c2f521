// An open object: reads go through the block cache. Announced bytes are read with one GET in the
// order of the reads; others with GETs of a few blocks, and ahead of sequential readers.
import { AppError, isAppError } from '../../../base/errors.ts'
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
    this.#cached = options.cache.objectOf(`${stat.version} ${key}`, stat.sizeBytes)
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    return this.readv([buffer], position)
  }

  async readv(buffers: readonly Uint8Array[], position: number): Promise<number> {
    const target = new Target(buffers)
    const end = Math.min(position + target.length, this.stat.sizeBytes)
    this.#noteSequence(position, end)
    for (let at = position; at < end;) {
      const count = this.#copyCached(target, at, end)
      at += count
      if (count === 0) await this.#load(Math.floor(at / BLOCK_BYTES), lastBlock(end))
    }
    return Math.max(0, end - position)
  }

  readCached(buffers: readonly Uint8Array[], position: number): number {
    const target = new Target(buffers)
    const end = Math.min(position + target.length, this.stat.sizeBytes)
    return position < end ? this.#copyCached(target, position, end) : 0
  }

  /** Copies consecutive bytes that are in memory; returns their number. */
  #copyCached(target: Target, start: number, end: number): number {
    this.#checkOpen()
    let at = start
    while (at < end) {
      const block = this.#options.cache.get(this.#cached, Math.floor(at / BLOCK_BYTES))
      if (block === undefined) break
      at += target.write(block.subarray(at % BLOCK_BYTES, (at % BLOCK_BYTES) + end - at))
    }
    return at - start
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

  /** Loads a block, and others up to `last` if they are not announced. */
  async #load(index: number, last: number): Promise<void> {
    const { cache, onReplaced } = this.#options
    const others = cache.inFlight(this.#cached, index)
    // Another reader loads it. That one fails also if its client disconnects.
    if (others !== undefined && (await isFulfilled(others))) return
    try {
      if (this.#isAnnounced(index) && this.#stream?.isReading !== true) {
        await this.#loadAnnounced(index, last)
      } else {
        this.#loadRun(index, last)
        await cache.inFlight(this.#cached, index)
      }
    } catch (error) {
      if (isAppError(error, 'gone', 'not_found')) onReplaced()
      throw error
    }
  }

  #isAnnounced(index: number): boolean {
    const { start, end } = this.#announced
    return index * BLOCK_BYTES < end && (index + 1) * BLOCK_BYTES > start
  }

  async #loadAnnounced(index: number, last: number): Promise<void> {
    const { cache, streams } = this.#options
    const stream = this.#streamAt(index)
    streams.use(stream)
    const limit = { first: index, end: Math.min(last, lastBlock(stream.end)) + 1 }
    const run = { first: index, end: cache.endOfMissing(this.#cached, limit) }
    // Blocks that were in memory are dropped.
    await cache.load(this.#cached, run, (blocks) => stream.read(blocks, index * BLOCK_BYTES))
    if (stream.isOver) this.#closeStream()
  }

  /** The stream if it is at the block or shortly before it, else a new one. */
  #streamAt(index: number): ObjectStream {
    const start = index * BLOCK_BYTES
    if (this.#stream && start < this.#stream.end) {
      const skippedBytes = start - this.#stream.position
      const isNear = skippedBytes >= 0 && skippedBytes <= MAX_SKIPPED_BLOCKS * BLOCK_BYTES
      if (isNear) return this.#stream
    }
    this.#closeStream()
    const last = this.#lastMissing(index, lastBlock(this.#announced.end))
    const end = Math.min((last + 1) * BLOCK_BYTES, this.stat.sizeBytes)
    const { streams, object } = this.#options
    this.#stream = streams.open(object, { start, end })
    return this.#stream
  }

  /** The last block, or the one before a part in memory that is too long to be skipped. */
  #lastMissing(first: number, last: number): number {
    let missing = first
    for (let at = first + 1; at <= last; at += 1) {
      if (!this.#options.cache.has(this.#cached, at)) missing = at
      if (at - missing > MAX_SKIPPED_BLOCKS) return missing
    }
    return last
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
      previous = cache.load(this.#cached, { first: index, end: index + 1 }, async (blocks) => {
        await before
        await stream.read(blocks)
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

async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  )
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
