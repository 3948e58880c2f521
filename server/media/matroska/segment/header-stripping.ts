// Restores the bytes that header stripping removed from the start of each frame (RFC 9559
// 5.1.4.1.31.6).
import { AppError } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SampleRun } from '../../media-reader.ts'
import { ReadWindow } from '../../../storage/recordings/read-window.ts'
import { MAX_GATHERED_BYTES } from '../matroska-limits.ts'

const WINDOW_BYTES = 1024 * 1024

/** The run with the bytes of its samples, each starting with the prefix. */
export async function withPrefix(
  file: OpenFile,
  run: SampleRun,
  prefix: Uint8Array,
): Promise<SampleRun> {
  const { sizes, offsets = new Float64Array(), ...rest } = run
  const whole = sizes.map((size) => size + prefix.length)
  const totalBytes = whole.reduce((sum, size) => sum + size, 0)
  if (totalBytes > MAX_GATHERED_BYTES) {
    throw new AppError('failed', 'the segment has more bytes than can be served')
  }
  const bytes = new Uint8Array(totalBytes)
  const window = new ReadWindow(file, { readBytes: WINDOW_BYTES })
  let at = 0
  for (const [i, size] of sizes.entries()) {
    const offset = offsets[i] ?? 0
    await window.need(offset, size)
    bytes.set(prefix, at)
    bytes.set(window.view(offset, size), at + prefix.length)
    at += prefix.length + size
  }
  return { ...rest, sizes: whole, bytes }
}
