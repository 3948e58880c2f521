// A view into an open file that goes forwards: small reads where fragments are large, large ones where they are small.
import type { OpenFile } from '../../../storage/storage.ts'
import { readExactly } from '../../mp4/boxes/file-window.ts'

const SMALLEST_READ_BYTES = 16 * 1024
const LARGEST_READ_BYTES = 1024 * 1024
/** A step of at most this much makes the next read larger: reading through is cheaper than reading often. */
const NEAR_BYTES = 64 * 1024

/** `has` and `view` are cheap and synchronous; `load` reads. */
export class FragmentWindow {
  readonly #file: OpenFile
  #bytes = new DataView(new ArrayBuffer(0))
  #start = 0
  #readBytes = SMALLEST_READ_BYTES

  constructor(file: OpenFile) {
    this.#file = file
  }

  /** Whether these bytes can be had without a read. */
  has(offset: number, length: number): boolean {
    return offset >= this.#start && offset + length <= this.#start + this.#bytes.byteLength
  }

  /** Bytes that `has` answered for. They stay as they are when the window moves on. */
  view(offset: number, length: number): DataView {
    return new DataView(this.#bytes.buffer, offset - this.#start, length)
  }

  /** A big-endian number among bytes that `has` answered for. */
  uint32(offset: number): number {
    return this.#bytes.getUint32(offset - this.#start)
  }

  /** Makes bytes available that lie wholly in the file. */
  async load(offset: number, length: number): Promise<void> {
    const end = this.#start + this.#bytes.byteLength
    const isNear = offset >= this.#start && offset <= end + NEAR_BYTES
    this.#readBytes = isNear
      ? Math.min(this.#readBytes * 2, LARGEST_READ_BYTES)
      : SMALLEST_READ_BYTES
    const rest = this.#file.stat.sizeBytes - offset
    const wanted = Math.min(Math.max(length, this.#readBytes), rest)
    this.#bytes = new DataView((await readExactly(this.#file, offset, wanted)).buffer)
    this.#start = offset
  }
}
