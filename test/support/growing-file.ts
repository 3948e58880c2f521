// Writes a recording as a recorder does: a part at once, then piece by piece, cut anywhere, until it is whole.
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Growing {
  /** Part of the bytes that is there from the beginning, 0 to 1. */
  startShare: number
  /** Seconds in which the rest comes. */
  seconds: number
}

const PIECES_PER_SECOND = 4

/** Resolves when the file is whole; its first part is there at the next turn of the event loop. */
export async function growFile(
  filePath: string,
  bytes: Uint8Array,
  { startShare, seconds }: Growing,
): Promise<void> {
  await mkdir(path.dirname(filePath), { recursive: true })
  let written = Math.floor(bytes.length * startShare)
  await writeFile(filePath, bytes.subarray(0, written))
  const pieces = Math.max(1, Math.round(seconds * PIECES_PER_SECOND))
  const pieceBytes = Math.ceil((bytes.length - written) / pieces)
  while (written < bytes.length) {
    await sleep(1000 / PIECES_PER_SECOND)
    const piece = bytes.subarray(written, written + pieceBytes)
    await appendFile(filePath, piece)
    written += piece.length
  }
}
