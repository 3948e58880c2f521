// An open file for sequential readers: prefetches the next bytes while the last are processed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OpenFile } from './storage.ts'

export interface ReadAheadOptions {
  /** Bytes per read. */
  chunkBytes: number
  /** Chunks in memory or in flight: one being processed, the others in flight. */
  chunks: number
}

/**
 * Disks are fastest with several reads in flight; three leave one of libuv's four threads to
 * viewers.
 */
const DEFAULTS: ReadAheadOptions = { chunkBytes: 1024 * 1024, chunks: 4 }

interface Chunk {
  position: number
  bytes: Uint8Array
  /** Bytes available; fewer than its capacity at the end of the file. */
  length: Promise<number>
}

/** Prefetch window that is advised to the system, and its step. */
const HINT_BYTES = 16 * 1024 * 1024
const HINT_STEP_BYTES = 4 * 1024 * 1024

/**
 * Bytes read synchronously before other work of the thread runs, such as a cancellation message.
 */
const TURN_BYTES = 8 * 1024 * 1024
/** After a miss, the bytes up to this distance are not expected in memory either. */
const MISS_BYTES = 64 * 1024 * 1024

/**
 * The same file for sequential or nearby reads. If the system accepts prefetch hints, it fetches
 * the next bytes; otherwise reads are answered from prefetched chunks, up to the file's size when
 * it was opened. Other reads go to the file. One read at a time.
 */
export function readAhead(file: OpenFile, options: Partial<ReadAheadOptions> = {}): OpenFile {
  return file.willRead === undefined ? prefetchChunks(file, options) : withReadHints(file)
}

/**
 * The same file for sequential readers: sends prefetch hints if possible, and reads cached bytes
 * synchronously.
 */
export function withReadHints(file: OpenFile): OpenFile {
  const hint = createReadHints(file)
  const held = readCached(file, { missBytes: 0 })
  return {
    ...held,
    read(buffer, position) {
      hint(position)
      return held.read(buffer, position)
    },
  }
}

/**
 * The same file; bytes in the page cache are read synchronously if possible, since another thread
 * costs a round trip and leaves the bytes in another core's cache. After a miss, reads are
 * asynchronous for `missBytes`: with several in flight, the system's own read-ahead is fastest.
 */
export function readCached(file: OpenFile, { missBytes = MISS_BYTES } = {}): OpenFile {
  let turnBytes = 0
  let ordinaryUpTo = 0
  return {
    stat: file.stat,
    async read(buffer, position) {
      if (turnBytes >= TURN_BYTES) {
        turnBytes = 0
        await nextTurn()
      }
      if (position < ordinaryUpTo) return file.read(buffer, position)
      const count = file.readCached?.([buffer], position) ?? 0
      turnBytes += count
      if (count === buffer.length) return count
      ordinaryUpTo = position + missBytes
      // Waits for the disk, or reaches the end.
      return count + (await file.read(buffer.subarray(count), position + count))
    },
    readv: (buffers, position) => file.readv(buffers, position),
    checkUnchanged: () => file.checkUnchanged(),
    close: () => file.close(),
  }
}

/** Sends prefetch hints for the bytes after a read position. */
function createReadHints(file: OpenFile): (position: number) => void {
  let hintedUpTo = 0
  return (position) => {
    // A jump starts a new window.
    if (position > hintedUpTo || position < hintedUpTo - 2 * HINT_BYTES) hintedUpTo = position
    while (hintedUpTo < Math.min(position + HINT_BYTES, file.stat.sizeBytes)) {
      file.willRead?.(hintedUpTo, HINT_STEP_BYTES)
      hintedUpTo += HINT_STEP_BYTES
    }
  }
}

/** Prefetch without the help of system hints. */
export function prefetchChunks(file: OpenFile, options: Partial<ReadAheadOptions> = {}): OpenFile {
  const ahead = new ReadAhead(file, { ...DEFAULTS, ...options })
  return {
    stat: file.stat,
    read: (buffer, position) => ahead.read(buffer, position),
    readv: (buffers, position) => file.readv(buffers, position),
    checkUnchanged: () => file.checkUnchanged(),
    close: () => file.close(),
  }
}

class ReadAhead {
  readonly #file: OpenFile
  readonly #chunkBytes: number
  readonly #maxChunks: number
  /** Adjacent chunks, in file order. */
  readonly #chunks: Chunk[] = []
  readonly #spare: Uint8Array[] = []
  /** Where the last read ended; undefined before the first. */
  #end: number | undefined

  constructor(file: OpenFile, { chunkBytes, chunks }: ReadAheadOptions) {
    this.#file = file
    this.#chunkBytes = chunkBytes
    this.#maxChunks = chunks
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    const count = this.#goesOn(position)
      ? await this.#fill(buffer, position)
      : await this.#file.read(buffer, position)
    this.#end = position + count
    return count
  }

  /** Whether the bytes at the position are in memory or in flight, or follow the last read. */
  #goesOn(position: number): boolean {
    const [first] = this.#chunks
    const last = this.#chunks.at(-1)
    if (this.#end === undefined || this.#end === position) return true
    if (first === undefined || last === undefined) return false
    return position >= first.position && position < last.position + last.bytes.length
  }

  async #fill(buffer: Uint8Array, position: number): Promise<number> {
    let filled = 0
    while (filled < buffer.length) {
      const count = await this.#copy(buffer.subarray(filled), position + filled)
      if (count === 0) break
      filled += count
    }
    return filled
  }

  async #copy(target: Uint8Array, position: number): Promise<number> {
    this.#drop(position)
    this.#request(position)
    const [chunk] = this.#chunks
    if (chunk === undefined) return 0
    const length = await chunk.length
    const at = position - chunk.position
    const count = Math.max(0, Math.min(target.length, length - at))
    target.set(chunk.bytes.subarray(at, at + count))
    return count
  }

  /** Drops the chunks before the one with the position; all if none contains it. */
  #drop(position: number): void {
    for (;;) {
      const [chunk] = this.#chunks
      if (chunk === undefined) return
      const { position: from, bytes } = chunk
      if (position >= from && position < from + bytes.length) return
      this.#chunks.shift()
      // The memory is reused once no read writes to it any more.
      void chunk.length.then(
        () => bytes.length === this.#chunkBytes && this.#spare.push(bytes),
        () => undefined,
      )
    }
  }

  #request(position: number): void {
    const { sizeBytes } = this.#file.stat
    while (this.#chunks.length < this.#maxChunks) {
      const last = this.#chunks.at(-1)
      const from = last === undefined ? position : last.position + last.bytes.length
      if (from >= sizeBytes) return
      const sized = Math.min(this.#chunkBytes, sizeBytes - from)
      const bytes = (sized === this.#chunkBytes && this.#spare.pop()) || new Uint8Array(sized)
      const length = this.#file.read(bytes, from)
      // Reported where the chunk is awaited.
      length.catch(() => undefined)
      this.#chunks.push({ position: from, bytes, length })
    }
  }
}
