// Reads a sidecar through storage, in chunks, into a parser.
import type { FileStat, Storage } from '../../storage/recordings/storage.ts'
import type { SidecarParser } from './sidecar-parser.ts'

/** Larger sidecars are ignored. */
export const MAX_SIDECAR_BYTES = 16 * 1024 * 1024
/** The slowest parser takes about 5 ms for it. */
const CHUNK_BYTES = 32 * 1024

/** A parsed file: undefined if it is not valid. */
export interface ReadSidecar<Value> {
  stat: FileStat
  value: Value | undefined
}

/**
 * The content of the file at `path`.
 *
 * @throws AppError `not_found`; `gone`, `failed` or `busy` if it is not readable, or changes
 */
export async function readSidecar<Value>(
  storage: Pick<Storage, 'open'>,
  path: string,
  { parser, signal }: { parser: SidecarParser<Value>; signal: AbortSignal },
): Promise<ReadSidecar<Value>> {
  const file = await storage.open(path, { signal })
  try {
    const { stat } = file
    if (stat.sizeBytes > MAX_SIDECAR_BYTES) return { stat, value: undefined }
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, stat.sizeBytes))
    for (let position = 0, isOpen = true; isOpen && position < stat.sizeBytes;) {
      signal.throwIfAborted()
      const length = await file.read(chunk, position)
      isOpen = length > 0 && parser.add(chunk.subarray(0, length))
      position += length
    }
    const value = parser.end()
    await file.checkUnchanged()
    return { stat, value }
  } finally {
    await file.close()
  }
}
