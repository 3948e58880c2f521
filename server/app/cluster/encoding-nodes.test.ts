// Encodes as jobs in a real PostgreSQL.
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { soon } from '../../../test/support/patience.ts'
import { prepareJobDatabase } from '../../../test/support/servers/job-database.ts'
import { isAppError } from '../../base/errors.ts'
import type { JobQueues } from '../../cluster/jobs/job-queues.ts'
import { parseEncodeJob } from '../../cluster/jobs/job-shapes.ts'
import { runJobs } from '../../cluster/jobs/run-jobs.ts'
import type { JobRunnerOptions } from '../../cluster/jobs/run-jobs.ts'
import { JobEncodes } from './encoding-nodes.ts'

const session = { streamer: 'alice', date: '2026-02-01', sessionId: '1' }
const pauses = { pollMs: 20, retryMs: 20, extendMs: 1000 }

const database = prepareJobDatabase()

/** A node that serves, and looks for nodes with this encoder. */
async function serve(offer: string): Promise<JobEncodes> {
  const queues = await database.openQueues()
  const encodes = new JobEncodes({ queues, offer, pauses: { offerMs: 20, jobMs: 20 } })
  const running = encodes.run(database.signal)
  database.defer(async () => running)
  return encodes
}

/** A node that encodes. */
async function encodeWith(work: JobRunnerOptions['work']): Promise<JobQueues> {
  const queues = await database.openQueues()
  await queues.offer('encoder 1')
  const options = { queues, queue: 'encodes', concurrency: 1, pauses, work } as const
  const running = runJobs({ ...options, onFailed: () => undefined }, database.signal)
  database.defer(async () => running)
  return queues
}

function file(name: string) {
  return { session, version: 'v', name }
}

const wanted = () => ({ isWanted: true, signal: database.signal })

it('other nodes encode what visitors wait for, and report how it ended', async () => {
  const names: string[] = []
  await encodeWith(async (data) => {
    const name = parseEncodeJob(data)?.name ?? ''
    names.push(name)
    return { status: name }
  })
  const encodes = await serve('encoder 1')
  expect(await encodes.encode(file('done'), wanted())).toBe(true)
  expect(await encodes.encode(file('failed'), wanted())).toBe(false)
  await expect(encodes.encode(file('busy'), wanted())).rejects.toMatchObject({ code: 'busy' })
  expect(names).toEqual(['done', 'failed', 'busy'])
})

it('a node encodes itself if no other one has its encoder, or the last one ends', async () => {
  const queues = await encodeWith(
    async (_data, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  )
  const other = await serve('encoder 2')
  expect(await other.encode(file('a'), wanted())).toBe(false)
  const encodes = await serve('encoder 1')
  const encoded = encodes.encode(file('a'), wanted())
  await queues.close()
  expect(await encoded).toBe(false)
})

it('a node encodes itself what others do not take because they lack the recordings', async () => {
  const queues = await database.openQueues()
  await queues.offer('encoder 1')
  const encodes = await serve('encoder 1')
  const encoded = encodes.encode(file('a'), wanted())
  const key = createHash('sha256').update('v/a').digest('base64url')
  await expect.poll(async () => queues.find('encodes', { key }), soon).toBeDefined()
  await queues.withdraw()
  expect(await encoded).toBe(false)
  await queues.offer('encoder 1')
  const offered = async () => encodes.encode(file('b'), { ...wanted(), isWanted: false })
  await expect.poll(offered, soon).toBe(true)
})

it('nobody waits for the first lookup of nodes after leaving', async () => {
  const queues = await database.openQueues()
  const encodes = new JobEncodes({ queues, offer: 'encoder 1' })
  const leaving = new AbortController()
  const encoded = encodes.encode(file('a'), { isWanted: true, signal: leaving.signal })
  leaving.abort(new Error('gone'))
  await expect(encoded).rejects.toThrow('gone')
})

it('nothing is encoded elsewhere that nobody waits for yet', async () => {
  const queues = await encodeWith(async () => ({ status: 'done' }))
  const encodes = await serve('encoder 1')
  expect(await encodes.encode(file('a'), { ...wanted(), isWanted: false })).toBe(true)
  expect(await queues.take('encodes', 1)).toEqual([])
})

it('a job is cancelled when nobody waits any more, and added again for others', async () => {
  const ids: string[] = []
  const queues = await encodeWith(async (_data, _signal, id) => {
    ids.push(id)
    return ids.length > 1 ? { status: 'done' } : cancelled.promise
  })
  const cancelled = Promise.withResolvers<void>()
  const [first, second] = [await serve('encoder 1'), await serve('encoder 1')]
  const leaving = new AbortController()
  const abandoned = first.encode(file('a'), { isWanted: true, signal: leaving.signal })
  await expect.poll(() => ids.length, soon).toBe(1)
  const encoded = second.encode(file('a'), wanted())
  leaving.abort(new Error('gone'))
  await expect(abandoned).rejects.toThrow('gone')
  const stateOf = async () => (await queues.find('encodes', { id: ids[0] ?? '' }))?.state
  await expect.poll(stateOf, soon).toBe('cancelled')
  cancelled.resolve()
  expect(await encoded).toBe(true)
  expect(ids.length).toBe(2)
})

it('a node has a limited number of jobs, and refuses what cannot wait', async () => {
  const jobs = new Set<string>()
  const queues = {
    addOne: async () => Promise.resolve(`${jobs.add(`${jobs.size}`).size}`),
    find: async () => Promise.resolve({ state: 'active', output: {} } as const),
    cancel: async () => Promise.resolve(),
    hasOffer: async () => Promise.resolve(true),
  }
  const encodes = new JobEncodes({ queues, offer: 'encoder 1' })
  const running = encodes.run(database.signal)
  database.defer(async () => running)
  const leaving = new AbortController()
  const visitor = { isWanted: true, signal: leaving.signal }
  let refused = 0
  const encoding = Array.from({ length: 200 }, async (_, nth) =>
    encodes.encode(file(`${nth}`), visitor).catch((error: unknown) => {
      if (isAppError(error, 'busy')) refused += 1
    }),
  )
  // More are refused if the machine is so slow that others have waited for too long.
  await expect.poll(() => refused, soon).toBeGreaterThanOrEqual(200 - 64 - 32)
  expect(jobs.size).toBe(64)
  leaving.abort()
  await Promise.all(encoding)
})
