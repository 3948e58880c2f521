// What the system's memory holds of files (the page cache): read at once, or sent to a socket, never waiting for a disk.
import { endianness, platform } from 'node:os'
import type koffi from 'koffi'

/** Calls that node does not offer. None of them waits. */
export interface PageCache {
  /**
   * Reads consecutive bytes from `position` of a descriptor into the buffers in turn: preadv2(2) with RWF_NOWAIT. Answers
   * the number of bytes read: fewer than asked where the rest is not in memory, 0 where none is, at the end, and after
   * any error; an ordinary read tells which.
   */
  read(descriptor: number, buffers: readonly Uint8Array[], position: number): number
  /**
   * Sends bytes of a file to a socket that does not block, copying none: sendfile(2). Answers how many the socket has
   * taken. Undefined where that way is closed: the range is not in memory as a whole, or not there, or the system does
   * not tell (cachestat(2) answers only who owns the file or may write to it), or the socket is broken.
   */
  send(range: DescriptorRange, socket: number): number | undefined
  /** Has the system begin to read a range of a file into its memory: posix_fadvise(2). A wish; nothing tells of failure. */
  fetch(range: DescriptorRange): void
  /** Descriptor of a new file that lies in memory alone, and is gone when it is closed: memfd_create(2). */
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
/** The same on all architectures, as all calls since Linux 5.1 are. */
const SYS_CACHESTAT = 451
const IOV_MAX = 1024
/** Of one struct iovec: base and length, 64 bits each, low words first. */
const IOVEC_WORDS = 4
const WORD = 2 ** 32

/** Undefined where the system has no such calls: ordinary reads do the same then, by way of another thread. */
export async function loadPageCache(): Promise<PageCache | undefined> {
  if (platform() !== 'linux' || endianness() !== 'LE') return undefined
  try {
    const { default: library } = await import('koffi')
    if (library.sizeof('void *') !== 8) return undefined
    return new LinuxPageCache(library)
  } catch {
    // Its binary is not made for this system.
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
  /** sendfile's offset; it is advanced by the call. */
  readonly #offset = new BigInt64Array(1)
  /** struct cachestat_range: offset and length. */
  readonly #range = new BigUint64Array(2)
  /** struct cachestat: the first field counts the pages in memory. */
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
