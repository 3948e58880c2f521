import { readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { serialize } from 'node:v8'
import { expect, it } from 'vitest'
import { childCode } from '../../../test/support/child-code.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { isAppError } from '../../base/errors.ts'
import { DecoderProcess } from './decoder-process.ts'
import { receiveMessages } from './message-pipe.ts'
import { patienceMs, soon } from '../../../test/support/patience.ts'

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
  readable: [path.resolve(import.meta.dirname, '../../..')],
}
const { signal } = new AbortController()
const folder = makeTempFolder('decoder')

/** The result of a job in a child that runs this code. */
async function runJob(name: string, onJob: string, jobMs = limits.jobMs): Promise<string> {
  const file = path.join(folder, `${name}.mjs`)
  await writeFile(file, childCode(onJob))
  const child = new DecoderProcess({ file, name }, { ...limits, jobMs }, confinement)
  try {
    const parse = (value: unknown) => (typeof value === 'number' ? value : undefined)
    const result = await child.run({ job: {}, parse }, signal)
    return result.status === 'done' ? result.status : result.reason
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

it.runIf(process.platform === 'linux')('has its niceness in all of its threads', async () => {
  const file = path.join(folder, 'nice.mjs')
  await writeFile(file, childCode("send({ status: 'done', value: 1 })"))
  const program = { file, name: 'nice', niceness: constants.priority.PRIORITY_LOW }
  const child = new DecoderProcess(program, { ...limits, jobMs: patienceMs }, confinement)
  await child.run({ job: {}, parse: (value) => value }, signal)
  const tasks = `/proc/${child.pid}/task`
  const stats = (await readdir(tasks)).map((task) =>
    readFileSync(`${tasks}/${task}/stat`, 'latin1'),
  )
  // Field 19 (proc_pid_stat(5)); the name before the third one may contain spaces.
  const niceness = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  child.kill('the test is over')
  expect(niceness.length).toBeGreaterThan(1)
  expect(new Set(niceness)).toEqual(new Set(['19']))
})

it.runIf(process.platform === 'linux')('reports a job that got no processor time', async () => {
  expect(await runJob('waiting', '')).toBe('busy')
})

const writeRaw = (bytes: number[]) => `process.stdout.write(Buffer.of(${bytes.join()}))`
const MALFORMED = 'it sent a malformed message'

it.each([
  ['null', 'send(null)'],
  ['a string', "send('done')"],
  ['no status', 'send({ value: 1 })'],
  ['an unknown status', "send({ status: 'killed' })"],
  ['a second start', "send({ status: 'ready' })"],
  ['a reason that is no text', "send({ status: 'undecodable', reason: { length: 1e9 } })"],
  ['a value of another kind', "send({ status: 'done', value: '1' })"],
  ['no value', "send({ status: 'done' })"],
  ['bytes that are no message', writeRaw([0, 0, 0, 4, 1, 2, 3, 4])],
  ['a message without an end', writeRaw([255, 255, 255, 255, 0])],
])('kills a process that sends %s', async (what, onJob) => {
  expect(await runJob(what.replaceAll(' ', '-'), onJob, patienceMs)).toBe(MALFORMED)
})

it('never reads what a process writes to the channel of Node', async () => {
  // Node ends the process that reads either of these.
  const onJob = `
    const { writeSync } = await import('node:fs')
    let written = 0
    try { written = writeSync(3, Buffer.of(0, 0, 0, 4, 1, 2, 3, 4)) } catch {}
    try { process.send?.({ cmd: 'NODE_HANDLE', type: 'x' }, () => {}) } catch {}
    send({ status: 'done', value: written })`
  expect(await runJob('channel', onJob, patienceMs)).toBe('done')
})

it('takes no reply for the next job', async () => {
  const file = path.join(folder, 'twice.mjs')
  await writeFile(
    file,
    childCode("send({ status: 'done', value: 1 }); send({ status: 'done', value: 1 })"),
  )
  const child = new DecoderProcess(
    { file, name: 'twice' },
    { ...limits, jobMs: patienceMs },
    confinement,
  )
  const parse = (value: unknown) => (typeof value === 'number' ? value : undefined)
  await child.run({ job: {}, parse }, signal)
  await expect.poll(() => child.ended, soon).toBe(true)
  expect(await child.run({ job: {}, parse }, signal)).toEqual({
    status: 'killed',
    reason: MALFORMED,
  })
})

it('cuts the reason of a failure, which is logged', async () => {
  const onJob = "send({ status: 'undecodable', reason: 'x'.repeat(100_000) })"
  expect(await runJob('long', onJob, patienceMs)).toHaveLength(500)
})

it('receives messages in any chunks, in linear time', () => {
  const bytes = Buffer.concat(
    ['x'.repeat(300_000), 'second'].flatMap((text) => {
      const value = serialize(text)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(value.length)
      return [length, value]
    }),
  )
  for (const chunkBytes of [1, 7, bytes.length]) {
    const from = new PassThrough()
    const received: unknown[] = []
    receiveMessages(from, { onMessage: (message) => received.push(message) })
    const cpuMs = watchCpu()
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      from.emit('data', bytes.subarray(at, at + chunkBytes))
    }
    expect(received).toEqual(['x'.repeat(300_000), 'second'])
    // Quadratic, it takes more than ten seconds.
    expect(cpuMs()).toBeLessThan(5000)
  }
})
