// Paces the chunks of a body by the egress budgets: each grant of bytes is awaited before they are
// read.
import type { FastifyReply } from 'fastify'
import { networkOf } from '../../base/admission/client.ts'
import type { EgressRequest, Pacing } from '../../base/admission/egress.ts'
import { PROBE_BYTES } from './chunk-source.ts'
import type { Chunk, ChunkSource } from './chunk-source.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Undefined without budgets. */
    pacing: Pacing | undefined
  }
}

/** The chunks of the reply's body. The first may be rejected with AppError `busy`. */
export function paceReply(
  reply: FastifyReply,
  { egress, grantBytes }: Pacing,
  chunks: ChunkSource,
): ChunkSource {
  const client = networkOf(reply.request.ip)
  const disconnected = new AbortController()
  reply.raw.once('close', () => disconnected.abort(new Error('the client has disconnected')))
  const length = reply.getHeader('content-length')
  let ungrantedBytes = length === undefined ? Infinity : Number(length)
  let part: EgressRequest['part'] = 'start'
  return paceChunks(chunks, async () => {
    // Only the end of the body is left.
    if (ungrantedBytes === 0) return Infinity
    const bytes = Math.min(ungrantedBytes, grantBytes)
    await egress.admit({ client, bytes, part }, disconnected.signal)
    ungrantedBytes -= bytes
    part = 'rest'
    return bytes
  })
}

/** @param grant resolves with the number of bytes that may be sent next */
export function paceChunks(chunks: ChunkSource, grant: () => Promise<number>): ChunkSource {
  let grantedBytes = 0
  /** Of a chunk that is larger than a grant. */
  let rest: Chunk
  const next = async (maxBytes = Infinity): Promise<Chunk> => {
    let limit = maxBytes
    if (grantedBytes === 0) {
      grantedBytes = await grant()
      // After it, the rest of the grant can be sent without a copy.
      if (chunks.send !== undefined) limit = Math.min(maxBytes, PROBE_BYTES)
    }
    const chunk = rest ?? (await chunks.next(Math.min(limit, grantedBytes)))
    if (chunk === undefined) return undefined
    const granted = chunk.subarray(0, grantedBytes)
    rest = granted.length < chunk.length ? chunk.subarray(grantedBytes) : undefined
    grantedBytes -= granted.length
    return granted
  }
  const send = (socket: number, maxBytes: number): number | undefined => {
    if (rest !== undefined || grantedBytes === 0) return undefined
    const sent = chunks.send?.(socket, Math.min(maxBytes, grantedBytes))
    grantedBytes -= sent ?? 0
    return sent
  }
  return chunks.send === undefined ? { next } : { next, send }
}
