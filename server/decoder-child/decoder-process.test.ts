import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isAppError } from '../errors.ts'
import { DecoderProcess } from './decoder-process.ts'
import { patienceMs } from '../../test/support/patience.ts'

const limits = {
  startMs: 60_000,
  jobMs: 1000,
  residentBytes: 2 ** 30,
  cpuSeconds: 300,
  idleMs: 60_000,
}
const confinement = {
  parts: new Set<never>(),
  isRoot: false,
  nodePath: process.execPath,
  readable: [],
}
const { signal } = new AbortController()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-decoder-'))
})

afterAll(() => rm(folder, { recursive: true }))

/** The result of a job in a child that runs this code. */
async function runJob(name: string, onJob: string): Promise<string> {
  const file = path.join(folder, `${name}.mjs`)
  await writeFile(
    file,
    `process.on('message', () => { ${onJob} }); process.send({ status: 'ready' })`,
  )
  const child = new DecoderProcess<object, never>({ file, name }, limits, confinement)
  try {
    const result = await child.run({}, signal)
    return result.status === 'killed' ? result.reason : result.status
  } catch (error) {
    if (isAppError(error, 'busy')) return 'busy'
    throw error
  } finally {
    child.kill('the test is over')
  }
}

it('kills a process that exceeds the time limit', async () => {
  // On a busy machine the job may have to be repeated.
  const what = () => runJob('spinning', 'for (;;) {}')
  await expect.poll(what, { timeout: patienceMs }).toBe('the job exceeded its time limit')
})

it.runIf(process.platform === 'linux')('reports a job that got no processor time', async () => {
  expect(await runJob('waiting', '')).toBe('busy')
})
