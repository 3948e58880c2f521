// The response to a segment request: its status, headers and byte range.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendHead } from '../../stream/delivery/send-body.ts'
import { sentBytes } from '../../stream/delivery/segment-sender.ts'
import type { Segment, SegmentSender } from '../../stream/delivery/segment-sender.ts'
import { planByteResponse } from './responses/byte-response.ts'
import type { ByteResponse } from './responses/byte-response.ts'
import { setServerTiming } from './responses/server-timing.ts'

export const IMMUTABLE = 'public, max-age=31536000, immutable'

export interface SegmentResponse {
  segment: Segment
  sender: SegmentSender
  /** Aborted when the request is abandoned. */
  signal: AbortSignal
  /** Headers of every response: those sent by `sender` bypass Fastify's hooks. */
  headers: Readonly<Record<string, string>>
}

/** Once this settles, the segment's file is no longer read. */
export function sendSegment(
  request: FastifyRequest,
  reply: FastifyReply,
  { segment, sender, headers, signal }: SegmentResponse,
): FastifyReply | Promise<unknown> {
  const { etag, contentType } = segment
  const sizeBytes = sentBytes(segment)
  const response = planByteResponse(request.headers, { sizeBytes, etag })
  void reply.headers({ etag, 'cache-control': IMMUTABLE, 'accept-ranges': 'bytes' })
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
        ...headers,
        'content-type': contentType,
        ...rangeHeaders(response, sizeBytes),
      })
      setServerTiming(request, reply)
      if (request.method === 'HEAD') return sendHead(reply)
      return sender.send(reply, segment, {
        start: response.start,
        end: response.end,
        signal,
        onSource: (cache) => {
          request.served = { transcoded: segment.isTranscoded ?? false, cache }
        },
      })
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
