// Reads at once what the system's memory holds of a file: preadv2(2) with RWF_NOWAIT, which never waits for a disk.
import { endianness, platform } from 'node:os'

/**
 * Reads consecutive bytes from `position` of a descriptor into the buffers in turn, on the calling thread. Answers the
 * number of bytes read: fewer than asked where the rest is not in memory, 0 where none is, at the end, and after any
 * error; an ordinary read tells which.
 */
export type CachedReads = (
  descriptor: number,
  buffers: readonly Uint8Array[],
  position: number,
) => number

const RWF_NOWAIT = 8
const IOV_MAX = 1024
/** Of one struct iovec: base and length, 64 bits each, low words first. */
const IOVEC_WORDS = 4
const WORD = 2 ** 32

/** Undefined where the system has no such call: ordinary reads do the same then, by way of another thread. */
export async function loadCachedReads(): Promise<CachedReads | undefined> {
  if (platform() !== 'linux' || endianness() !== 'LE') return undefined
  try {
    const { default: koffi } = await import('koffi')
    if (koffi.sizeof('void *') !== 8) return undefined
    const signature = 'int64 preadv2(int fd, void *iov, int iovcnt, int64 offset, int flags)'
    const preadv2 = koffi.load(null).func(signature)
    const vector = new IoVector((memory) => Number(koffi.address(memory)))
    return (descriptor, buffers, position) => {
      const count = vector.pointTo(buffers)
      return Math.max(Number(preadv2(descriptor, vector.words, count, position, RWF_NOWAIT)), 0)
    }
  } catch {
    // Its binary is not made for this system.
    return undefined
  }
}

/** An array of struct iovec, as readv(2) has it. */
class IoVector {
  readonly words = new Uint32Array(IOV_MAX * IOVEC_WORDS)
  readonly #addressOf: (memory: ArrayBufferLike) => number
  /** Such memory lies outside of the garbage-collected heap, and stays where it is. */
  readonly #addresses = new WeakMap<ArrayBufferLike, number>()

  constructor(addressOf: (memory: ArrayBufferLike) => number) {
    this.#addressOf = addressOf
  }

  /** Answers how many of the buffers it has room for. They have to be held for as long as the vector is used. */
  pointTo(buffers: readonly Uint8Array[]): number {
    const count = Math.min(buffers.length, IOV_MAX)
    for (let i = 0; i < count; i += 1) {
      const buffer = buffers[i]
      if (buffer === undefined) return i
      this.#set(i * IOVEC_WORDS, buffer)
    }
    return count
  }

  #set(at: number, { buffer, byteOffset, byteLength }: Uint8Array): void {
    const base = this.#addresses.get(buffer) ?? this.#addressOf(buffer)
    this.#addresses.set(buffer, base)
    const address = base + byteOffset
    this.words[at] = address % WORD
    this.words[at + 1] = Math.floor(address / WORD)
    this.words[at + 2] = byteLength
    this.words[at + 3] = 0
  }
}
