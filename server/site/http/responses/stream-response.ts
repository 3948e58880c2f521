// The response with bytes that are read while they are sent: its status, headers and byte range.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendHead } from '../../../stream/delivery/send-body.ts'
import type { StreamBody } from './answer.ts'
import { planByteResponse } from './byte-response.ts'
import type { ByteResponse } from './byte-response.ts'
import { setServerTiming } from './server-timing.ts'
import type { TextHead } from './text-response.ts'

/** Once this settles, nothing reads the bytes any more. */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, head }: { body: StreamBody; head: TextHead },
): FastifyReply | Promise<unknown> {
  const { etag, sizeBytes } = body
  const response = planByteResponse(request.headers, { sizeBytes, etag })
  void reply.headers({ etag, 'cache-control': head.cacheControl, 'accept-ranges': 'bytes' })
  switch (response.kind) {
    case 'not-modified':
      return reply.code(304).send()
    case 'unsatisfiable':
      return reply
        .code(416)
        .headers({ 'content-range': `bytes */${sizeBytes}`, 'cache-control': 'no-store' })
        .send()
    case 'bytes':
      void reply.code(response.status).headers({
        ...head.headers,
        'content-type': head.contentType,
        ...rangeHeaders(response, sizeBytes),
      })
      setServerTiming(request, reply)
      return request.method === 'HEAD' ? sendHead(reply) : body.send(reply, response)
  }
}

function rangeHeaders(
  { status, start, end }: Extract<ByteResponse, { kind: 'bytes' }>,
  sizeBytes: number,
): Record<string, string | number> {
  const length = { 'content-length': end - start }
  if (status === 200) return length
  return { ...length, 'content-range': `bytes ${start}-${end - 1}/${sizeBytes}` }
}
