// A response to one GET, whose bytes are read in order.
import type { Readable } from 'node:stream'

/** The body of a response. */
export interface ObjectBody {
  /**
   * The next bytes, valid until the next call; undefined at the end, after which the connection is
   * used again. Rejects if the response ends early. One call at a time.
   */
  next(): Promise<Uint8Array | undefined>
  /** Closes the connection, unless the end was read. A pending `next` rejects. */
  destroy(): void
}

/** Headers that identify the bytes of a body, and the body. */
export interface ObjectResponse {
  status: number | undefined
  contentRange: string | undefined
  contentLength: number | undefined
  etag: string | undefined
  body: ObjectBody
}

/** The body of a response to the SDK. */
export function bodyOf(stream: Readable): ObjectBody {
  // Also while no read waits for it.
  stream.on('error', () => undefined)
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]()
  return {
    async next() {
      const { done, value } = await chunks.next()
      return done === true ? undefined : value
    },
    destroy: () => void stream.destroy(),
  }
}
