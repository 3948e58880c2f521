// A range of an object that is read once, in order. A response that ends early or stalls is resumed
// at the byte where it ended.
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, isAppError } from '../../errors.ts'
import type { Bucket, ByteRange, PinnedObject } from './bucket.ts'
import { asAppError } from './store-error.ts'

/** Longest wait for the next bytes of a response. */
const STALLED_MS = 10_000
/** GETs of one range. The first byte of each has retries of its own. */
const MAX_GETS = 6
const FIRST_PAUSE_MS = 100
const NOTHING = Buffer.alloc(0)

export class ObjectStream {
  readonly #bucket: Pick<Bucket, 'get'>
  readonly #object: PinnedObject
  readonly #end: number
  readonly #closed = new AbortController()
  #position: number
  /** Received, but not read yet. */
  #received: Buffer = NOTHING
  #response: { chunks: AsyncIterator<Buffer>; body: Readable; abort: AbortController } | undefined
  #gets = 0
  #isReading = false

  constructor(bucket: Pick<Bucket, 'get'>, object: PinnedObject, { start, end }: ByteRange) {
    this.#bucket = bucket
    this.#object = object
    this.#position = start
    this.#end = end
  }

  /** Where the next read begins. */
  get position(): number {
    return this.#position
  }

  get isOver(): boolean {
    return this.#position >= this.#end
  }

  get isReading(): boolean {
    return this.#isReading
  }

  /**
   * The next `length` bytes, in memory of their own. One read at a time.
   *
   * @throws AppError `failed` beyond the range, and as `Bucket.get`
   */
  async read(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length)
    this.#isReading = true
    try {
      for (let filled = 0; filled < length;) {
        if (this.#received.length === 0) this.#received = await this.#receive()
        const count = Math.min(this.#received.length, length - filled)
        this.#received.copy(bytes, filled, 0, count)
        this.#received = this.#received.subarray(count)
        this.#position += count
        filled += count
      }
    } finally {
      this.#isReading = false
    }
    return bytes
  }

  /** Gives the connection up while nothing is being read; the next read opens another one. */
  suspend(): void {
    if (!this.#isReading) this.#disconnect()
  }

  /** A pending read rejects. */
  close(): void {
    this.#closed.abort(new AppError('failed', 'the file is already closed'))
    this.#disconnect()
  }

  async #receive(): Promise<Buffer> {
    for (;;) {
      const from = this.#position + this.#received.length
      if (from >= this.#end) throw new AppError('failed', 'a read exceeds the range')
      this.#closed.signal.throwIfAborted()
      try {
        const chunk = await this.#nextChunk(from)
        // More than requested would be read as bytes of another position.
        return chunk.subarray(0, this.#end - from)
      } catch (error) {
        this.#disconnect()
        this.#closed.signal.throwIfAborted()
        const failure = asAppError(error)
        if (!isAppError(failure, 'busy') || this.#gets >= MAX_GETS) throw failure
        const pauseMs = FIRST_PAUSE_MS * 2 ** this.#gets * Math.random()
        await sleep(pauseMs, undefined, { signal: this.#closed.signal }).catch(() => undefined)
      }
    }
  }

  /** Never empty. @throws AppError `busy` if the response ends early */
  async #nextChunk(from: number): Promise<Buffer> {
    this.#response ??= await this.#get(from)
    const { chunks, body } = this.#response
    const timer = setTimeout(() => body.destroy(new Error('the store has stalled')), STALLED_MS)
    try {
      const { done, value } = await chunks.next()
      if (done === true) throw new AppError('busy', 'the store ended a response too early')
      if (from + value.length >= this.#end) this.#finish()
      return value
    } finally {
      clearTimeout(timer)
    }
  }

  async #get(start: number) {
    this.#gets += 1
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, this.#closed.signal])
    const body = await this.#bucket.get(this.#object, { start, end: this.#end }, signal)
    // Also while no read waits for it.
    body.on('error', () => undefined)
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
