// The part of a file that is in memory. It moves forward in large reads, and reads each byte once.
import { fillExactly, readExactly } from './read-exactly.ts'
import type { OpenFile } from './storage.ts'

export interface WindowOptions {
  /** Size of one read, and of the first of reads that grow. */
  readBytes: number
  /** Reads close to the last one double up to this size. Default `readBytes`. */
  largestReadBytes?: number
  /** No byte at or after this position is read. Default the size of the file. */
  limit?: number
  /**
   * `reused`: views are valid until the next `need`. `fresh`: they stay valid. Default `reused`.
   */
  memory?: 'reused' | 'fresh'
  signal?: AbortSignal | undefined
}

/** A read within this distance of the window's end counts as close to it. */
const NEAR_BYTES = 64 * 1024

export class ReadWindow {
  readonly limit: number
  readonly #file: OpenFile
  readonly #options: WindowOptions
  /** Not a Buffer: subarrays of one take five times as long to create. */
  #bytes = new Uint8Array(0)
  #start = 0
  #end = 0
  #readBytes: number

  constructor(file: OpenFile, options: WindowOptions) {
    this.limit = options.limit ?? file.stat.sizeBytes
    this.#file = file
    this.#options = options
    this.#readBytes = options.readBytes
  }

  /** The memory of the window; its first byte is at position `start`. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get start(): number {
    return this.#start
  }

  /** Whether `need` returns without a read: bytes after the limit count as present. */
  has(position: number, length: number): boolean {
    return this.holds(position, Math.min(position + length, this.limit) - position)
  }

  /** Whether all of these bytes are in the window. */
  holds(position: number, length: number): boolean {
    return position >= this.#start && position + length <= this.#end
  }

  /** Moves the window so that it holds these bytes, as far as the limit allows. */
  async need(position: number, length: number): Promise<void> {
    if (this.has(position, length)) return
    this.#options.signal?.throwIfAborted()
    const kept = position >= this.#start && position < this.#end ? this.#end - position : 0
    const from = position - this.#start
    this.#resize(position)
    const rest = Math.max(0, this.limit - position)
    const wanted = Math.min(Math.max(length, this.#readBytes), rest)
    const before = this.#bytes
    if (this.#options.memory === 'fresh' || before.length < wanted) this.#bytes = allocate(wanted)
    this.#bytes.set(before.subarray(from, from + kept))
    this.#start = position
    this.#end = position + kept
    if (wanted <= kept) return
    await fillExactly(this.#file, this.#bytes.subarray(kept, wanted), this.#end)
    this.#end = position + wanted
  }

  /** Up to `length` bytes from `position`, as far as the window holds them. */
  view(position: number, length: number): Uint8Array<ArrayBuffer> {
    if (position < this.#start || position > this.#end) return this.#bytes.subarray(0, 0)
    const end = Math.min(position + length, this.#end)
    return this.#bytes.subarray(position - this.#start, end - this.#start)
  }

  /** The big-endian number at a position; the window holds it. */
  uint32(position: number): number {
    const at = position - this.#start
    const [first = 0, second = 0, third = 0, fourth = 0] = this.#bytes.subarray(at, at + 4)
    return first * 0x1_00_00_00 + ((second << 16) | (third << 8) | fourth)
  }

  /** As `view`, but reads bytes outside of the window, which does not move. */
  async peek(position: number, length: number): Promise<Uint8Array> {
    if (this.has(position, length)) return this.view(position, length)
    this.#options.signal?.throwIfAborted()
    return readExactly(this.#file, position, Math.max(0, Math.min(length, this.limit - position)))
  }

  #resize(position: number): void {
    const { readBytes, largestReadBytes = readBytes } = this.#options
    const isNear = position >= this.#start && position <= this.#end + NEAR_BYTES
    this.#readBytes = isNear ? Math.min(this.#readBytes * 2, largestReadBytes) : readBytes
  }
}

function allocate(length: number): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(length)
  return new Uint8Array(buffer, byteOffset, length)
}
