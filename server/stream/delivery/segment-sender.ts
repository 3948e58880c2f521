// Sends bytes of a segment: reads them from the recording and encrypts them, or uses the cache.
import type { FastifyReply } from 'fastify'
import type { Gate } from '../../base/admission/gate.ts'
import { MIN_RESPONSE_BYTES } from '../../base/admission/limits.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { BufferLease, BufferPool } from './buffer-pool.ts'
import type { ChunkSource } from './chunk-source.ts'
import { encryptChunks, windowChunks } from './chunk-transforms.ts'
import type { EncryptBlocks } from './block-cipher.ts'
import { encryptedBytes, SegmentCipher } from './encryption.ts'
import { readBody } from './read-body.ts'
import { sliceBody } from './segment-body.ts'
import type { ByteWindow, SegmentBody } from './segment-body.ts'
import type { SegmentCache, SegmentLease } from './segment-cache.ts'
import { sendBody } from './send-body.ts'

/** A segment, ready to be sent. */
export interface Segment {
  /** Identifies its bytes. */
  etag: string
  contentType: string
  body: SegmentBody
  /** The recording, open: the body's ranges are positions in it. */
  file: OpenFile
  /** Whether it contains transcoded audio. */
  isTranscoded?: boolean
  /** Undefined for a segment that is sent in the clear. */
  encryption: Encryption | undefined
  /** Rejects with `failed` if the bytes that were read may belong to another recording. */
  checkUnchanged(this: void): Promise<void>
}

/** `none`: the segment is clear, or there is no cache. */
export type CacheUse = 'hit' | 'miss' | 'none'

/** Part of a segment, for one request. */
export interface Sending extends ByteWindow {
  /** Called before the first byte. */
  onSource?: (cache: CacheUse) => void
  /** Aborted when the request is abandoned. */
  signal: AbortSignal
}

interface ReadSending extends Pick<Segment, 'checkUnchanged'> {
  sizeBytes: number
  /** Aborted when the request is abandoned. */
  signal: AbortSignal
}

interface Encryption {
  key: Buffer
  iv: Buffer
}

/** Size of the whole segment as it is sent. */
export function sentBytes({ body, encryption }: Segment): number {
  return encryption === undefined ? body.sizeBytes : encryptedBytes(body.sizeBytes)
}

export class SegmentSender {
  readonly #buffers = new BufferPool()
  readonly #gate: Gate
  readonly #encrypt: EncryptBlocks
  readonly #cache: SegmentCache | undefined

  /**
   * @param gate admits the bytes in memory
   * @param cache without one, each response encrypts its own bytes
   */
  constructor(gate: Gate, encrypt: EncryptBlocks, cache?: SegmentCache) {
    this.#gate = gate
    this.#encrypt = encrypt
    this.#cache = cache
  }

  /** Buffer memory of responses that are being sent. */
  get bytesInFlight(): number {
    return this.#buffers.usedBytes
  }

  /**
   * Sends the reply's status and headers, then the bytes of the window. Once this
   * settles, the file is no longer read. Throws an error that occurs before the first byte, and
   * AppError `busy` if too many segments are being sent.
   */
  async send(
    reply: FastifyReply,
    segment: Segment,
    { signal, onSource, ...window }: Sending,
  ): Promise<void> {
    const release = await this.#gate.enter(signal, MIN_RESPONSE_BYTES)
    const buffers = new BufferLease(this.#buffers, this.#gate)
    try {
      const cached = this.#cache && this.#lease(this.#cache, segment, buffers)
      const isCacheable = this.#cache !== undefined && segment.encryption !== undefined
      onSource?.(isCacheable ? (cached?.isHit ? 'hit' : 'miss') : 'none')
      if (cached === undefined) await sendBody(reply, this.#chunks(segment, window, buffers))
      else await sendCached(reply, cached, window)
    } finally {
      buffers.release()
      release()
    }
  }

  /**
   * As `send`, for clear bytes that are read segment by segment.
   *
   * @param read its chunks are valid until the next one is requested; gets the source of buffers
   */
  async sendRead(
    reply: FastifyReply,
    read: (lease: () => BufferLease) => AsyncGenerator<Uint8Array, void>,
    { sizeBytes, signal, checkUnchanged }: ReadSending,
  ): Promise<void> {
    const release = await this.#gate.enter(signal, MIN_RESPONSE_BYTES)
    const chunks = read(() => new BufferLease(this.#buffers, this.#gate))
    const source = { next: async () => (await chunks.next()).value ?? undefined }
    try {
      await sendBody(reply, windowChunks(source, { start: 0, end: sizeBytes }, checkUnchanged))
    } finally {
      await chunks.return()
      release()
    }
  }

  /** Clear segments are not cached: the system's page cache serves them as fast. */
  #lease(cache: SegmentCache, segment: Segment, buffers: BufferLease): SegmentLease | undefined {
    const { etag, body, encryption, checkUnchanged } = segment
    if (encryption === undefined) return undefined
    // Sessions with equal recordings have equal ETags, but different keys.
    const key = `${encryption.key.toString('base64')} ${etag}`
    return cache.lease({ key, sizeBytes: encryptedBytes(body.sizeBytes) }, () => ({
      chunks: this.#encrypted(segment, encryption, buffers),
      checkUnchanged,
    }))
  }

  #chunks(segment: Segment, { start, end }: ByteWindow, buffers: BufferLease): ChunkSource {
    const { file, body, encryption, checkUnchanged } = segment
    // Without this check, caches could store a mix of two recordings under one URL.
    if (encryption !== undefined) {
      // CBC chains blocks, so encryption always starts at the first byte of the segment.
      const encrypted = this.#encrypted(segment, encryption, buffers)
      return windowChunks(encrypted, { start, end }, checkUnchanged)
    }
    const slice = sliceBody(body, { start, end })
    const window = { start: slice.skipBytes, end: slice.skipBytes + end - start }
    return windowChunks(readBody(file, slice.body, buffers), window, checkUnchanged)
  }

  #encrypted({ file, body }: Segment, encryption: Encryption, buffers: BufferLease): ChunkSource {
    const cipher = new SegmentCipher(encryption, this.#encrypt)
    return encryptChunks(readBody(file, body, buffers), cipher, buffers)
  }
}

async function sendCached(reply: FastifyReply, cached: SegmentLease, window: ByteWindow) {
  try {
    await sendBody(reply, cached.read(window))
  } finally {
    await cached.release()
  }
}
