// Writes a recording as a recorder does: a part at once, then piece by piece, cut anywhere, until it is whole.
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Growing {
  /** Part of the bytes that is there from the beginning, 0 to 1. */
  startShare: number
  /** Seconds in which the rest comes. */
  seconds: number
  /** Until it resolves, hardly anything comes: enough to be seen as being written. At once where absent. */
  after?: Promise<unknown>
}

const PAUSE_MS = 250
const TRICKLE_BYTES = 100

/** Resolves when the file is whole; its first part is there at the next turn of the event loop. Rejects where `after` does. */
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

/** Does what recorders do while they wait, several times a second, until the promise resolves. Rejects where it does. */
async function repeatUntil(promise: Promise<unknown>, work: () => Promise<void>): Promise<void> {
  const isDone = promise.then(() => true)
  while (!(await Promise.race([isDone, sleep(PAUSE_MS, false)]))) await work()
}
