// Opens streams, and limits those that hold a connection, so that slow clients cannot take all.
import { LRUCache } from 'lru-cache'
import type { Bucket, ByteRange, PinnedObject } from './bucket.ts'
import { ObjectStream } from './object-stream.ts'

export interface StreamLimits {
  /** Streams that hold a connection; the rest of the connections is for other calls. */
  max: number
  /** Longest wait for the next bytes of a response. */
  stalledMs: number
}

const LIMITS: StreamLimits = { max: 200, stalledMs: 10_000 }

export class OpenStreams {
  readonly #bucket: Bucket
  readonly #stalledMs: number
  /** Least recently read first. */
  readonly #streams: LRUCache<ObjectStream, true>

  constructor(bucket: Bucket, { max, stalledMs } = LIMITS) {
    this.#bucket = bucket
    this.#stalledMs = stalledMs
    this.#streams = new LRUCache({
      max,
      dispose(_, stream, reason) {
        if (reason === 'evict') stream.suspend()
      },
    })
  }

  /** A stream that nothing limits: the caller reads all of it at once. */
  open(object: PinnedObject, range: ByteRange): ObjectStream {
    return new ObjectStream({ bucket: this.#bucket, object, range, stalledMs: this.#stalledMs })
  }

  /** Before each read of a stream that a client paces. May suspend the one unread for longest. */
  use(stream: ObjectStream): void {
    this.#streams.set(stream, true)
  }

  close(stream: ObjectStream): void {
    this.#streams.delete(stream)
    stream.close()
  }
}
