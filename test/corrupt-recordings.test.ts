// Every reader on corrupt copies of every fixture: it reads or refuses them, in bounded time,
// within the file.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { watchCpu } from './support/cpu-time.ts'
import { createRandom, corrupt } from './support/make/corrupt.ts'
import { exerciseRecording } from './support/verify/exercise-recording.ts'

const FOLDER = path.resolve(import.meta.dirname, 'fixtures/media')
const names = readdirSync(FOLDER).filter((name) => !name.endsWith('.md'))
/** Copies of one file. */
const COPIES = 100
/** Copies of large files are truncated to this, so that many can be tested. */
const MAX_BYTES = 1024 * 1024
/** One in this many copies is also tested as a growing recording. */
const GROWN_EVERY = 2
/** Of processor time, far above what any copy takes. */
const MAX_MS = 5000

test.each(names)('corrupt copies of %s are read or refused', async (name) => {
  const original = readFileSync(path.join(FOLDER, name)).subarray(0, MAX_BYTES)
  const random = createRandom(20_260_131)
  for (let copy = 0; copy < COPIES; copy += 1) {
    const bytes = corrupt(original, random)
    const cpuMs = watchCpu()
    const grownFrom = copy % GROWN_EVERY === 0 ? random(bytes.length + 1) : undefined
    const outcome = exerciseRecording(bytes, grownFrom)
    await expect(outcome, `copy ${copy}`).resolves.toMatch(/^(?:read|refused)$/)
    expect(cpuMs(), `copy ${copy}`).toBeLessThan(MAX_MS)
  }
})
