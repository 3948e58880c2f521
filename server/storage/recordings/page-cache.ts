// Non-blocking access to the system's page cache: reads, or sends to a socket, whatever of a file
// is in memory.
import { endianness, platform } from 'node:os'
import type koffi from 'koffi'

/** System calls that Node does not expose. None of them blocks. */
export interface PageCache {
  /**
   * Reads consecutive bytes from `position` of a descriptor into the buffers: preadv2(2) with
   * RWF_NOWAIT. Returns the number of bytes read: fewer if the rest is not in memory, 0 if nothing
   * is, at the end of the file, and after any error; an ordinary read shows which.
   */
  read(descriptor: number, buffers: readonly Uint8Array[], position: number): number
  /**
   * Sends bytes of a file to a non-blocking socket without a copy: sendfile(2). Returns how many
   * the socket accepted. Undefined if the range is not completely in memory or does not exist, if
   * the socket is broken, or if the system does not report residency (cachestat(2) answers only to
   * the owner or a writer of the file).
   */
  send(range: DescriptorRange, socket: number): number | undefined
  /** Starts reading a range into memory: posix_fadvise(2). A hint; failures are not reported. */
  fetch(range: DescriptorRange): void
  /** Descriptor of a new anonymous file in memory, freed on close: memfd_create(2). */
  createFile(): number | undefined
}

/** Bytes of an open file. */
export interface DescriptorRange {
  descriptor: number
  position: number
  length: number
}

const RWF_NOWAIT = 8
const MFD_CLOEXEC = 1
const POSIX_FADV_WILLNEED = 3
/** The same on all architectures, like all calls since Linux 5.1. */
const SYS_CACHESTAT = 451
const IOV_MAX = 1024
/** Words per struct iovec: base and length, 64 bits each, low word first. */
const IOVEC_WORDS = 4
const WORD = 2 ** 32

/**
 * Undefined if the system lacks these calls: ordinary reads do the same through libuv's threads.
 */
export async function loadPageCache(): Promise<PageCache | undefined> {
  if (platform() !== 'linux' || endianness() !== 'LE') return undefined
  try {
    const { default: library } = await import('koffi')
    if (library.sizeof('void *') !== 8) return undefined
    return new LinuxPageCache(library)
  } catch {
    // There is no binary for this system.
    return undefined
  }
}

type SystemCall = (...values: (number | ArrayBufferView)[]) => number | bigint

class LinuxPageCache implements PageCache {
  readonly #vector: IoVector
  readonly #preadv2: SystemCall
  readonly #sendfile: SystemCall
  readonly #cachestat: SystemCall
  readonly #fadvise: SystemCall
  readonly #memfdCreate: (name: string, flags: number) => number
  readonly #pageBytes: number
  readonly #wouldBlock: number | undefined
  readonly #errno: () => number
  /** sendfile's offset; the call advances it. */
  readonly #offset = new BigInt64Array(1)
  /** struct cachestat_range: offset and length. */
  readonly #range = new BigUint64Array(2)
  /** struct cachestat: the first field is the number of cached pages. */
  readonly #found = new BigUint64Array(5)

  constructor(library: typeof koffi) {
    const system = library.load(null)
    this.#vector = new IoVector((memory) => Number(library.address(memory)))
    this.#preadv2 = system.func(
      'int64 preadv2(int fd, void *iov, int iovcnt, int64 offset, int flags)',
    )
    this.#sendfile = system.func('int64 sendfile64(int to, int from, void *offset, size_t count)')
    this.#cachestat = system.func(
      'int64 syscall(int64 number, int fd, void *range, void *found, uint flags)',
    )
    this.#fadvise = system.func(
      'int posix_fadvise64(int fd, int64 offset, int64 length, int advice)',
    )
    this.#memfdCreate = system.func('int memfd_create(const char *name, uint flags)')
    this.#pageBytes = Number(system.func('int getpagesize()')())
    this.#wouldBlock = library.os.errno['EAGAIN']
    this.#errno = () => library.errno()
  }

  read(descriptor: number, buffers: readonly Uint8Array[], position: number): number {
    const count = this.#vector.pointTo(buffers)
    const { words } = this.#vector
    return Math.max(Number(this.#preadv2(descriptor, words, count, position, RWF_NOWAIT)), 0)
  }

  send(range: DescriptorRange, socket: number): number | undefined {
    if (!this.#isHeld(range)) return undefined
    this.#offset[0] = BigInt(range.position)
    const sent = Number(this.#sendfile(socket, range.descriptor, this.#offset, range.length))
    if (sent > 0) return sent
    return sent < 0 && this.#errno() === this.#wouldBlock ? 0 : undefined
  }

  fetch({ descriptor, position, length }: DescriptorRange): void {
    this.#fadvise(descriptor, position, length, POSIX_FADV_WILLNEED)
  }

  createFile(): number | undefined {
    const descriptor = this.#memfdCreate('aftercast', MFD_CLOEXEC)
    return descriptor < 0 ? undefined : descriptor
  }

  #isHeld({ descriptor, position, length }: DescriptorRange): boolean {
    this.#range[0] = BigInt(position)
    this.#range[1] = BigInt(length)
    if (this.#cachestat(SYS_CACHESTAT, descriptor, this.#range, this.#found, 0) !== 0) return false
    const first = Math.floor(position / this.#pageBytes)
    const last = Math.floor((position + length - 1) / this.#pageBytes)
    return Number(this.#found[0]) === last - first + 1
  }
}

/** An array of struct iovec, as readv(2) has it. */
class IoVector {
  readonly words = new Uint32Array(IOV_MAX * IOVEC_WORDS)
  readonly #addressOf: (memory: ArrayBufferLike) => number
  /** Such memory is outside of the garbage-collected heap and never moves. */
  readonly #addresses = new WeakMap<ArrayBufferLike, number>()

  constructor(addressOf: (memory: ArrayBufferLike) => number) {
    this.#addressOf = addressOf
  }

  /** Returns how many of the buffers fit. They must stay referenced while the vector is in use. */
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
