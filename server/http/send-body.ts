// Sends a segment chunk by chunk, and cuts off a client that stands still.
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Longest wait for a client to take one chunk. */
const STALLED_MS = 60_000

/**
 * Sends the chunks behind the reply's status and headers, and settles when it is over, also where the client left; then
 * nothing reads or sends any more. An error before the first byte is thrown, so that it can be answered; a later one
 * ends the connection, for what was announced can no longer be kept.
 */
export async function sendBody(
  reply: FastifyReply,
  chunks: AsyncGenerator<Uint8Array, void>,
): Promise<void> {
  try {
    const first = await chunks.next()
    const response = writeHead(reply)
    await pump(response, first, chunks).catch((error: unknown) => {
      reply.log.info({ err: error }, 'a segment was not sent to its end')
      response.destroy()
    })
  } finally {
    await chunks.return()
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
 */
async function pump(
  response: ServerResponse,
  first: IteratorResult<Uint8Array, void>,
  chunks: AsyncGenerator<Uint8Array, void>,
): Promise<void> {
  let current = first
  while (current.done !== true) {
    await write(response, current.value)
    current = await chunks.next()
  }
  response.end()
}

/** Settles when the chunk has left our memory. */
async function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      clearTimeout(timer)
      response.off('close', onClose)
      if (error === undefined || error === null) resolve()
      else reject(error)
    }
    const onClose = (): void => settle(new Error('the client left'))
    const timer = setTimeout(() => settle(new Error('the client stood still')), STALLED_MS)
    response.once('close', onClose)
    response.write(chunk, settle)
  })
}
