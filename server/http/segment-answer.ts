// Answers one media segment: headers, byte ranges, encryption on the way.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { LentBuffers } from '../hls/buffer-pool.ts'
import type { BufferPool } from '../hls/buffer-pool.ts'
import { createSegmentCipher, encryptedBytes } from '../hls/encryption.ts'
import type { OpenRecording } from '../hls/packager.ts'
import { encryptChunks, readBody, windowChunks } from '../hls/read-body.ts'
import { sliceBody } from '../hls/segment-body.ts'
import type { SegmentBody } from '../hls/segment-body.ts'
import type { OpenFile } from '../storage/storage.ts'
import { planByteAnswer } from './byte-answer.ts'
import type { ByteAnswer } from './byte-answer.ts'
import { sendBody, sendHead } from './send-body.ts'

export const IMMUTABLE = 'public, max-age=31536000, immutable'
export const SEGMENT_TYPES = { ts: 'video/mp2t', fmp4: 'video/mp4' } as const

export interface SegmentRequest {
  number: number
  recording: OpenRecording
  buffers: BufferPool
}

/** Answers the segment and closes the recording, whatever happens. */
export async function answerSegment(
  request: FastifyRequest,
  reply: FastifyReply,
  { number, recording, buffers }: SegmentRequest,
): Promise<FastifyReply> {
  const { file, presentation } = recording
  const lent = new LentBuffers(buffers, presentation.key === undefined ? 'plain' : 'encrypted')
  try {
    const body = await presentation.segment(number, file)
    if (body === undefined) throw new AppError('not_found', 'there is no such segment')
    const sizeBytes =
      presentation.key === undefined ? body.sizeBytes : encryptedBytes(body.sizeBytes)
    const etag = `"${presentation.urlVersion}-${number}"`
    const answer = planByteAnswer(request.headers, { sizeBytes, etag })
    void reply.headers({ etag, 'cache-control': IMMUTABLE, 'accept-ranges': 'bytes' })
    if (answer.kind !== 'bytes') return await answerWithoutBytes(reply, answer.kind, sizeBytes)
    void reply.code(answer.status).headers({
      'content-type': SEGMENT_TYPES[presentation.form],
      ...rangeHeaders(answer, sizeBytes),
    })
    if (request.method === 'HEAD') return sendHead(reply)
    const cipher = presentation.key && createSegmentCipher(presentation.key, number)
    await sendBody(reply, segmentChunks(file, body, { answer, cipher, lent }))
    return reply
  } finally {
    lent.giveBack()
    await file.close()
  }
}

async function answerWithoutBytes(
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

type Bytes = Extract<ByteAnswer, { kind: 'bytes' }>

function rangeHeaders(
  { status, start, end }: Bytes,
  sizeBytes: number,
): Record<string, string | number> {
  const length = { 'content-length': end - start }
  if (status === 200) return length
  return { ...length, 'content-range': `bytes ${start}-${end - 1}/${sizeBytes}` }
}

/** The asked bytes. Encryption chains from the segment's first byte on, so that it always begins there. */
function segmentChunks(
  file: OpenFile,
  body: SegmentBody,
  {
    answer: { start, end },
    cipher,
    lent,
  }: {
    answer: Bytes
    cipher: ReturnType<typeof createSegmentCipher> | undefined
    lent: LentBuffers
  },
): AsyncGenerator<Uint8Array, void> {
  // Bytes of two recordings under one URL would be kept for good by every cache on the way.
  const checkUnchanged = async (): Promise<void> => file.checkUnchanged()
  if (cipher !== undefined) {
    const encrypted = encryptChunks(readBody(file, body, lent), cipher)
    return windowChunks(encrypted, { start, end }, checkUnchanged)
  }
  const slice = sliceBody(body, { start, end })
  const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
  return windowChunks(readBody(file, slice.body, lent), window, checkUnchanged)
}
