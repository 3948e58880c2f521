// Memory for cached segments: a memory file that sockets send from without a copy, or a buffer.
import { closeSync, readSync, writeSync } from 'node:fs'
import type { PageCache } from '../../storage/recordings/page-cache.ts'
import type { ByteWindow } from './segment-body.ts'

/** Memory for the bytes of one segment. The owner frees it, once. */
export interface SegmentMemory {
  write(bytes: Uint8Array, position: number): void
  /** Bytes that were written, valid until the memory is freed or `into` is reused. */
  read(window: ByteWindow, into: Uint8Array): Uint8Array
  /** As `ChunkSource.send`, for bytes that were written. */
  send(window: ByteWindow, socket: number): number | undefined
  /** Bytes that a socket has already accepted stay valid. */
  free(): void
}

/** A memory file where the system has one, else a buffer. */
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

  read({ start, end }: ByteWindow): Uint8Array {
    return this.#bytes.subarray(start, end)
  }

  send(): undefined {
    return undefined
  }

  free(): void {
    // Without it, these megabytes would trigger one full garbage collection after another.
    if (this.#bytes.buffer instanceof ArrayBuffer) this.#bytes.buffer.transfer(0)
  }
}

/** Its pages are not part of this process's RSS, but of the system's page cache. */
class FileMemory implements SegmentMemory {
  readonly #descriptor: number
  readonly #pageCache: PageCache

  constructor(descriptor: number, pageCache: PageCache) {
    this.#descriptor = descriptor
    this.#pageCache = pageCache
  }

  /** Synchronous: no disk is involved. */
  write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done)
    }
  }

  read({ start, end }: ByteWindow, into: Uint8Array): Uint8Array {
    const length = Math.min(end - start, into.length)
    return into.subarray(0, readSync(this.#descriptor, into, 0, length, start))
  }

  send({ start, end }: ByteWindow, socket: number): number | undefined {
    const range = { descriptor: this.#descriptor, position: start, length: end - start }
    return this.#pageCache.send(range, socket)
  }

  free(): void {
    closeSync(this.#descriptor)
  }
}
