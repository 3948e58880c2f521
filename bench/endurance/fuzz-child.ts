// One process of `npm run bench -- fuzz`: mutates one file repeatedly, and reports after each copy.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRandom, corrupt } from '../../test/support/make/corrupt.ts'
import { exerciseRecording } from '../../test/support/verify/exercise-recording.ts'

/** The parent's order: copies `from` to `to` of a file; each copy has its own seed. */
export interface FuzzJob {
  path: string
  from: number
  to: number
  /** The current mutated bytes are written here, so that the input of a crash is saved. */
  copyPath: string
}

/** After each `copy` and `failure` the child waits for a message. */
export type FuzzReport =
  | { kind: 'started' }
  | { kind: 'copy'; outcome: 'read' | 'refused'; ms: number; residentBytes: number }
  | { kind: 'failure'; copy: number; message: string }
  | { kind: 'done' }

/** Copies of large files are truncated to this, so that many can be tested. */
const MAX_BYTES = 5 * 1024 * 1024
/** One in this many copies is also tested as a growing recording. */
const GROWN_EVERY = 2

process.once('message', (job: FuzzJob) => void run(job))

async function run({ path, from, to, copyPath }: FuzzJob): Promise<void> {
  say({ kind: 'started' })
  const original = readFileSync(path).subarray(0, MAX_BYTES)
  for (let copy = from; copy < to; copy += 1) {
    const random = createRandom(copy)
    const bytes = corrupt(original, random)
    const grownFrom = copy % GROWN_EVERY === 0 ? random(bytes.length + 1) : undefined
    writeFileSync(copyPath, bytes)
    const started = performance.now()
    try {
      const outcome = await exerciseRecording(bytes, grownFrom)
      const ms = performance.now() - started
      say({ kind: 'copy', outcome, ms, residentBytes: process.memoryUsage.rss() })
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
      say({ kind: 'failure', copy, message })
    }
    // The parent may save the copy before the next one replaces it.
    await once(process, 'message')
  }
  say({ kind: 'done' })
}

function say(report: FuzzReport): void {
  process.send?.(report)
}
