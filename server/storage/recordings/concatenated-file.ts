// Presents ranges of several files as one file: the segments of a recorder's playlist.
import { createDecipheriv } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AppError, UnplayableError } from '../../base/errors.ts'
import { fillExactly } from './read-exactly.ts'
import { rangeAt, startOf } from './range-list.ts'
import type { FileRange, RangeList } from './range-list.ts'
import type { FileStat, OpenFile, Storage } from './storage.ts'

/** Most idle files that stay open: a segment rarely spans more. */
const MAX_OPEN_FILES = 8
/** Ranges of one read that are read concurrently: one of the four I/O threads is left to others. */
const READS_AT_ONCE = 3
const BLOCK_BYTES = 16
/** Encrypted bytes per read. */
const MAX_DECRYPT_BYTES = 1024 * 1024

/** A file shared by concurrent reads. */
interface SharedFile {
  opening: Promise<OpenFile>
  /** Set once it is open. */
  opened?: OpenFile
  uses: Set<Promise<void>>
}

/**
 * Concatenates ranges. Files are opened on demand; reading rejects with `failed` if a file has
 * changed. The caller closes it. Opening costs the same for a list of any length.
 */
export class ConcatenatedFile implements OpenFile {
  readonly stat: FileStat
  readonly #storage: Storage
  readonly #ranges: RangeList
  /** The range that was read last, and its index: the next read is often in the same. */
  #last: { index: number; range: FileRange } | undefined
  readonly #files = new LRUCache<string, SharedFile>({
    max: MAX_OPEN_FILES,
    dispose: (file) => this.#closeLater(file),
  })
  readonly #closing = new Set<Promise<void>>()
  /** End of the announced bytes. */
  #announcedEnd = 0
  #isClosed = false

  constructor(storage: Storage, ranges: RangeList) {
    this.#storage = storage
    this.#ranges = ranges
    this.stat = ranges.stat
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    let done = 0
    let reads: Promise<void>[] = []
    for (let i = this.#indexAt(position); done < buffer.length; i += 1) {
      const range = this.#range(i)
      if (range === undefined) break
      const at = position + done - startOf(this.#ranges, i)
      const wanted = buffer.subarray(done, done + Math.min(buffer.length - done, range.length - at))
      const announcedBytes = Math.min(range.length - at, this.#announcedEnd - position - done)
      reads.push(this.#readRange(range, { wanted, at, announcedBytes }))
      done += wanted.length
      if (reads.length < READS_AT_ONCE) continue
      await allDone(reads)
      reads = []
    }
    await allDone(reads)
    return done
  }

  async readv(buffers: readonly Uint8Array[], position: number): Promise<number> {
    let total = 0
    for (const buffer of buffers) {
      const count = await this.read(buffer, position + total)
      total += count
      if (count < buffer.length) break
    }
    return total
  }

  readCached(buffers: readonly Uint8Array[], position: number): number {
    const length = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
    const chunk = this.#openChunk(position)
    if (chunk === undefined || length > chunk.length) return 0
    return chunk.file.readCached?.(buffers, chunk.position) ?? 0
  }

  sendCached(position: number, length: number, socket: number): number | undefined {
    const chunk = this.#openChunk(position)
    if (chunk === undefined) return undefined
    return chunk.file.sendCached?.(chunk.position, Math.min(length, chunk.length), socket)
  }

  willReadInOrder(position: number, length: number): void {
    this.#announcedEnd = position + length
  }

  async checkUnchanged(): Promise<void> {
    const checks = [...this.#files.values()].map((shared) =>
      workWith(shared, (file) => file.checkUnchanged()),
    )
    await Promise.all(checks)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#files.clear()
    await Promise.all(this.#closing)
  }

  /** Location of the bytes from `position` on, if they are unencrypted and their file is open. */
  #openChunk(position: number): { file: OpenFile; position: number; length: number } | undefined {
    const index = this.#indexAt(position)
    const range = this.#range(index)
    const file = range && this.#files.get(range.path)?.opened
    if (file === undefined || range === undefined || range.decryption !== undefined)
      return undefined
    if (file.stat.version !== range.stat.version) return undefined
    const at = position - startOf(this.#ranges, index)
    return { file, position: range.offset + at, length: range.length - at }
  }

  /** Index of the last range that starts at or before `position`; their number after the end. */
  #indexAt(position: number): number {
    const { count, stat } = this.#ranges
    if (position >= stat.sizeBytes) return count
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (startOf(this.#ranges, middle) <= position) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  #range(index: number): FileRange | undefined {
    if (this.#last?.index === index) return this.#last.range
    const range = rangeAt(this.#ranges, index)
    if (range !== undefined) this.#last = { index, range }
    return range
  }

  async #readRange(
    range: FileRange,
    { wanted, at, announcedBytes }: { wanted: Uint8Array; at: number; announcedBytes: number },
  ): Promise<void> {
    await workWith(this.#share(range), async (file) => {
      if (file.stat.version !== range.stat.version)
        throw new AppError('gone', 'a file of the recording was replaced while it was read')
      if (announcedBytes > 0) file.willReadInOrder?.(range.offset + at, announcedBytes)
      await readFromRange(file, range, { wanted, at })
    })
  }

  #share({ path, stat }: FileRange): SharedFile {
    if (this.#isClosed) throw new AppError('failed', 'the file is already closed')
    const known = this.#files.get(path)
    if (known !== undefined) return known
    const shared: SharedFile = {
      opening: this.#storage.open(path, { listed: stat }),
      uses: new Set(),
    }
    this.#files.set(path, shared)
    // Waiting readers see the failure; the entry must not stay.
    shared.opening.catch(() => {
      if (this.#files.peek(path) === shared) this.#files.delete(path)
    })
    return shared
  }

  #closeLater({ opening, uses }: SharedFile): void {
    const closing = Promise.allSettled(uses)
      .then(() => opening)
      .then(
        (opened) => opened.close(),
        () => undefined,
      )
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }
}

/** Rejects when no read writes to its buffer any more. */
async function allDone(reads: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(reads)
  await Promise.all(reads)
}

/** Runs work on a file that stays open until it is done, even if it is evicted meanwhile. */
async function workWith(
  shared: SharedFile,
  work: (file: OpenFile) => Promise<void>,
): Promise<void> {
  const done = shared.opening.then((file) => {
    shared.opened = file
    return work(file)
  })
  shared.uses.add(done)
  try {
    await done
  } finally {
    shared.uses.delete(done)
  }
}

async function readFromRange(
  file: OpenFile,
  range: FileRange,
  { wanted, at }: { wanted: Uint8Array; at: number },
): Promise<void> {
  const { decryption } = range
  if (decryption === undefined) return fillExactly(file, wanted, range.offset + at)
  for (let done = 0; done < wanted.length; done += MAX_DECRYPT_BYTES) {
    const chunk = wanted.subarray(done, done + MAX_DECRYPT_BYTES)
    await readDecrypted(file, { ...range, decryption }, { chunk, at: at + done })
  }
}

/**
 * Length of an encrypted range after decryption, from the padding of its last block (PKCS #7).
 *
 * @throws UnplayableError if the key does not match or the range is truncated
 */
export async function readDecryptedLength(
  file: OpenFile,
  range: Omit<FileRange, 'path' | 'stat'> & Required<Pick<FileRange, 'decryption'>>,
): Promise<number> {
  const { length } = range
  if (length < BLOCK_BYTES || length % BLOCK_BYTES !== 0) throw notDecryptable()
  const block = new Uint8Array(BLOCK_BYTES)
  await readDecrypted(file, range, { chunk: block, at: length - BLOCK_BYTES })
  const padding = block[BLOCK_BYTES - 1] ?? 0
  const isPadding =
    padding >= 1 &&
    padding <= BLOCK_BYTES &&
    block.subarray(BLOCK_BYTES - padding).every((byte) => byte === padding)
  if (!isPadding) throw notDecryptable()
  return length - padding
}

function notDecryptable(): UnplayableError {
  return new UnplayableError({ code: 'segment-key-wrong' })
}

/** Decrypts from any block on: in CBC mode a block depends only on the previous encrypted one. */
async function readDecrypted(
  file: OpenFile,
  { offset, decryption }: Pick<FileRange, 'offset'> & Required<Pick<FileRange, 'decryption'>>,
  { chunk, at }: { chunk: Uint8Array; at: number },
): Promise<void> {
  const firstBlock = Math.floor(at / BLOCK_BYTES)
  const endBlock = Math.ceil((at + chunk.length) / BLOCK_BYTES)
  const leadBytes = firstBlock === 0 ? 0 : BLOCK_BYTES
  const from = firstBlock * BLOCK_BYTES - leadBytes
  const encrypted = Buffer.alloc(endBlock * BLOCK_BYTES - from)
  await fillExactly(file, encrypted, offset + from)
  const iv = leadBytes === 0 ? decryption.iv : encrypted.subarray(0, leadBytes)
  const decipher = createDecipheriv('aes-128-cbc', decryption.key, iv).setAutoPadding(false)
  const plain = decipher.update(encrypted.subarray(leadBytes))
  const start = at - firstBlock * BLOCK_BYTES
  chunk.set(plain.subarray(start, start + chunk.length))
}
