import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { childCode } from '../../../test/support/child-code.ts'
import { patienceMs, patientDecoder, soon } from '../../../test/support/patience.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { createDecoderPool } from './decoder-pool.ts'

const limits = { ...patientDecoder, residentBytes: 2 ** 30, cpuSeconds: 300 }

it('replaces the process of a job that is stopped', async () => {
  const file = path.join(makeTempFolder('pool'), 'child.mjs')
  const reply = "send({ status: 'done', value: process.pid })"
  await writeFile(file, childCode(`if (!job.hangs) ${reply}`))
  const confinement = {
    parts: new Set<never>(),
    isRoot: false,
    nodePath: process.execPath,
    readable: [path.resolve(import.meta.dirname, '../../..')],
  }
  const sandbox = { detect: async () => confinement }
  const queue = { limit: 1, waiting: 1, busyMessage: 'busy' }
  const program = { file, name: 'child' }
  const pool = createDecoderPool<object>({ program, limits, queue }, { sandbox })
  onTestFinished(() => pool.close())
  const signal = AbortSignal.timeout(patienceMs)
  const parse = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const idOf = async (): Promise<unknown> => pool.run({ job: {}, parse }, signal)
  const first = await idOf()
  const stopJob = async (): Promise<unknown> => {
    const stop = new AbortController()
    const stopped = pool.run({ job: { hangs: true }, parse, stop: stop.signal }, signal)
    setTimeout(() => stop.abort(new Error('not needed')), 10)
    await expect(stopped).rejects.toThrow('not needed')
    return idOf()
  }
  // A job that is stopped before it has begun leaves its process.
  await expect.poll(stopJob, soon).not.toEqual(first)
})
