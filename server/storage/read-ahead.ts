// An open file for who reads it from front to back: the next bytes are on their way while the last are looked at.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OpenFile } from './storage.ts'

export interface ReadAheadOptions {
  /** What is read at once. */
  chunkBytes: number
  /** Chunks that are held or on their way: one that is looked at, the others in flight. */
  chunks: number
}

/** Disks give more with several reads in flight; three leave one of the four threads that reads have to viewers. */
const DEFAULTS: ReadAheadOptions = { chunkBytes: 1024 * 1024, chunks: 4 }

interface Chunk {
  position: number
  bytes: Uint8Array
  /** Bytes of it that are there; fewer than it has room for at the end of the file. */
  length: Promise<number>
}

/** How far the system is told ahead, and in what steps. */
const TOLD_BYTES = 16 * 1024 * 1024
const TOLD_STEP_BYTES = 4 * 1024 * 1024

/** What is read at once until other work of the thread has its turn: the word that nobody waits any more comes that way. */
const TURN_BYTES = 8 * 1024 * 1024
/** So far behind a place that is not in memory the next ones are not expected to be either. */
const MISS_BYTES = 64 * 1024 * 1024

/**
 * The same file for reads that follow one another, or lie close together. Where the system can be told what will be read,
 * it fetches that meanwhile; else they are answered from chunks that are read ahead, up
 * to the file's end as it was when it was opened. Reads elsewhere go to the file. One read at a time.
 */
export function readAhead(file: OpenFile, options: Partial<ReadAheadOptions> = {}): OpenFile {
  return file.willRead === undefined ? readChunksAhead(file, options) : tellAhead(file)
}

/** The same file for who reads it from front to back: the system is told ahead, where it can be, and what has come is read at once. */
export function tellAhead(file: OpenFile): OpenFile {
  const tell = createTeller(file)
  const held = readCached(file, { missBytes: 0 })
  return {
    ...held,
    read(buffer, position) {
      tell(position)
      return held.read(buffer, position)
    },
  }
}

/**
 * The same file; what the system has in memory is read at once, where that can be: another thread costs its way there and
 * back, and leaves the bytes in another processor's cache. Where that fails, the file lies on the disk, it seems, and
 * reads are ordinary for `missBytes`: with several in flight, the system then reads ahead best by itself.
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
      // It waits for the disk, or tells of the end.
      return count + (await file.read(buffer.subarray(count), position + count))
    },
    readv: (buffers, position) => file.readv(buffers, position),
    checkUnchanged: () => file.checkUnchanged(),
    close: () => file.close(),
  }
}

/** Tells the system what is behind a position that is read. */
function createTeller(file: OpenFile): (position: number) => void {
  let toldUpTo = 0
  return (position) => {
    // Who jumps begins anew.
    if (position > toldUpTo || position < toldUpTo - 2 * TOLD_BYTES) toldUpTo = position
    while (toldUpTo < Math.min(position + TOLD_BYTES, file.stat.sizeBytes)) {
      file.willRead?.(toldUpTo, TOLD_STEP_BYTES)
      toldUpTo += TOLD_STEP_BYTES
    }
  }
}

/** What `readAhead` is where the system cannot be told. */
export function readChunksAhead(file: OpenFile, options: Partial<ReadAheadOptions> = {}): OpenFile {
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
  /** Neighbours, in the order of the file. */
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

  /** Whether the bytes at the position are at hand or on their way, or begin where the last read ended. */
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

  /** Chunks in front of the one with the position are not needed any more; all, where none has it. */
  #drop(position: number): void {
    for (;;) {
      const [chunk] = this.#chunks
      if (chunk === undefined) return
      const { position: from, bytes } = chunk
      if (position >= from && position < from + bytes.length) return
      this.#chunks.shift()
      // The memory is used again once nothing is written to it any more.
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
      // Told where the chunk is awaited, if it ever is.
      length.catch(() => undefined)
      this.#chunks.push({ position: from, bytes, length })
    }
  }
}
