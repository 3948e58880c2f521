// Memory for finished segments: a file that lies in memory alone, from which a socket takes bytes without a copy; or a buffer.
import { closeSync, readSync, writeSync } from 'node:fs'
import type { PageCache } from '../storage/page-cache.ts'

/** Room for the bytes of one segment. Whoever has it frees it, once. */
export interface SegmentMemory {
  write(bytes: Uint8Array, position: number): void
  /** Bytes that were written, valid until the memory is freed, or `into` is used again. */
  read(window: MemoryWindow, into: Uint8Array): Uint8Array
  /** As `ChunkSource.send`, of bytes that were written. */
  send(window: MemoryWindow, socket: number): number | undefined
  /** What a socket has taken already is not touched. */
  free(): void
}

/** Bytes from `start` up to, not including, `end`. */
export interface MemoryWindow {
  start: number
  end: number
}

/** The best that the system has. */
export function allocateSegment(sizeBytes: number, pageCache?: PageCache): SegmentMemory {
  const descriptor = pageCache?.createFile()
  if (pageCache === undefined || descriptor === undefined) return new BufferMemory(sizeBytes)
  return new FileMemory(descriptor, pageCache)
}

class BufferMemory implements SegmentMemory {
  readonly #bytes: Buffer

  constructor(sizeBytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(sizeBytes)
  }

  write(bytes: Uint8Array, position: number): void {
    this.#bytes.set(bytes, position)
  }

  read({ start, end }: MemoryWindow): Uint8Array {
    return this.#bytes.subarray(start, end)
  }

  send(): undefined {
    return undefined
  }

  free(): void {
    // Left to the garbage collector, these megabytes would start one collection of the whole heap after another.
    if (this.#bytes.buffer instanceof ArrayBuffer) this.#bytes.buffer.transfer(0)
  }
}

/** Its pages do not count as memory of this process (RSS), but of the system. */
class FileMemory implements SegmentMemory {
  readonly #descriptor: number
  readonly #pageCache: PageCache

  constructor(descriptor: number, pageCache: PageCache) {
    this.#descriptor = descriptor
    this.#pageCache = pageCache
  }

  /** Nothing is waited for: there is no disk. */
  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done)
    }
  }

  read({ start, end }: MemoryWindow, into: Uint8Array): Uint8Array {
    const length = Math.min(end - start, into.length)
    return into.subarray(0, readSync(this.#descriptor, into, 0, length, start))
  }

  send({ start, end }: MemoryWindow, socket: number): number | undefined {
    const range = { descriptor: this.#descriptor, position: start, length: end - start }
    return this.#pageCache.send(range, socket)
  }

  free(): void {
    closeSync(this.#descriptor)
  }
}
