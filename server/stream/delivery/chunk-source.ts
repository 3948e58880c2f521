// A pull stream of bytes that returns synchronously whatever needs no wait.

/** Undefined after the last chunk. */
export type Chunk = Uint8Array | undefined

export interface ChunkSource {
  /**
   * The next chunk, never empty, valid until the next call. Calls must not overlap. A source that
   * can limit a chunk to `maxBytes` does so.
   */
  next(maxBytes?: number): Chunk | Promise<Chunk>
  /**
   * Sends up to `maxBytes` of the next bytes to a socket (a file descriptor) without a copy in user
   * space, once all bytes before them are sent. Returns the number of bytes that the socket has
   * accepted, 0 if it is full, and undefined if the next bytes must come from `next`. Absent if no
   * bytes of the source can be sent this way.
   */
  send?(socket: number, maxBytes: number): number | undefined
}

/** Size of a chunk that is written only to wait until the socket is writable. */
export const PROBE_BYTES = 16 * 1024
/** Size of the chunks of bytes that are in memory. */
const SLICE_BYTES = 256 * 1024

/** The chunks of bytes in memory. */
export function sliceChunks(bytes: Uint8Array): ChunkSource {
  let position = 0
  return {
    next() {
      const chunk = bytes.subarray(position, position + SLICE_BYTES)
      position += chunk.length
      return chunk.length === 0 ? undefined : chunk
    },
  }
}

/** Calls `handle` with a value, synchronously if possible: a promise costs a microtask. */
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  handle: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(handle) : handle(value)
}

/** All chunks in order. */
export async function* eachChunk(source: ChunkSource): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const chunk = await source.next()
    if (chunk === undefined) return
    yield chunk
  }
}
