// Bytes that are asked for chunk by chunk, and answered at once where nothing has to be waited for.

/** Undefined behind the last chunk. */
export type Chunk = Uint8Array | undefined

export interface ChunkSource {
  /**
   * The next chunk, which stays valid until the one behind it is asked for. Only one is asked for at a time. It is of
   * `maxBytes` at most where the source can tell in time, and never empty.
   */
  next(maxBytes?: number): Chunk | Promise<Chunk>
  /**
   * Sends up to `maxBytes` of what comes next to a socket (its descriptor) without a copy of ours, all that came before
   * having left. Answers how many the socket has taken, 0 where it takes none for now; undefined where a chunk has to be
   * asked for. A source that has no such bytes has no such method.
   */
  send?(socket: number, maxBytes: number): number | undefined
}

/** Goes on with a value: now, or when it is there. A promise costs a turn of the loop's queues, a value nothing. */
export function whenReady<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}

/** All chunks in order. */
export async function* eachChunk(source: ChunkSource): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const chunk = await source.next()
    if (chunk === undefined) return
    yield chunk
  }
}
