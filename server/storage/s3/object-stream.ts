// A range of an object that is read once, in order. A response that ends early or stalls is resumed
// at the byte where it ended.
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Bucket, ByteRange, PinnedObject } from './bucket.ts'

/** Responses to one range that may end early. Each request has retries of its own. */
const MAX_FAILURES = 5
const FIRST_PAUSE_MS = 100
const NOTHING = Buffer.alloc(0)

export interface ObjectStreamOptions {
  bucket: Pick<Bucket, 'get'>
  object: PinnedObject
  range: ByteRange
  /** Longest wait for the next bytes of a response. */
  stalledMs: number
}

export class ObjectStream {
  readonly #options: ObjectStreamOptions
  readonly #closed = new AbortController()
  #position: number
  /** Received, but not read yet. */
  #received: Buffer = NOTHING
  #response: { chunks: AsyncIterator<Buffer>; body: Readable; abort: AbortController } | undefined
  #failures = 0
  #isReading = false

  constructor(options: ObjectStreamOptions) {
    this.#options = options
    this.#position = options.range.start
  }

  /** Where the next read begins. */
  get position(): number {
    return this.#position
  }

  get isOver(): boolean {
    return this.#position >= this.#end
  }

  get #end(): number {
    return this.#options.range.end
  }

  get isReading(): boolean {
    return this.#isReading
  }

  /**
   * Fills `target` with the next bytes. One read at a time.
   *
   * @throws AppError `failed` beyond the range, and as `Bucket.get`
   */
  async read(target: Uint8Array): Promise<void> {
    await this.#consume(target.length, (bytes, at) => target.set(bytes, at))
  }

  /** As `read`, but drops the bytes. */
  async skip(length: number): Promise<void> {
    await this.#consume(length, () => undefined)
  }

  async #consume(length: number, take: (bytes: Uint8Array, at: number) => void): Promise<void> {
    this.#isReading = true
    try {
      for (let taken = 0; taken < length;) {
        if (this.#received.length === 0) this.#received = await this.#receive()
        const bytes = this.#received.subarray(0, length - taken)
        take(bytes, taken)
        this.#received = this.#received.subarray(bytes.length)
        this.#position += bytes.length
        taken += bytes.length
      }
    } finally {
      this.#isReading = false
    }
  }

  /** Gives the connection up while nothing is being read; the next read opens another one. */
  suspend(): void {
    if (!this.#isReading) this.#disconnect()
  }

  /** A pending read rejects. The connection is used again if all bytes were received. */
  close(): void {
    if (this.#position + this.#received.length === this.#end) return
    this.#closed.abort(new AppError('failed', 'the file is already closed'))
    this.#disconnect()
  }

  /** The next bytes, at least one. */
  async #receive(): Promise<Buffer> {
    for (;;) {
      const from = this.#position + this.#received.length
      if (from >= this.#end) throw new AppError('failed', 'a read exceeds the range')
      const chunk = await this.#nextChunk(from)
      if (chunk !== undefined) {
        if (from + chunk.length >= this.#end) this.#finish()
        // More than requested would be read as bytes of another position.
        return chunk.subarray(0, this.#end - from)
      }
      this.#disconnect()
      this.#closed.signal.throwIfAborted()
      if (this.#failures === MAX_FAILURES) {
        throw new AppError('busy', 'the store is unavailable (its responses end too early)')
      }
      this.#failures += 1
      const pauseMs = FIRST_PAUSE_MS * 2 ** this.#failures * Math.random()
      await sleep(pauseMs, undefined, { signal: this.#closed.signal }).catch(() => undefined)
    }
  }

  /** Undefined if the response ends early or stalls. */
  async #nextChunk(from: number): Promise<Buffer | undefined> {
    this.#response ??= await this.#get(from)
    const { chunks, body } = this.#response
    const timer = setTimeout(() => body.destroy(), this.#options.stalledMs)
    try {
      const { done, value } = await chunks.next()
      return done === true ? undefined : value
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  async #get(start: number) {
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, this.#closed.signal])
    const { bucket, object } = this.#options
    const body = await bucket.get(object, { start, end: this.#end }, signal)
    // Also while no read waits for it.
    body.on('error', () => undefined)
    if (this.#closed.signal.aborted) body.destroy()
    const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
    return { chunks, body, abort }
  }

  /** Reads the end of the response, so that its connection is used again. */
  #finish(): void {
    this.#response?.chunks.next().catch(() => undefined)
    this.#response = undefined
  }

  #disconnect(): void {
    this.#response?.abort.abort()
    this.#response?.body.destroy()
    this.#response = undefined
  }
}
