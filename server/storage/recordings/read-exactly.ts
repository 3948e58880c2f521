// Reads that must be complete: a short read means that the recording became shorter.
import { AppError } from '../../base/errors.ts'
import type { OpenFile } from './storage.ts'

/** Reads `length` bytes into memory of their own. Throws as `fillExactly`. */
export async function readExactly(
  file: OpenFile,
  position: number,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  await fillExactly(file, bytes, position)
  return bytes
}

/** Fills the buffer. Throws AppError `failed` if the file ends before. */
export async function fillExactly(
  file: OpenFile,
  buffer: Uint8Array,
  position: number,
): Promise<void> {
  let filled = 0
  while (filled < buffer.length) {
    const count = await file.read(buffer.subarray(filled), position + filled)
    if (count <= 0) throw new AppError('failed', 'the recording became shorter while it was read')
    filled += count
  }
}
