// Reads a segment's bytes from the recording, chunk by chunk.
import { AppError } from '../../base/errors.ts'
import type { RangePart } from '../../media/media-reader.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { BufferPool, BufferLease } from './buffer-pool.ts'
import { eachChunk, whenReady } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { planPasses, readRuns, ScatterCursor } from './read-plan.ts'
import type { Pass } from './read-plan.ts'
import { M2TS_PACKET_BYTES, sliceBody, unpackM2ts } from './segment-body.ts'
import type { SegmentBody } from './segment-body.ts'

/** For fewer bytes than this, read and write are faster than sendfile. */
export const MIN_SENDFILE_BYTES = 64 * 1024

/**
 * The body's bytes in order. The caller releases the buffers after the last chunk is sent. `next`
 * throws AppError `failed` if the recording is shorter than its index states.
 */
export function readBody(file: OpenFile, body: SegmentBody, buffers: BufferLease): ChunkSource {
  const passes = planPasses(body.parts)
  return new JoinedChunks(passes.map((pass) => () => readPass(file, pass, buffers)))
}

/** All bytes of a body, in one buffer. */
export async function readWholeBody(file: OpenFile, body: SegmentBody): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(body.sizeBytes)
  const buffers = new BufferLease(new BufferPool())
  let filled = 0
  for await (const chunk of eachChunk(readBody(file, body, buffers))) {
    bytes.set(chunk, filled)
    filled += chunk.length
  }
  return bytes
}

/** The first `maxBytes` of a body, or all if it is shorter. */
export async function readBodyHead(
  file: OpenFile,
  body: SegmentBody,
  maxBytes: number,
): Promise<Uint8Array> {
  const head = sliceBody(body, { start: 0, end: Math.min(body.sizeBytes, maxBytes) })
  return (await readWholeBody(file, head.body)).subarray(0, maxBytes)
}

/** Concatenates chunks and sources; each source is created when its turn comes. */
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
      file.willReadInOrder?.(pass.range.offset, pass.range.length)
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
  const announce = createAnnouncer(file, pass)
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
    announce?.(read.position)
    return whenReady(fill(file, read.buffers, read.position), () =>
      read.mainBytes > 0 ? main.subarray(0, read.mainBytes) : next(maxBytes),
    )
  }
  const send = (socket: number, maxBytes: number): number | undefined => {
    const range = cursor.contiguous
    if (range === undefined || range.length < MIN_SENDFILE_BYTES) return undefined
    const length = Math.min(range.length, maxBytes)
    const sent = file.sendCached?.(range.offset, length, socket)
    cursor.skip(sent ?? 0)
    return sent
  }
  return { next, send }
}

/** Announces each run of bytes when its first read begins. Undefined if the file ignores it. */
function createAnnouncer(
  file: OpenFile,
  { main, late }: Extract<Pass, { kind: 'scatter' }>,
): ((position: number) => void) | undefined {
  if (file.willReadInOrder === undefined) return undefined
  const runs = readRuns([...main, ...late])
  return (position) => {
    const [run] = runs
    if (run === undefined || position < run.offset) return
    runs.shift()
    file.willReadInOrder?.(run.offset, run.length)
  }
}

/** Fills all buffers, synchronously if the page cache has the bytes. @throws AppError `failed` */
function fill(
  file: OpenFile,
  buffers: readonly Uint8Array[],
  position: number,
): undefined | Promise<undefined> {
  const sizeBytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
  const count = file.readCached?.(buffers, position) ?? 0
  if (count === sizeBytes) return undefined
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
