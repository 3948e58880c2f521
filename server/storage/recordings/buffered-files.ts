// Small files that are read once, into memory, because all of their bytes are needed more than
// once.
import type { OpenFile } from './storage.ts'

export interface BufferLimits {
  /** Larger files are not buffered. */
  maxFileBytes: number
  /** Of all files that are buffered at one moment; further ones are read as they are. */
  maxTotalBytes: number
}

/** Buffers files within limits. */
export class BufferedFiles {
  readonly #maxFileBytes: number
  #freeBytes: number
  /** The buffer of the last file is used for the next one: readers copy what they store. */
  #spare: Buffer | undefined

  constructor({ maxFileBytes, maxTotalBytes }: BufferLimits) {
    this.#maxFileBytes = maxFileBytes
    this.#freeBytes = maxTotalBytes
  }

  /** Calls `work` with the file, in memory if it is small enough. The caller closes it. */
  async use<Value>(file: OpenFile, work: (file: OpenFile) => Promise<Value>): Promise<Value> {
    const { sizeBytes } = file.stat
    if (sizeBytes > Math.min(this.#maxFileBytes, this.#freeBytes)) return work(file)
    this.#freeBytes -= sizeBytes
    const buffer = this.#takeBuffer(sizeBytes)
    try {
      return await work(await bufferFile(file, buffer.subarray(0, sizeBytes)))
    } finally {
      this.#freeBytes += sizeBytes
      if (buffer.length > (this.#spare?.length ?? 0)) this.#spare = buffer
    }
  }

  #takeBuffer(sizeBytes: number): Buffer {
    const spare = this.#spare
    if (spare === undefined || spare.length < sizeBytes) return Buffer.allocUnsafeSlow(sizeBytes)
    this.#spare = undefined
    return spare
  }
}

/** The same file; it is as long as what could be read of it. */
async function bufferFile(file: OpenFile, buffer: Buffer): Promise<OpenFile> {
  const bytes = buffer.subarray(0, await file.read(buffer, 0))
  const readCached = (buffers: readonly Uint8Array[], position: number): number => {
    let total = 0
    for (const target of buffers) {
      total += bytes.copy(target, 0, Math.min(position + total, bytes.length))
    }
    return total
  }
  return {
    stat: file.stat,
    readCached,
    read: async (target, position) => readCached([target], position),
    readv: async (targets, position) => readCached(targets, position),
    checkUnchanged: async () => file.checkUnchanged(),
    close: async () => file.close(),
  }
}
