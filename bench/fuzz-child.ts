// One process of `npm run bench -- fuzz`: damages one file again and again, and says after each copy that it lives.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRandom, damage } from '../test/support/damage.ts'
import { exerciseRecording } from '../test/support/exercise-recording.ts'

/** What the parent asks for: copies `from` to `to` of a file; each copy has its own seed. */
export interface FuzzJob {
  path: string
  from: number
  to: number
  /** The damaged bytes under way lie here, so that what kills the process is kept. */
  copyPath: string
}

/** After each `copy` and `failure` the child waits for a message. */
export type FuzzReport =
  | { kind: 'started' }
  | { kind: 'copy'; outcome: 'read' | 'refused'; ms: number; residentBytes: number }
  | { kind: 'failure'; copy: number; message: string }
  | { kind: 'done' }

/** Copies of large files are cut to this, so that many can be looked at. */
const MAX_BYTES = 5 * 1024 * 1024
/** One in so many copies is also looked at as a recording that grows. */
const GROWN_EVERY = 2

process.once('message', (job: FuzzJob) => void run(job))

async function run({ path, from, to, copyPath }: FuzzJob): Promise<void> {
  say({ kind: 'started' })
  const original = readFileSync(path).subarray(0, MAX_BYTES)
  for (let copy = from; copy < to; copy += 1) {
    const random = createRandom(copy)
    const bytes = damage(original, random)
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
    // The parent may keep the copy, which the next one replaces.
    await once(process, 'message')
  }
  say({ kind: 'done' })
}

function say(report: FuzzReport): void {
  process.send?.(report)
}
