// Chunk sources made from another one: encrypted, or limited to a byte window.
import type { Cipheriv } from 'node:crypto'
import type { BufferLease } from './buffer-pool.ts'
import { whenReady } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { MIN_SENDFILE_BYTES } from './read-body.ts'
import type { ByteWindow } from './segment-body.ts'

/** Bytes that one call encrypts. */
const ENCRYPTED_SLICE_BYTES = 64 * 1024

/**
 * The chunks encrypted; the last one contains the padding. Bytes in leased buffers are encrypted in
 * place, so that they stay in the CPU cache.
 */
export function encryptChunks(
  chunks: ChunkSource,
  cipher: Cipheriv,
  buffers: BufferLease,
): ChunkSource {
  let isOver = false
  const next = (maxBytes?: number): Chunk | Promise<Chunk> => {
    if (isOver) return undefined
    return whenReady(chunks.next(maxBytes), (chunk) => {
      isOver = chunk === undefined
      if (chunk === undefined) return cipher.final()
      const encrypted = buffers.owns(chunk) ? encryptInPlace(chunk, cipher) : cipher.update(chunk)
      return encrypted.length === 0 ? next(maxBytes) : encrypted
    })
  }
  return { next }
}

/**
 * Encrypts slice by slice. The allocator reuses memory for small outputs; a large output is mapped
 * page by page each time, which costs nearly as much as the encryption. Memory that is freed
 * explicitly does not trigger a garbage collection.
 */
function encryptInPlace(chunk: Uint8Array, cipher: Cipheriv): Uint8Array {
  let done = 0
  for (let at = 0; at < chunk.length; at += ENCRYPTED_SLICE_BYTES) {
    const slice = cipher.update(chunk.subarray(at, at + ENCRYPTED_SLICE_BYTES))
    // The slice may complete a block of the previous chunk, and then exceed the space in this one.
    if (done + slice.length > chunk.length) return Buffer.concat([chunk.subarray(0, done), slice])
    chunk.set(slice, done)
    done += slice.length
    freeMemory(slice)
  }
  return chunk.subarray(0, done)
}

/** Detaches the memory of these bytes if no other bytes share it; they are empty after that. */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * The bytes of the window; reads nothing after its end. `beforeEnd` is awaited before the last
 * bytes: if it rejects, no client gets a complete body.
 */
export function windowChunks(
  chunks: ChunkSource,
  { start, end }: ByteWindow,
  beforeEnd?: () => Promise<void>,
): ChunkSource {
  let position = 0
  const next = (maxBytes?: number): Chunk | Promise<Chunk> => {
    if (position >= end) return undefined
    return whenReady(chunks.next(maxBytes), (chunk) => {
      if (chunk === undefined) return undefined
      const from = Math.max(start - position, 0)
      const to = Math.min(end - position, chunk.length)
      position += chunk.length
      if (from >= to) return next(maxBytes)
      const inside = chunk.subarray(from, to)
      return position >= end && beforeEnd !== undefined ? beforeEnd().then(() => inside) : inside
    })
  }
  const send = (socket: number, maxBytes: number): number | undefined => {
    // The last byte always comes from `next`, which awaits `beforeEnd`.
    const room = Math.min(maxBytes, end - position - 1)
    if (position < start || room < MIN_SENDFILE_BYTES) return undefined
    const sent = chunks.send?.(socket, room)
    position += sent ?? 0
    return sent
  }
  return chunks.send === undefined ? { next } : { next, send }
}
