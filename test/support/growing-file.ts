// Writes a recording as a recorder does: in chunks of any size, until it is complete.
import { appendFile, mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RECORDED_AT } from './temp-library.ts'

export interface Growth {
  /** Share of the bytes that the file has from the beginning, 0 to 1. */
  startShare: number
  /** The rest is written once it resolves. */
  played: Promise<unknown>
}

/**
 * The server of a test takes a recording for growing if it was modified within this time: longer
 * than any test, so that a busy machine never ends a recording early. `settle` ends it.
 */
export const settleSeconds = 3600

const chunkCount = 16
const pauseMs = 250

/** Resolves when the file is complete and settled. Rejects where `played` does. */
export async function growFile(filePath: string, bytes: Uint8Array, growth: Growth): Promise<void> {
  await grow(filePath, bytes, growth)
  await settle(filePath)
}

/** Resolves when the file is complete, but modified lately. Rejects where `played` does. */
export async function grow(
  filePath: string,
  bytes: Uint8Array,
  { startShare, played }: Growth,
): Promise<void> {
  await mkdir(path.dirname(filePath), { recursive: true })
  let written = Math.floor(bytes.length * startShare)
  await writeFile(filePath, bytes.subarray(0, written))
  await played
  const chunkBytes = Math.ceil((bytes.length - written) / chunkCount)
  while (written < bytes.length) {
    await sleep(pauseMs)
    await appendFile(filePath, bytes.subarray(written, written + chunkBytes))
    written += chunkBytes
  }
}

/** Dates the file back: it was not modified for long, so it is finished. */
export async function settle(filePath: string): Promise<void> {
  await utimes(filePath, RECORDED_AT, RECORDED_AT)
}
