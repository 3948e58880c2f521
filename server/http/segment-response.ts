// Answers one media segment: headers, byte ranges, encryption on the way.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BufferLease } from '../delivery/buffer-pool.ts'
import type { BufferPool } from '../delivery/buffer-pool.ts'
import type { ChunkSource } from '../delivery/chunk-source.ts'
import { createSegmentCipher, encryptedBytes } from '../delivery/encryption.ts'
import type { Segment } from '../hls/session/playable-session.ts'
import { encryptChunks, readBody, windowChunks } from '../delivery/read-body.ts'
import type { SegmentCache, SegmentLease } from '../delivery/segment-cache.ts'
import { sliceBody } from '../delivery/segment-body.ts'
import { planByteResponse } from './byte-response.ts'
import type { ByteResponse } from './byte-response.ts'
import { sendBody, sendHead } from '../delivery/send-body.ts'

export const IMMUTABLE = 'public, max-age=31536000, immutable'

/** What segments are sent with. */
export interface SegmentSending {
  buffers: BufferPool
  /** Undefined: every response encrypts for itself. */
  cache: SegmentCache | undefined
  /** Of every answer: what is sent past the framework has them from here. */
  headers: Readonly<Record<string, string>>
}

export interface SegmentRequest extends SegmentSending {
  segment: Segment
}

/** Answers the segment; nothing reads its file any more when this settles. */
export async function sendSegment(
  request: FastifyRequest,
  reply: FastifyReply,
  { segment, buffers, cache, headers }: SegmentRequest,
): Promise<FastifyReply> {
  const { body, etag, contentType, encryption } = segment
  const lent = new BufferLease(buffers)
  try {
    const sizeBytes = encryption === undefined ? body.sizeBytes : encryptedBytes(body.sizeBytes)
    const answer = planByteResponse(request.headers, { sizeBytes, etag })
    void reply.headers({ etag, 'cache-control': IMMUTABLE, 'accept-ranges': 'bytes' })
    if (answer.kind !== 'bytes') return await sendWithoutBody(reply, answer.kind, sizeBytes)
    void reply.code(answer.status).headers({
      ...headers,
      'content-type': contentType,
      ...rangeHeaders(answer, sizeBytes),
    })
    if (request.method === 'HEAD') return sendHead(reply)
    const held = cache && leaseSegment(cache, segment, lent)
    if (held === undefined) await sendBody(reply, segmentChunks(segment, answer, lent))
    else await sendCached(reply, held, answer)
    return reply
  } finally {
    lent.release()
  }
}

async function sendWithoutBody(
  reply: FastifyReply,
  kind: 'not-modified' | 'unsatisfiable',
  sizeBytes: number,
): Promise<FastifyReply> {
  if (kind === 'not-modified') return reply.code(304).send()
  return reply
    .code(416)
    .headers({ 'content-range': `bytes */${sizeBytes}`, 'cache-control': 'no-store' })
    .send()
}

type Encryption = NonNullable<Segment['encryption']>
type Bytes = Extract<ByteResponse, { kind: 'bytes' }>

function rangeHeaders(
  { status, start, end }: Bytes,
  sizeBytes: number,
): Record<string, string | number> {
  const length = { 'content-length': end - start }
  if (status === 200) return length
  return { ...length, 'content-range': `bytes ${start}-${end - 1}/${sizeBytes}` }
}

/** What is sent in the clear is never held: the system's own memory of files serves it as well. */
function leaseSegment(
  cache: SegmentCache,
  segment: Segment,
  lent: BufferLease,
): SegmentLease | undefined {
  const { etag, body, encryption, checkUnchanged } = segment
  if (encryption === undefined) return undefined
  // Sessions with the same bytes share the ETag, not the key.
  const key = `${encryption.key.toString('base64')} ${etag}`
  const sizeBytes = encryptedBytes(body.sizeBytes)
  return cache.hold({ key, sizeBytes }, () => ({
    chunks: encryptedChunks(segment, encryption, lent),
    checkUnchanged,
  }))
}

async function sendCached(reply: FastifyReply, held: SegmentLease, { start, end }: Bytes) {
  try {
    await sendBody(reply, held.read({ start, end }))
  } finally {
    await held.release()
  }
}

/** The asked bytes. Encryption chains from the segment's first byte on, so that it always begins there. */
function segmentChunks(segment: Segment, { start, end }: Bytes, lent: BufferLease): ChunkSource {
  const { file, body, encryption, checkUnchanged } = segment
  // Bytes of two recordings under one URL would be kept for good by every cache on the way.
  if (encryption !== undefined) {
    const encrypted = encryptedChunks(segment, encryption, lent)
    return windowChunks(encrypted, { start, end }, checkUnchanged)
  }
  const slice = sliceBody(body, { start, end })
  const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
  return windowChunks(readBody(file, slice.body, lent), window, checkUnchanged)
}

function encryptedChunks(
  { file, body }: Segment,
  encryption: Encryption,
  lent: BufferLease,
): ChunkSource {
  return encryptChunks(readBody(file, body, lent), createSegmentCipher(encryption), lent)
}
