// Sends what endpoints return: status, headers, ETag, compression, 304 and byte ranges.
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import { sliceChunks } from '../../../stream/delivery/chunk-source.ts'
import { sendBody, sendHead } from '../../../stream/delivery/send-body.ts'
import { cacheRules } from './answer.ts'
import type { Answer, BytesBody, ImageBody, TextBody } from './answer.ts'
import { ResponseCache } from './response-cache.ts'
import type { SecurityHeaders } from './security-headers.ts'
import { setServerTiming } from './server-timing.ts'
import { sendStream } from './stream-response.ts'
import { addVary, sendText } from './text-response.ts'
import type { TextHead, TextResponse } from './text-response.ts'

export class Responder {
  readonly #security: SecurityHeaders
  readonly #cache: ResponseCache

  constructor(security: SecurityHeaders, cache = new ResponseCache()) {
    this.#security = security
    this.#cache = cache
  }

  /** Settles when nothing reads the body any more. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
  ): FastifyReply | Promise<unknown> {
    if (answer.status !== undefined) void reply.code(answer.status)
    if (answer.release === undefined) return this.#send(request, reply, answer)
    return this.#sendAndRelease(request, reply, answer)
  }

  async #sendAndRelease(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
  ): Promise<unknown> {
    try {
      return await this.#send(request, reply, answer)
    } finally {
      await answer.release?.()
    }
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
  ): FastifyReply | Promise<unknown> {
    const { body } = answer
    switch (body.kind) {
      case 'text':
        return this.#sendText(request, reply, { answer, body })
      case 'bytes':
        return sendBytes(reply, body, this.#head(answer))
      case 'image':
        return sendImage(request, reply, { body, head: this.#head(answer) })
      case 'unchanged':
        return reply
          .code(304)
          .headers({ 'cache-control': cacheControlOf(answer), etag: body.etag })
          .send()
      case 'stream':
        return sendStream(request, reply, { body, head: this.#head(answer) })
    }
  }

  #sendText(
    request: FastifyRequest,
    reply: FastifyReply,
    { answer, body }: { answer: Answer; body: TextBody },
  ): FastifyReply | Promise<unknown> {
    const send = (response: TextResponse): FastifyReply | Promise<FastifyReply> => {
      const cacheControl = cacheControlOf(answer)
      if (response.cacheControl !== cacheControl) void reply.header('cache-control', cacheControl)
      return sendText(request, reply, response)
    }
    const response = this.#cache.find(body, () => this.#head(answer))
    return response instanceof Promise ? response.then(send) : send(response)
  }

  #head(answer: Answer): TextHead {
    const { type, security, tags } = answer
    return {
      contentType: type,
      cacheControl: cacheControlOf(answer),
      headers: { ...this.#security[security], ...tags?.() },
    }
  }
}

function cacheControlOf({ cache }: Answer): string {
  return cacheRules[typeof cache === 'string' ? cache : cache()]
}

function sendBytes(
  reply: FastifyReply,
  { bytes }: BytesBody,
  { contentType, cacheControl, headers }: TextHead,
): FastifyReply {
  return reply
    .headers({ 'content-type': contentType, 'cache-control': cacheControl, ...headers })
    .send(typeof bytes === 'string' ? bytes : Buffer.from(bytes))
}

async function sendImage(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, head }: { body: ImageBody; head: TextHead },
): Promise<unknown> {
  const { bytes, etag, vary } = body
  const { contentType, cacheControl, headers } = head
  void reply.headers({
    ...headers,
    'content-type': contentType,
    'cache-control': cacheControl,
    ...(etag !== undefined && { etag }),
    ...(vary !== undefined && { vary: addVary(reply.getHeader('vary'), vary) }),
  })
  if (etag !== undefined && fresh(request.headers, { etag })) return reply.code(304).send()
  void reply.header('content-length', bytes.length)
  setServerTiming(request, reply)
  if (request.method === 'HEAD') return sendHead(reply)
  await sendBody(reply, sliceChunks(bytes))
  return reply
}
