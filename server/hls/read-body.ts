// Reads a segment's bytes from the recording, chunk by chunk, plain or encrypted.
import type { Cipheriv } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { RangePart } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import { BufferPool, LentBuffers } from './buffer-pool.ts'
import { eachChunk, whenReady } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { planPasses, ScatterCursor } from './read-plan.ts'
import type { Pass } from './read-plan.ts'
import { M2TS_PACKET_BYTES, sliceBody, unpackM2ts } from './segment-body.ts'
import type { SegmentBody } from './segment-body.ts'

/**
 * The body's bytes in order. The buffers are given back by the caller, when the last chunk was sent. Asking for a chunk
 * throws AppError `failed` where the recording is shorter than its index says.
 */
export function readBody(file: OpenFile, body: SegmentBody, buffers: LentBuffers): ChunkSource {
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
  const lent = new LentBuffers(new BufferPool(), 'plain')
  const chunks: Uint8Array[] = []
  for await (const chunk of eachChunk(readBody(file, slice.body, lent))) {
    chunks.push(Uint8Array.from(chunk))
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

/**
 * Encrypts chunks on their way; the last one carries the padding. The memory of a chunk is freed as soon as the next is
 * asked for: left to the garbage collector, these megabytes would start one collection of the whole heap after another.
 */
export function encryptChunks(chunks: ChunkSource, cipher: Cipheriv): ChunkSource {
  let last: Chunk
  let isOver = false
  return {
    next() {
      if (last !== undefined) freeMemory(last)
      last = undefined
      if (isOver) return undefined
      return whenReady(chunks.next(), (chunk) => {
        isOver = chunk === undefined
        last = chunk === undefined ? cipher.final() : cipher.update(chunk)
        return last
      })
    },
  }
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
  const next = (): Chunk | Promise<Chunk> => {
    if (position >= end) return undefined
    return whenReady(chunks.next(), (chunk) => {
      if (chunk === undefined) return undefined
      const from = Math.max(start - position, 0)
      const to = Math.min(end - position, chunk.length)
      position += chunk.length
      if (from >= to) return next()
      const wanted = chunk.subarray(from, to)
      return position >= end && beforeEnd !== undefined ? beforeEnd().then(() => wanted) : wanted
    })
  }
  return { next }
}

/** One source behind the other; each is made when its turn comes. */
class JoinedChunks implements ChunkSource {
  readonly #sources: readonly (() => ChunkSource)[]
  #opened = 0
  #current: ChunkSource | undefined

  constructor(sources: readonly (() => ChunkSource)[]) {
    this.#sources = sources
  }

  next(): Chunk | Promise<Chunk> {
    const current = (this.#current ??= this.#sources[this.#opened++]?.())
    if (current === undefined) return undefined
    return whenReady(current.next(), (chunk) => {
      if (chunk !== undefined) return chunk
      this.#current = undefined
      return this.next()
    })
  }
}

function readPass(file: OpenFile, pass: Pass, buffers: LentBuffers): ChunkSource {
  switch (pass.kind) {
    case 'bytes':
      return ownBytes(pass.bytes)
    case 'packets':
      return readPackets(file, pass.range, buffers)
    case 'scatter':
      return readScattered(file, pass, buffers)
  }
}

function ownBytes(bytes: Uint8Array): ChunkSource {
  const left = [bytes]
  return { next: () => left.pop() }
}

function readPackets(file: OpenFile, range: RangePart, buffers: LentBuffers): ChunkSource {
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
  buffers: LentBuffers,
): ChunkSource {
  const cursor = new ScatterCursor(pass.main, pass.late)
  const { main, discard } = buffers
  const late = buffers.extra(pass.lateBytes)
  let lateFilled = 0
  let isOver = false
  const next = (): Chunk | Promise<Chunk> => {
    if (isOver) return undefined
    const read = cursor.next({ main, late: late.subarray(lateFilled), discard })
    if (read === undefined) {
      isOver = true
      return lateFilled > 0 ? late : undefined
    }
    lateFilled += read.lateBytes
    return whenReady(fill(file, read.buffers, read.position), () =>
      read.mainBytes > 0 ? main.subarray(0, read.mainBytes) : next(),
    )
  }
  return { next }
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
