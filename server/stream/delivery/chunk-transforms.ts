// Chunk sources made from another one: encrypted, or limited to a byte window.
import { allocateChunk } from './buffer-pool.ts'
import type { BufferLease } from './buffer-pool.ts'
import { whenReady } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import type { SegmentCipher } from './encryption.ts'
import { MIN_SENDFILE_BYTES } from './read-body.ts'
import type { ByteWindow } from './segment-body.ts'

/**
 * The chunks encrypted; the last one contains the padding. Bytes in leased buffers are encrypted in
 * place, so that they stay in the CPU cache.
 */
export function encryptChunks(
  chunks: ChunkSource,
  cipher: SegmentCipher,
  buffers: BufferLease,
): ChunkSource {
  let isOver = false
  const next = (maxBytes?: number): Chunk | Promise<Chunk> => {
    if (isOver) return undefined
    return whenReady(chunks.next(maxBytes), (chunk) => {
      isOver = chunk === undefined
      if (chunk === undefined) return cipher.final()
      const encrypted = cipher.update(buffers.owns(chunk) ? chunk : copyChunk(chunk))
      return encrypted.length === 0 ? next(maxBytes) : encrypted
    })
  }
  return { next }
}

function copyChunk(chunk: Uint8Array): Uint8Array {
  const copy = allocateChunk(chunk.length)
  copy.set(chunk)
  return copy
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
