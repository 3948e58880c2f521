// Reads a file in large pieces and feeds them to a walk: the only place where Matroska is read from storage.
import { AppError } from '../../../errors.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import type { ElementWalk } from './element-walk.ts'

export interface WalkFileOptions {
  /** What is read at once, and the memory that it takes; larger only for heads of the file. */
  windowBytes: number
  signal?: AbortSignal
}

/** Walks to the walk's end, or as far as its elements are whole. Throws AppError `failed` where the file became shorter. */
export async function walkFile(
  file: OpenFile,
  walk: ElementWalk,
  { windowBytes, signal }: WalkFileOptions,
): Promise<void> {
  let window = new Uint8Array()
  let needed = 1
  while (walk.position + needed <= walk.end) {
    signal?.throwIfAborted()
    const { position } = walk
    const length = Math.min(Math.max(needed, windowBytes), walk.end - position)
    if (window.length < length) window = new Uint8Array(length)
    const bytes = window.subarray(0, length)
    await readFully(file, bytes, position)
    needed = walk.consume(bytes)
    if (needed === 0) return
    if (walk.position === position && needed <= length) {
      throw new AppError('failed', 'the recording cannot be read on')
    }
  }
}

/** Fills `bytes` from `position` on. Throws AppError `failed` where the file ends before. */
export async function readFully(
  file: OpenFile,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let filled = 0
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled), position + filled)
    if (count <= 0) throw new AppError('failed', 'the recording became shorter while it was read')
    filled += count
  }
}
