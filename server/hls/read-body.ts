// Reads a segment's bytes from the recording, chunk by chunk, plain or encrypted.
import type { Cipheriv } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { RangePart } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import { BufferPool, LentBuffers } from './buffer-pool.ts'
import { planPasses, ScatterCursor } from './read-plan.ts'
import type { Pass } from './read-plan.ts'
import { M2TS_PACKET_BYTES, sliceBody, unpackM2ts } from './segment-body.ts'
import type { SegmentBody } from './segment-body.ts'

/**
 * The body's bytes in order. A chunk stays valid until the next is asked for. The buffers are given back by the caller,
 * when the last chunk was sent.
 *
 * @throws AppError `failed` where the recording is shorter than its index says
 */
export async function* readBody(
  file: OpenFile,
  body: SegmentBody,
  buffers: LentBuffers,
): AsyncGenerator<Uint8Array, void> {
  for (const pass of planPasses(body.parts)) yield* readPass(file, pass, buffers)
}

/** At most so many of the body's first bytes, in memory of their own. */
export async function readBodyHead(
  file: OpenFile,
  body: SegmentBody,
  maxBytes: number,
): Promise<Uint8Array> {
  const slice = sliceBody(body, { start: 0, end: Math.min(body.sizeBytes, maxBytes) })
  const lent = new LentBuffers(new BufferPool(), 'plain')
  const chunks: Uint8Array[] = []
  for await (const chunk of readBody(file, slice.body, lent)) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

/**
 * Encrypts chunks on their way; the last one carries the padding. A chunk stays valid until the next is asked for, as
 * those of `readBody` do: then its memory is freed at once. Left to the garbage collector, these megabytes would start
 * one collection of the whole heap after another.
 */
export async function* encryptChunks(
  chunks: AsyncIterable<Uint8Array>,
  cipher: Cipheriv,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    const encrypted = cipher.update(chunk)
    yield encrypted
    freeMemory(encrypted)
  }
  yield cipher.final()
}

/** Frees memory that these bytes alone lie in; they are empty then. */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * Lets through the bytes from `start` up to, not including, `end`, then stops reading. Before the last of them
 * `beforeEnd` is awaited: where it rejects, the client never has a whole body.
 */
export async function* windowChunks(
  chunks: AsyncIterable<Uint8Array>,
  { start, end }: { start: number; end: number },
  beforeEnd?: () => Promise<void>,
): AsyncGenerator<Uint8Array, void> {
  let position = 0
  for await (const chunk of chunks) {
    const from = Math.max(start - position, 0)
    const to = Math.min(end - position, chunk.length)
    const isLast = position + chunk.length >= end
    if (isLast) await beforeEnd?.()
    if (from < to) yield chunk.subarray(from, to)
    if (isLast) return
    position += chunk.length
  }
}

async function* readPass(
  file: OpenFile,
  pass: Pass,
  buffers: LentBuffers,
): AsyncGenerator<Uint8Array, void> {
  switch (pass.kind) {
    case 'bytes':
      yield pass.bytes
      return
    case 'packets':
      yield* readPackets(file, pass.range, buffers)
      return
    case 'scatter':
      yield* readScattered(file, pass, buffers)
  }
}

async function* readPackets(
  file: OpenFile,
  range: RangePart,
  buffers: LentBuffers,
): AsyncGenerator<Uint8Array, void> {
  let done = 0
  while (done < range.length) {
    const buffer = buffers.main
    const room = buffer.length - (buffer.length % M2TS_PACKET_BYTES)
    const chunk = buffer.subarray(0, Math.min(room, range.length - done))
    await readFully(file, [chunk], range.offset + done)
    done += chunk.length
    yield unpackM2ts(chunk)
  }
}

async function* readScattered(
  file: OpenFile,
  pass: Extract<Pass, { kind: 'scatter' }>,
  buffers: LentBuffers,
): AsyncGenerator<Uint8Array, void> {
  const cursor = new ScatterCursor(pass.main, pass.late)
  const late = buffers.extra(pass.lateBytes)
  const discard = buffers.discard
  let lateFilled = 0
  const main = buffers.main
  for (;;) {
    const read = cursor.next({ main, late: late.subarray(lateFilled), discard })
    if (read === undefined) break
    await readFully(file, read.buffers, read.position)
    lateFilled += read.lateBytes
    if (read.mainBytes > 0) yield main.subarray(0, read.mainBytes)
  }
  if (lateFilled > 0) yield late
}

/** Fills all buffers, or throws. */
async function readFully(
  file: OpenFile,
  buffers: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let wanted = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  let rest = buffers
  let at = position
  while (wanted > 0) {
    const [only] = rest
    const count =
      rest.length === 1 && only !== undefined
        ? await file.read(only, at)
        : await file.readv(rest, at)
    if (count === 0) throw new AppError('failed', 'the recording is shorter than it was')
    wanted -= count
    at += count
    if (wanted > 0) rest = dropBytes(rest, count)
  }
}

function dropBytes(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let drop = count
  for (const buffer of buffers) {
    if (drop >= buffer.length) {
      drop -= buffer.length
    } else {
      rest.push(buffer.subarray(drop))
      drop = 0
    }
  }
  return rest
}
