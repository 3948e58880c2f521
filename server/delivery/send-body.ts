// Sends a segment chunk by chunk, and cuts off a client that stands still.
import type { ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { FastifyReply } from 'fastify'
import type { Chunk, ChunkSource } from './chunk-source.ts'

/** Longest wait for a client to take any byte. */
const STALLED_MS = 60_000
/** What one response may send in one go, while all others wait: half a millisecond. */
const MAX_TURN_BYTES = 1024 * 1024
/** A chunk that is written for its wait alone. */
const WAITING_BYTES = 16 * 1024

/**
 * Sends the chunks behind the reply's status and headers, and settles when it is over, also where the client left; then
 * nothing reads or sends any more. An error before the first byte is thrown, so that it can be answered; a later one
 * ends the connection, for what was announced can no longer be kept.
 */
export async function sendBody(
  reply: FastifyReply,
  chunks: ChunkSource,
  stalledMs = STALLED_MS,
): Promise<void> {
  // What can be sent from the file is not to be read before.
  const first = await chunks.next(chunks.send && WAITING_BYTES)
  const response = writeHead(reply)
  response.setTimeout(stalledMs, () => response.destroy(new Error('the client stood still')))
  try {
    await new BodySender(response, chunks).send(first)
  } catch (error) {
    reply.log.info({ err: error }, 'a segment was not sent to its end')
    response.destroy()
  }
}

/** Answers HEAD: the headers of the body, with its true length. */
export function sendHead(reply: FastifyReply): FastifyReply {
  writeHead(reply).end()
  return reply
}

function writeHead(reply: FastifyReply): ServerResponse {
  reply.hijack()
  const response = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value)
  }
  return response.writeHead(reply.statusCode)
}

/**
 * Reads a chunk only when the one before has left: it goes through the processor's cache then, while a chunk read ahead
 * has left the cache again before its turn. The socket's own buffer keeps the client busy meanwhile.
 *
 * Bytes that can go from the file to the socket do so between two chunks. Nothing tells us when a full socket takes bytes
 * again but a write that waits for that: so a small chunk is written whenever it is full.
 */
class BodySender {
  readonly #response: ServerResponse
  readonly #chunks: ChunkSource
  #turnBytes = 0
  /** A read under way, whose buffer is nobody else's until it is over. */
  #reading: Promise<unknown> | undefined
  #settle: (() => void) | undefined
  #error: unknown

  constructor(response: ServerResponse, chunks: ChunkSource) {
    this.#response = response
    this.#chunks = chunks
  }

  /** Settles when the last chunk has left our memory; rejects where one could not be read or sent. */
  async send(first: Chunk): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve
      this.#response.once('close', this.#onClose)
      this.#write(first)
    })
    await this.#reading
    if (this.#error !== undefined) throw this.#error
  }

  readonly #onClose = (): void => this.#fail(new Error('the client left'))

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
    if (error !== undefined && error !== null) this.#fail(error)
    else this.#goOn()
  }

  readonly #goOn = (): void => {
    if (this.#settle === undefined) return
    if (this.#turnBytes >= MAX_TURN_BYTES) {
      this.#turnBytes = 0
      setImmediate(this.#goOn)
      return
    }
    try {
      const sent = this.#sendFromFile()
      if (sent === undefined) this.#readNext()
      else if (sent === 0) this.#readNext(WAITING_BYTES)
      else this.#goOn()
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
    return sent
  }

  #readNext(maxBytes?: number): void {
    const chunk = this.#chunks.next(maxBytes)
    if (chunk instanceof Promise) this.#reading = chunk.then(this.#write).catch(this.#fail)
    else this.#write(chunk)
  }
}

/** Undefined where the bytes do not leave as they are (TLS), or by no socket that the system knows. */
function socketDescriptor({ socket }: ServerResponse): number | undefined {
  if (socket === null || socket instanceof TLSSocket || socket.writableLength > 0) return undefined
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null) return undefined
  const descriptor: unknown = Reflect.get(handle, 'fd')
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined
}
