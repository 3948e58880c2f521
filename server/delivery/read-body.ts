// Reads a segment's bytes from the recording, chunk by chunk, plain or encrypted.
import type { Cipheriv } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { RangePart } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import { BufferPool, BufferLease } from './buffer-pool.ts'
import { eachChunk, whenReady } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { planPasses, ScatterCursor } from './read-plan.ts'
import type { Pass } from './read-plan.ts'
import { M2TS_PACKET_BYTES, sliceBody, unpackM2ts } from './segment-body.ts'
import type { SegmentBody } from './segment-body.ts'

/** What is encrypted in one call. */
const ENCRYPTED_SLICE_BYTES = 64 * 1024
/** Less than this is quicker read and written than sent from the file. */
const MIN_SENT_BYTES = 64 * 1024

/**
 * The body's bytes in order. The buffers are given back by the caller, when the last chunk was sent. Asking for a chunk
 * throws AppError `failed` where the recording is shorter than its index says.
 */
export function readBody(file: OpenFile, body: SegmentBody, buffers: BufferLease): ChunkSource {
  const passes = planPasses(body.parts)
  return new JoinedChunks(passes.map((pass) => () => readPass(file, pass, buffers)))
}

/** At most so many of the body's first bytes, in memory of their own. */
export async function readBodyHead(
  file: OpenFile,
  body: SegmentBody,
  maxBytes: number,
): Promise<Uint8Array> {
  const slice = sliceBody(body, { start: 0, end: Math.min(body.sizeBytes, maxBytes) })
  const lent = new BufferLease(new BufferPool())
  const chunks: Uint8Array[] = []
  for await (const chunk of eachChunk(readBody(file, slice.body, lent))) {
    chunks.push(Uint8Array.from(chunk))
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

/**
 * Encrypts chunks on their way; the last one carries the padding. Bytes that lie in the lent buffers are encrypted where
 * they lie, so that they stay in the processor's cache.
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
      const encrypted = buffers.holds(chunk) ? encryptInPlace(chunk, cipher) : cipher.update(chunk)
      return encrypted.length === 0 ? next(maxBytes) : encrypted
    })
  }
  return { next }
}

/**
 * In pieces, for which the allocator has memory at hand: a large piece is new memory each time, page by page, which costs
 * nearly as much as to encrypt it. What is freed at once starts no collection of the heap.
 */
function encryptInPlace(chunk: Uint8Array, cipher: Cipheriv): Uint8Array {
  let done = 0
  for (let at = 0; at < chunk.length; at += ENCRYPTED_SLICE_BYTES) {
    const slice = cipher.update(chunk.subarray(at, at + ENCRYPTED_SLICE_BYTES))
    // A block that the chunk before began may be complete only now, and find no room.
    if (done + slice.length > chunk.length) return Buffer.concat([chunk.subarray(0, done), slice])
    chunk.set(slice, done)
    done += slice.length
    freeMemory(slice)
  }
  return chunk.subarray(0, done)
}

/** Frees memory that these bytes alone lie in; they are empty then. */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * Lets through the bytes from `start` up to, not including, `end`, then stops reading. Before the last of them
 * `beforeEnd` is awaited: where it rejects, the client never has a whole body.
 */
export function windowChunks(
  chunks: ChunkSource,
  { start, end }: { start: number; end: number },
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
      const wanted = chunk.subarray(from, to)
      return position >= end && beforeEnd !== undefined ? beforeEnd().then(() => wanted) : wanted
    })
  }
  const send = (socket: number, maxBytes: number): number | undefined => {
    // The last bytes are a chunk, so that they wait for `beforeEnd`.
    const room = Math.min(maxBytes, end - position - 1)
    if (position < start || room < MIN_SENT_BYTES) return undefined
    const sent = chunks.send?.(socket, room)
    position += sent ?? 0
    return sent
  }
  return chunks.send === undefined ? { next } : { next, send }
}

/** One behind the other: chunks that are there, and sources that are made when their turn comes. */
class JoinedChunks implements ChunkSource {
  readonly #chunks: readonly (() => Uint8Array | ChunkSource)[]
  #opened = 0
  #current: Uint8Array | ChunkSource | undefined

  constructor(chunks: readonly (() => Uint8Array | ChunkSource)[]) {
    this.#chunks = chunks
  }

  next(maxBytes?: number): Chunk | Promise<Chunk> {
    const current = this.#chunk()
    if (current === undefined || current instanceof Uint8Array) {
      this.#current = undefined
      return current
    }
    return whenReady(current.next(maxBytes), (chunk) => {
      if (chunk !== undefined) return chunk
      this.#current = undefined
      return this.next(maxBytes)
    })
  }

  send(socket: number, maxBytes: number): number | undefined {
    const current = this.#chunk()
    return current instanceof Uint8Array ? undefined : current?.send?.(socket, maxBytes)
  }

  #chunk(): Uint8Array | ChunkSource | undefined {
    this.#current ??= this.#chunks[this.#opened++]?.()
    return this.#current
  }
}

function readPass(file: OpenFile, pass: Pass, buffers: BufferLease): Uint8Array | ChunkSource {
  switch (pass.kind) {
    case 'bytes':
      return pass.bytes
    case 'packets':
      return readPackets(file, pass.range, buffers)
    case 'scatter':
      return readScattered(file, pass, buffers)
  }
}

function readPackets(file: OpenFile, range: RangePart, buffers: BufferLease): ChunkSource {
  let done = 0
  return {
    next() {
      if (done >= range.length) return undefined
      const buffer = buffers.main
      const room = buffer.length - (buffer.length % M2TS_PACKET_BYTES)
      const chunk = buffer.subarray(0, Math.min(room, range.length - done))
      const position = range.offset + done
      done += chunk.length
      return whenReady(fill(file, [chunk], position), () => unpackM2ts(chunk))
    },
  }
}

function readScattered(
  file: OpenFile,
  pass: Extract<Pass, { kind: 'scatter' }>,
  buffers: BufferLease,
): ChunkSource {
  const cursor = new ScatterCursor(pass.main, pass.late)
  const { main, discard } = buffers
  const late = buffers.extra(pass.lateBytes)
  let lateFilled = 0
  let isOver = false
  const next = (maxBytes = main.length): Chunk | Promise<Chunk> => {
    if (isOver) return undefined
    const room = { main: main.subarray(0, maxBytes), late: late.subarray(lateFilled), discard }
    const read = cursor.next(room)
    if (read === undefined) {
      isOver = true
      return lateFilled > 0 ? late : undefined
    }
    lateFilled += read.lateBytes
    return whenReady(fill(file, read.buffers, read.position), () =>
      read.mainBytes > 0 ? main.subarray(0, read.mainBytes) : next(maxBytes),
    )
  }
  const send = (socket: number, maxBytes: number): number | undefined => {
    const ahead = cursor.alone
    if (ahead === undefined || ahead.length < MIN_SENT_BYTES) return undefined
    const length = Math.min(ahead.length, maxBytes)
    const sent = file.sendCached?.(ahead.offset, length, socket)
    cursor.skip(sent ?? 0)
    return sent
  }
  return { next, send }
}

/** Fills all buffers: at once where the system has the bytes in memory. @throws AppError `failed` */
function fill(
  file: OpenFile,
  buffers: readonly Uint8Array[],
  position: number,
): undefined | Promise<undefined> {
  const wanted = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  const count = file.readCached?.(buffers, position) ?? 0
  if (count === wanted) return undefined
  return readRest(file, dropBytes(buffers, count), position + count)
}

async function readRest(
  file: OpenFile,
  buffers: readonly Uint8Array[],
  position: number,
): Promise<undefined> {
  let rest = buffers
  let at = position
  while (rest.length > 0) {
    const [only] = rest
    const count =
      rest.length === 1 && only !== undefined
        ? await file.read(only, at)
        : await file.readv(rest, at)
    if (count === 0) throw new AppError('failed', 'the recording is shorter than it was')
    at += count
    rest = dropBytes(rest, count)
  }
  return undefined
}

function dropBytes(buffers: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  if (count === 0) return buffers
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
