// An open file on a raw descriptor with the callback API, measured 10 % faster than a FileHandle.
import { close, fstat, read, readv } from 'node:fs'
import type { Stats } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '../../../base/errors.ts'
import type { PageCache } from '../page-cache.ts'
import type { FileStat, OpenFile } from '../storage.ts'

const fstatDescriptor = promisify(fstat)

/** Never rejects: some mounts report here what no read depends on, and the descriptor is closed. */
export async function closeDescriptor(descriptor: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  close(descriptor, () => resolve())
  await promise
}

/** Stat of a descriptor. */
export function statDescriptor(descriptor: number): Promise<Stats> {
  return fstatDescriptor(descriptor)
}

/** The members of `Stats` that a FileStat is made from. */
export type StatNumbers = Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>

/** The version: `mtime` can be set by `utimes`, but not the ctime, which every write changes. */
export function fileStat({ size, mtimeMs, ctimeMs, ino }: StatNumbers): FileStat {
  return {
    sizeBytes: size,
    modifiedMs: Math.floor(mtimeMs),
    version: `${size}.${mtimeMs}.${ctimeMs}.${ino}`,
  }
}

export interface OpenFileOptions {
  pageCache?: PageCache | undefined
  /** Called once when the descriptor has been closed. */
  onClosed?: () => void
}

/**
 * An OpenFile that owns a descriptor. `close` waits for pending reads, so that a descriptor number
 * is never used after the system has reassigned it. Reads after `close` reject with `failed`.
 */
export class DescriptorFile implements OpenFile {
  readonly stat: FileStat
  readonly willRead?: (position: number, length: number) => void
  readonly #descriptor: number
  readonly #mtimeMs: number
  readonly #pageCache: PageCache | undefined
  readonly #onClosed: (() => void) | undefined
  #readsUnderWay = 0
  #closed: Promise<void> | undefined
  #onIdle: (() => void) | undefined

  constructor(descriptor: number, stats: StatNumbers, { pageCache, onClosed }: OpenFileOptions) {
    this.#descriptor = descriptor
    this.#pageCache = pageCache
    this.#onClosed = onClosed
    this.stat = fileStat(stats)
    this.#mtimeMs = stats.mtimeMs
    if (pageCache === undefined) return
    this.willRead = (position, length) => {
      if (!this.#closed) pageCache.fetch({ descriptor, position, length })
    }
  }

  read(buffer: Uint8Array, position: number): Promise<number> {
    return this.#run((done) => {
      read(this.#descriptor, buffer, 0, buffer.length, position, done)
    })
  }

  readv(buffers: readonly Uint8Array[], position: number): Promise<number> {
    return this.#run((done) => {
      readv(this.#descriptor, [...buffers], position, done)
    })
  }

  readCached(buffers: readonly Uint8Array[], position: number): number {
    if (this.#closed) throw closedAlready()
    return this.#pageCache?.read(this.#descriptor, buffers, position) ?? 0
  }

  sendCached(position: number, length: number, socket: number): number | undefined {
    if (this.#closed) throw closedAlready()
    return this.#pageCache?.send({ descriptor: this.#descriptor, position, length }, socket)
  }

  async checkUnchanged(): Promise<void> {
    const { size, mtimeMs } = await this.#statNow()
    // Not the ctime: the file may be renamed or removed while it is sent.
    if (size === this.stat.sizeBytes && mtimeMs === this.#mtimeMs) return
    throw new AppError('failed', 'the recording changed while it was read')
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeWhenIdle()
    return this.#closed
  }

  async #statNow(): Promise<Stats> {
    let stats: Stats | undefined
    await this.#run((done) => {
      fstat(this.#descriptor, (error, found) => {
        stats = found
        done(error, 0)
      })
    })
    if (stats === undefined) throw new AppError('failed', 'the recording cannot be read')
    return stats
  }

  #run(start: (done: (error: Error | null, bytesRead: number) => void) => void): Promise<number> {
    if (this.#closed) return Promise.reject(closedAlready())
    this.#readsUnderWay += 1
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, bytesRead: number): void => {
        this.#leave()
        if (error) reject(new AppError('failed', 'the recording cannot be read', { cause: error }))
        else resolve(bytesRead)
      }
      try {
        start(done)
      } catch (error) {
        // Node validates arguments first; the callback is not called then.
        this.#leave()
        reject(error)
      }
    })
  }

  #leave(): void {
    this.#readsUnderWay -= 1
    if (this.#readsUnderWay === 0) this.#onIdle?.()
  }

  async #closeWhenIdle(): Promise<void> {
    if (this.#readsUnderWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    await closeDescriptor(this.#descriptor)
    this.#onClosed?.()
  }
}

function closedAlready(): AppError {
  return new AppError('failed', 'the file is already closed')
}
