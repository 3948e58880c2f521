// Open files for tests: bytes in memory, and files on disk.
import { open } from 'node:fs/promises'
import { fileStat } from '../../server/storage/recordings/folder/open-file.ts'
import type { OpenFile } from '../../server/storage/recordings/storage.ts'

/** Bytes as an open file. A larger `sizeBytes` adds zeros after them. */
export function bytesFile(bytes: Uint8Array, sizeBytes: number = bytes.length): OpenFile {
  async function read(buffer: Uint8Array, position: number): Promise<number> {
    const length = Math.max(0, Math.min(buffer.length, sizeBytes - position))
    buffer.fill(0, 0, length)
    buffer.set(bytes.subarray(position, position + length))
    return Promise.resolve(length)
  }
  return {
    stat: { sizeBytes, modifiedMs: 0, version: '1' },
    read,
    readv: (buffers, position) => readInTurn(read, buffers, position),
    checkUnchanged: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/** A file that counts its reads. */
export function countingFile(file: OpenFile): {
  file: OpenFile
  counts: { reads: number; bytes: number }
} {
  const counts = { reads: 0, bytes: 0 }
  const counted = async (reading: Promise<number>): Promise<number> => {
    const length = await reading
    counts.reads += 1
    counts.bytes += length
    return length
  }
  const counting: OpenFile = {
    ...file,
    read: (buffer, position) => counted(file.read(buffer, position)),
    readv: (buffers, position) => counted(file.readv(buffers, position)),
  }
  return { file: counting, counts }
}

/** Opens a file on disk; the caller closes it. */
export async function openDiskFile(path: string): Promise<OpenFile> {
  const handle = await open(path)
  const stat = fileStat(await handle.stat())
  async function read(buffer: Uint8Array, position: number): Promise<number> {
    return (await handle.read(buffer, 0, buffer.length, position)).bytesRead
  }
  return {
    stat,
    read,
    readv: (buffers, position) => readInTurn(read, buffers, position),
    checkUnchanged: () => Promise.resolve(),
    close: () => handle.close(),
  }
}

async function readInTurn(
  read: OpenFile['read'],
  buffers: readonly Uint8Array[],
  position: number,
): Promise<number> {
  let total = 0
  for (const buffer of buffers) {
    const length = await read(buffer, position + total)
    total += length
    if (length < buffer.length) break
  }
  return total
}
