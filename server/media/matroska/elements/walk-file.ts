// Reads a file through a large window, and feeds its bytes to a walk.
import { AppError } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { ReadWindow } from '../../../storage/recordings/read-window.ts'
import type { ElementWalk } from './element-walk.ts'

export interface WalkFileOptions {
  /** Size of one read and of the window, which grows only for large headers. */
  windowBytes: number
  signal?: AbortSignal
}

/** Walks to the end, or to a truncated element. Throws `failed` if the file became shorter. */
export async function walkFile(
  file: OpenFile,
  walk: ElementWalk,
  { windowBytes, signal }: WalkFileOptions,
): Promise<void> {
  const window = new ReadWindow(file, { readBytes: windowBytes, limit: walk.end, signal })
  let needed = 1
  while (walk.position + needed <= walk.end) {
    const { position } = walk
    const length = Math.min(Math.max(needed, windowBytes), walk.end - position)
    await window.need(position, length)
    needed = walk.consume(window.view(position, length))
    if (needed === 0) return
    if (walk.position === position && needed <= length) {
      throw new AppError('failed', 'the recording cannot be read on')
    }
  }
}
