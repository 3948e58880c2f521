// Writes the chunks of a body to a client, and disconnects one that has stalled.
import type { ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { FastifyReply } from 'fastify'
import { PROBE_BYTES } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'
import { paceReply } from './pace-chunks.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** When `sendBody` sent the head (monotonic clock); undefined before. */
    firstByteAtMs: number | undefined
    /** Bytes of the body that went from a file to the socket, which does not count them. */
    fileBytes: number | undefined
  }
}

/**
 * Longest wait for a client to accept a chunk, even if it accepts some bytes: 1.3 kB/s. One that
 * accepts none is disconnected sooner, by the time limit of its connection.
 */
const MAX_CHUNK_MS = 300_000
/** Bytes that one response sends before others get a turn: half a millisecond. */
const MAX_TURN_BYTES = 1024 * 1024

/**
 * Sends the reply's status, its headers and the chunks. Settles when nothing reads or sends any
 * more, also if the client has disconnected. Throws an error that occurs before the first byte, so
 * that it gets a response; a later one closes the connection, because Content-Length is sent.
 */
export async function sendBody(
  reply: FastifyReply,
  body: ChunkSource,
  maxChunkMs = MAX_CHUNK_MS,
): Promise<void> {
  const { pacing } = reply
  const chunks = pacing === undefined ? body : paceReply(reply, pacing, body)
  // A source that can send from its file is only probed, so that little is copied.
  const first = await chunks.next(chunks.send && PROBE_BYTES)
  const response = writeHead(reply)
  const sender = new BodySender(reply, chunks)
  const timer = setTimeout(() => response.destroy(new Error('the client is too slow')), maxChunkMs)
  try {
    await sender.send(first, () => timer.refresh())
  } catch (error) {
    reply.log.debug({ err: error }, 'a response was sent incompletely')
    response.destroy()
  } finally {
    clearTimeout(timer)
  }
}

/** Responds to HEAD: the headers of the body, with its Content-Length. */
export function sendHead(reply: FastifyReply): FastifyReply {
  writeHead(reply).end()
  return reply
}

function writeHead(reply: FastifyReply): ServerResponse {
  reply.firstByteAtMs = performance.now()
  reply.hijack()
  const response = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value)
  }
  return response.writeHead(reply.statusCode)
}

/**
 * Reads a chunk only after the previous one was written, so that its bytes are still in the CPU
 * cache when they are sent; a prefetched chunk would already be evicted. Meanwhile the socket's own
 * buffer supplies the client.
 *
 * Between two chunks, bytes go from the file to the socket without a copy. Only a pending write
 * notifies that a full socket is writable again, so then a small chunk is written.
 */
class BodySender {
  readonly #reply: FastifyReply
  readonly #response: ServerResponse
  readonly #chunks: ChunkSource
  #fileBytes = 0
  #turnBytes = 0
  /** The pending read, which uses the leased buffers until it settles. */
  #reading: Promise<unknown> | undefined
  #settle: (() => void) | undefined
  #onProgress: (() => void) | undefined
  #error: unknown

  constructor(reply: FastifyReply, chunks: ChunkSource) {
    this.#reply = reply
    this.#response = reply.raw
    this.#chunks = chunks
  }

  /**
   * Resolves when the last chunk was written; rejects if one could not be read or written. Calls
   * `onProgress` for each chunk that the client has accepted.
   */
  async send(first: Chunk, onProgress: () => void): Promise<void> {
    this.#onProgress = onProgress
    await new Promise<void>((resolve) => {
      this.#settle = resolve
      this.#response.once('close', this.#onClose)
      this.#write(first)
    })
    await this.#reading
    if (this.#error !== undefined) throw this.#error
  }

  readonly #onClose = (): void => this.#fail(new Error('the client has disconnected'))

  readonly #fail = (error: unknown): void => {
    if (this.#settle === undefined) return
    this.#error = error
    this.#finish()
  }

  #finish(): void {
    this.#response.off('close', this.#onClose)
    this.#settle?.()
    this.#settle = undefined
  }

  readonly #write = (chunk: Chunk): void => {
    if (this.#settle === undefined) return
    if (chunk === undefined) {
      this.#response.end()
      this.#finish()
      return
    }
    this.#turnBytes += chunk.length
    this.#response.write(chunk, this.#onWritten)
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error !== undefined && error !== null) return this.#fail(error)
    this.#onProgress?.()
    this.#continue()
  }

  readonly #continue = (): void => {
    if (this.#settle === undefined) return
    if (this.#turnBytes >= MAX_TURN_BYTES) {
      this.#turnBytes = 0
      setImmediate(this.#continue)
      return
    }
    try {
      const sent = this.#sendFromFile()
      if (sent === undefined) this.#readNext()
      else if (sent === 0) this.#readNext(PROBE_BYTES)
      else this.#continue()
    } catch (error) {
      this.#fail(error)
    }
  }

  #sendFromFile(): number | undefined {
    if (this.#chunks.send === undefined) return undefined
    const socket = socketDescriptor(this.#response)
    if (socket === undefined) return undefined
    const sent = this.#chunks.send(socket, MAX_TURN_BYTES - this.#turnBytes)
    this.#turnBytes += sent ?? 0
    this.#fileBytes += sent ?? 0
    this.#reply.fileBytes = this.#fileBytes
    return sent
  }

  #readNext(maxBytes?: number): void {
    const chunk = this.#chunks.next(maxBytes)
    if (chunk instanceof Promise) this.#reading = chunk.then(this.#write).catch(this.#fail)
    else this.#write(chunk)
  }
}

/** Undefined if the socket transforms the bytes (TLS), has no descriptor, or has queued bytes. */
function socketDescriptor({ socket }: ServerResponse): number | undefined {
  if (socket === null || socket instanceof TLSSocket || socket.writableLength > 0) return undefined
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null) return undefined
  const descriptor: unknown = Reflect.get(handle, 'fd')
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined
}
