// Writes a recording like a recorder does: a first part at once, then chunks of any size.
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Growing {
  /** Share of the bytes in the first part, 0 to 1. */
  startShare: number
  /** Seconds for the rest. */
  seconds: number
  /**
   * Until it resolves, only a trickle is written: enough to count as growing. Default: resolved.
   */
  after?: Promise<unknown>
}

const PAUSE_MS = 250
const TRICKLE_BYTES = 100

/**
 * Resolves when the file is complete; its first part exists at the next turn of the event loop.
 * Rejects if `after` does.
 */
export async function growFile(
  filePath: string,
  bytes: Uint8Array,
  { startShare, seconds, after = Promise.resolve() }: Growing,
): Promise<void> {
  await mkdir(path.dirname(filePath), { recursive: true })
  let written = Math.floor(bytes.length * startShare)
  await writeFile(filePath, bytes.subarray(0, written))
  const append = async (count: number): Promise<void> => {
    await appendFile(filePath, bytes.subarray(written, written + count))
    written = Math.min(bytes.length, written + count)
  }
  await repeatUntil(after, () => append(TRICKLE_BYTES))
  const chunks = Math.max(1, Math.round((seconds * 1000) / PAUSE_MS))
  const chunkBytes = Math.ceil((bytes.length - written) / chunks)
  while (written < bytes.length) {
    await sleep(PAUSE_MS)
    await append(chunkBytes)
  }
}

/** Repeats the work several times a second until the promise resolves. Rejects if it does. */
async function repeatUntil(promise: Promise<unknown>, work: () => Promise<void>): Promise<void> {
  const isDone = promise.then(() => true)
  while (!(await Promise.race([isDone, sleep(PAUSE_MS, false)]))) await work()
}
