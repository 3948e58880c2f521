import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isAppError } from '../errors.ts'
import { DecoderProcess } from './decoder-process.ts'
import { patienceMs } from '../../test/support/patience.ts'

const limits = { startMs: 60_000, jobMs: 1000, residentBytes: 2 ** 30, idleMs: 60_000 }
const { signal } = new AbortController()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-decoder-'))
})

afterAll(() => rm(folder, { recursive: true }))

/** What becomes of a job of a child that does this with it. */
async function runJob(name: string, onJob: string): Promise<string> {
  const file = path.join(folder, `${name}.mjs`)
  await writeFile(
    file,
    `process.on('message', () => { ${onJob} }); process.send({ status: 'ready' })`,
  )
  const child = new DecoderProcess<object, never>({ file, name }, limits)
  try {
    const answer = await child.run({}, signal)
    return answer.status === 'killed' ? answer.reason : answer.status
  } catch (error) {
    if (isAppError(error, 'busy')) return 'busy'
    throw error
  } finally {
    child.kill('the test is over')
  }
}

it('kills a process that works for too long', async () => {
  // Where other work leaves it no time, another try will do.
  const what = () => runJob('spinning', 'for (;;) {}')
  await expect.poll(what, { timeout: patienceMs }).toBe('it took too long')
})

it.runIf(process.platform === 'linux')('tells one that had no time to work', async () => {
  expect(await runJob('waiting', '')).toBe('busy')
})
