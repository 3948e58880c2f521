// Limits the streams that hold a connection, so that slow clients cannot take all of them.
import { LRUCache } from 'lru-cache'
import type { ObjectStream } from './object-stream.ts'

/** Fewer than the connections to the store: the rest is for HEAD, lists and other reads. */
const MAX_STREAMS = 200

export class OpenStreams {
  /** Least recently read first. */
  readonly #streams: LRUCache<ObjectStream, true>

  constructor(max = MAX_STREAMS) {
    this.#streams = new LRUCache({ max, dispose: (_, stream) => stream.suspend() })
  }

  /** Before each read. Suspends the stream that was not read for the longest time, if too many. */
  use(stream: ObjectStream): void {
    this.#streams.set(stream, true)
  }

  remove(stream: ObjectStream): void {
    this.#streams.delete(stream)
  }
}
