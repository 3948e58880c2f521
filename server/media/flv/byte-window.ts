// A window that goes over a file from front to back: large reads, each byte once, no more memory than the window.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { WINDOW_BYTES } from './flv-limits.ts'

export interface WindowOptions {
  /** Nothing at or behind this position is read. */
  limit: number
  /** Most that is read at once; default WINDOW_BYTES. */
  windowBytes?: number
  signal?: AbortSignal
}

/** Bytes of a file between `start` and `end`, moved forward by `need`. Views into it hold until the next `need`. */
export class ByteWindow {
  readonly limit: number
  readonly #file: OpenFile
  readonly #signal: AbortSignal | undefined
  /** No Buffer: views into one of those take five times as long to make. */
  readonly #bytes: Uint8Array
  #start = 0
  #end = 0

  constructor(file: OpenFile, { limit, windowBytes = WINDOW_BYTES, signal }: WindowOptions) {
    this.limit = limit
    this.#file = file
    this.#signal = signal
    const { buffer, byteOffset } = Buffer.allocUnsafe(windowBytes)
    this.#bytes = new Uint8Array(buffer, byteOffset, windowBytes)
  }

  /** What the window has room for: `start` is the position of its first byte. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get start(): number {
    return this.#start
  }

  /** Whether `need` would have to read for this. */
  has(position: number, length: number): boolean {
    const end = Math.min(position + length, this.limit)
    return position >= this.#start && end <= this.#end
  }

  /** Whether all of these bytes are in the window. */
  holds(position: number, length: number): boolean {
    return position >= this.#start && position + length <= this.#end
  }

  /** Sees to it that the bytes are in the window, as far as the limit allows. */
  async need(position: number, length: number): Promise<void> {
    if (this.has(position, length)) return
    this.#signal?.throwIfAborted()
    const kept = position >= this.#start && position < this.#end ? this.#end - position : 0
    if (kept > 0) this.#bytes.copyWithin(0, position - this.#start, this.#end - this.#start)
    const wanted = Math.max(Math.min(this.#bytes.length, this.limit - position), 0)
    this.#start = position
    this.#end = position + kept
    if (wanted > kept) {
      await readExactly(this.#file, this.#bytes.subarray(kept, wanted), this.#end)
      this.#end = position + wanted
    }
  }

  /** Up to `length` bytes from `position` that are in the window. */
  view(position: number, length: number): Uint8Array {
    if (position < this.#start || position > this.#end) return this.#bytes.subarray(0, 0)
    const end = Math.min(position + length, this.#end)
    return this.#bytes.subarray(position - this.#start, end - this.#start)
  }

  /** The same, wherever it is, without moving the window. */
  async peek(position: number, length: number): Promise<Uint8Array> {
    if (this.has(position, length)) return this.view(position, length)
    this.#signal?.throwIfAborted()
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.limit - position)))
    await readExactly(this.#file, bytes, position)
    return bytes
  }
}

/** Fills the buffer. Throws AppError `failed` where the file became shorter since it was opened. */
export async function readExactly(
  file: OpenFile,
  buffer: Uint8Array,
  position: number,
): Promise<void> {
  let filled = 0
  while (filled < buffer.length) {
    const count = await file.read(buffer.subarray(filled), position + filled)
    if (count <= 0) throw new AppError('failed', 'the recording became shorter while it was read')
    filled += count
  }
}
