// A range of an object that is read once, in order. A response that ends early or stalls is resumed
// at the byte where it ended.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../base/errors.ts'
import type { Bucket, ByteRange, PinnedObject } from './bucket.ts'
import type { ObjectBody } from './object-body.ts'

/** Responses to one range that may end early. Each request has retries of its own. */
const MAX_FAILURES = 5
const FIRST_PAUSE_MS = 100
/** The rest of a response that is received for nothing: a new connection takes longer. */
const MAX_UNREAD_BYTES = 512 * 1024
const NOTHING = new Uint8Array(0)

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
  #received: Uint8Array = NOTHING
  #body: ObjectBody | undefined
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
    return this.#position >= this.end
  }

  /** Where the range ends. */
  get end(): number {
    return this.#options.range.end
  }

  get isReading(): boolean {
    return this.#isReading
  }

  /**
   * Fills the targets with the bytes from `start`, and drops those before it. One read at a time.
   *
   * @throws AppError `failed` beyond the range, and as `Bucket.get`
   */
  async read(targets: readonly Uint8Array[], start = this.#position): Promise<void> {
    this.#isReading = true
    try {
      while (this.#position < start) await this.#next(start - this.#position)
      for (const target of targets) await this.#fill(target)
      if (this.isOver) this.#finish()
    } finally {
      this.#isReading = false
    }
  }

  async #fill(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length;) {
      const bytes = await this.#next(target.length - filled)
      target.set(bytes, filled)
      filled += bytes.length
    }
  }

  /** Up to `length` bytes, valid until the next call. */
  async #next(length: number): Promise<Uint8Array> {
    if (this.#received.length === 0) this.#received = await this.#receive()
    const bytes = this.#received.subarray(0, length)
    this.#received = this.#received.subarray(bytes.length)
    this.#position += bytes.length
    return bytes
  }

  /** Gives the connection up while nothing is being read; the next read opens another one. */
  suspend(): void {
    if (!this.#isReading) this.#disconnect()
  }

  /** A pending read rejects. The connection is used again if few bytes are left. */
  close(): void {
    const unreadBytes = this.end - this.#position - this.#received.length
    if (!this.#isReading && unreadBytes <= MAX_UNREAD_BYTES) {
      this.#received = NOTHING
      this.#finish()
      return
    }
    this.#closed.abort(new AppError('failed', 'the file is already closed'))
    this.#disconnect()
  }

  /** The next bytes, at least one. */
  async #receive(): Promise<Uint8Array> {
    for (;;) {
      const from = this.#position + this.#received.length
      if (from >= this.end) throw new AppError('failed', 'a read exceeds the range')
      const chunk = await this.#nextChunk(from)
      // More than requested would be read as bytes of another position.
      if (chunk !== undefined) return chunk.subarray(0, this.end - from)
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
  async #nextChunk(from: number): Promise<Uint8Array | undefined> {
    this.#body ??= await this.#get(from)
    const body = this.#body
    const timer = setTimeout(() => body.destroy(), this.#options.stalledMs)
    try {
      return await body.next()
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  async #get(start: number): Promise<ObjectBody> {
    const { bucket, object } = this.#options
    const body = await bucket.get(object, { start, end: this.end }, this.#closed.signal)
    if (this.#closed.signal.aborted) body.destroy()
    return body
  }

  /** Reads the rest of the response, so that its connection is used again. */
  #finish(): void {
    const body = this.#body
    this.#body = undefined
    if (body !== undefined) void readRest(body, this.#options.stalledMs)
  }

  #disconnect(): void {
    this.#body?.destroy()
    this.#body = undefined
  }
}

/** Never rejects. */
async function readRest(body: ObjectBody, limitMs: number): Promise<void> {
  const timer = setTimeout(() => body.destroy(), limitMs)
  try {
    let leftBytes = MAX_UNREAD_BYTES
    for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
      leftBytes -= chunk.length
      if (leftBytes < 0) body.destroy()
    }
  } catch {
    // The connection is closed.
  } finally {
    clearTimeout(timer)
  }
}
