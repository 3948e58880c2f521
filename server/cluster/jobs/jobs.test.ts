// Inspections as jobs in a real PostgreSQL: every job runs once, on some node, and its result
// reaches the scanning node, whatever ends in between.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { soon } from '../../../test/support/patience.ts'
import { prepareJobDatabase } from '../../../test/support/servers/job-database.ts'
import { startPgBouncer } from '../../../test/support/servers/pgbouncer.ts'
import { queryOnce } from '../../../test/support/servers/postgres.ts'
import type { InspectableRecording } from '../../library/catalog/scan/inspector.ts'
import { InspectionJobs } from './inspection-jobs.ts'
import type { FetchedJob, JobQueues } from './job-queues.ts'
import { parseInspections } from './job-shapes.ts'
import type { InspectionJobOutcome } from './job-shapes.ts'
import { runInspections } from './run-inspections.ts'
import { runJobs } from './run-jobs.ts'

const database = prepareJobDatabase()

const inspectionPauses = { resultsMs: 20, requestsMs: 20, retryMs: 20, repeatMs: 60_000 }
const jobPauses = { pollMs: 20, retryMs: 20, extendMs: 1000 }
const playable = { status: 'playable', durationSeconds: 61.5, isFlawed: false } as const

function recording(name: string, isRequested = false): InspectableRecording {
  return {
    path: `alice/2026-02-01/${name}.ts`,
    kind: 'file',
    stat: { sizeBytes: 1000, modifiedMs: 1_770_000_000_000, version: `v-${name}` },
    settlesAtMs: 0,
    session: { streamer: 'alice', date: '2026-02-01', sessionId: name },
    isRequested,
  }
}

/** The scanning node. */
function scanWith(
  queues: JobQueues,
  { pauses = inspectionPauses }: { pauses?: typeof inspectionPauses } = {},
): { jobs: InspectionJobs; requested: string[] } {
  const requested: string[] = []
  const jobs = new InspectionJobs({
    queues,
    onRequested: ({ sessionId }) => requested.push(sessionId),
    pauses,
  })
  const running = jobs.run(database.signal)
  database.defer(async () => running)
  return { jobs, requested }
}

/** A node that inspects; returns the paths of the recordings that it has begun to inspect. */
function inspectWith(
  queues: JobQueues,
  outcomeOf: (path: string, signal: AbortSignal) => Promise<InspectionJobOutcome> = async () =>
    playable,
  {
    signal = database.signal,
    concurrency = 1,
    isReady = (): boolean => true,
    holdMs = 60_000,
  } = {},
): string[] {
  const paths: string[] = []
  const inspect = async ({ path }: { path: string }, attempt: AbortSignal) => {
    paths.push(path)
    return outcomeOf(path, attempt)
  }
  const options = { queues, inspect, holdMs }
  const running = runJobs(
    {
      queues,
      queue: 'inspections',
      concurrency,
      isReady,
      work: async (data, attempt) => runInspections(data, options, attempt),
      onFailed: () => undefined,
      pauses: jobPauses,
    },
    signal,
  )
  database.defer(async () => running)
  return paths
}

it('runs each inspection once, on any node, and returns its result', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const ran = [inspectWith(await database.openQueues()), inspectWith(await database.openQueues())]
  const names = Array.from({ length: 40 }, (_, i) => `s${i}`)
  const found = await Promise.all(
    names.map(async (name) => jobs.inspect(recording(name), database.signal)),
  )
  expect(found).toEqual(names.map(() => playable))
  expect(ran.flat().toSorted()).toEqual(names.map((name) => recording(name).path).toSorted())
})

it('returns the result to each row of a recording that was removed and found again', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const { signal } = database
  const before = jobs.inspect(recording('s'), signal)
  const after = jobs.inspect(recording('s'), signal)
  inspectWith(await database.openQueues())
  expect(await Promise.all([before, after])).toEqual([playable, playable])
})

it('reports unplayable, deleted and unreadable recordings to the scanning node', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const unplayable = { status: 'unplayable', reason: { code: 'encrypted' } } as const
  inspectWith(await database.openQueues(), async (path) => {
    if (path.includes('bad')) return unplayable
    return { status: path.includes('gone') ? 'gone' : 'failed' }
  })
  const { signal } = database
  expect(await jobs.inspect(recording('bad'), signal)).toEqual(unplayable)
  await expect(jobs.inspect(recording('gone'), signal)).rejects.toMatchObject({ code: 'gone' })
  await expect(jobs.inspect(recording('dead'), signal)).rejects.toMatchObject({ code: 'failed' })
})

it('runs what a visitor requested before what was added earlier', async () => {
  const queues = await database.openQueues()
  const { jobs, requested } = scanWith(queues)
  const { signal } = database
  const first = jobs.inspect(recording('earlier'), signal)
  const second = jobs.inspect(recording('requested', true), signal)
  await expect.poll(async () => countJobs('inspections'), soon).toBe(2)
  const order = inspectWith(await database.openQueues())
  await Promise.all([first, second])
  expect(order).toEqual([recording('requested').path, recording('earlier').path])

  await queues.add('requests', [{ data: recording('later').session, key: 'later' }])
  await expect.poll(() => requested, soon).toEqual(['later'])
})

it('repeats the job of a node that has died, and not that of one that works for long', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const slow = Promise.withResolvers<InspectionJobOutcome>()
  const slowRan = inspectWith(await database.openQueues(), async () => slow.promise)
  const inspectedSlowly = jobs.inspect(recording('slow'), database.signal)
  await expect.poll(() => slowRan.length, soon).toBe(1)
  const dead = await database.openQueues()
  const abandoned = [recording('s1', true), recording('s2'), recording('s3')]
  const inspected = abandoned.map(async (one) => jobs.inspect(one, database.signal))
  const taken: FetchedJob[] = []
  const take = async (): Promise<unknown> => taken.push(...(await dead.take('inspections', 2)))
  await expect.poll(take, soon).toBe(2)
  const ran = inspectWith(await database.openQueues())
  expect(await Promise.all(inspected)).toEqual([playable, playable, playable])
  expect(ran.toSorted()).toEqual(abandoned.map(({ path }) => path))
  slow.resolve(playable)
  expect(await inspectedSlowly).toEqual(playable)
  expect(slowRan).toHaveLength(1)
})

it('gives up a job that ends every node', async () => {
  const queues = await database.openQueues()
  const { jobs } = scanWith(queues)
  const inspected = jobs.inspect(recording('poison'), database.signal)
  const failure = inspected.catch((error: unknown) => error)
  let crashes = 0
  const crash = async (): Promise<number> => {
    const taken: FetchedJob[] = await queues.take('inspections', 1)
    crashes += taken.length
    await queues.giveBack('inspections', taken)
    return crashes
  }
  await expect.poll(crash, { ...soon, interval: 10 }).toBe(4)
  expect(await failure).toMatchObject({ code: 'failed' })
})

it('adds small recordings in batches, large and requested ones alone', async () => {
  const { jobs } = scanWith(await database.openQueues(), {
    pauses: { ...inspectionPauses, repeatMs: 100 },
  })
  const sized = (name: string, sizeBytes: number): InspectableRecording => {
    const one = recording(name)
    return { ...one, stat: { ...one.stat, sizeBytes } }
  }
  const small = Array.from({ length: 40 }, (_, i) => recording(`s${i}`))
  const others = [recording('requested', true), sized('large', 10 ** 9)]
  const together = [sized('first', 40 * 2 ** 20), sized('second', 40 * 2 ** 20)]
  const all = [...small, ...others, ...together]
  const found = all.map(async (one) => jobs.inspect(one, database.signal))
  await expect.poll(async () => countJobs('inspections'), soon).toBe(6)
  // Added again, without effect.
  await expect.poll(async () => countJobs('inspections'), soon).toBe(6)
  const queues = await database.openQueues()
  const taken = await queues.take('inspections', 10)
  const counts = taken.map(({ data }) => parseInspections(data).length)
  expect(counts.toSorted((a, b) => b - a)).toEqual([16, 16, 9, 1, 1, 1])
  await queues.giveBack('inspections', taken)
  inspectWith(queues)
  expect(await Promise.all(found)).toEqual(all.map(() => playable))
})

it('inspects the others of a batch although one recording ends every node', async () => {
  const queues = await database.openQueues()
  const { jobs } = scanWith(queues)
  const names = ['s1', 'poison', 's2', 's3']
  const inspected = Promise.allSettled(
    names.map(async (name) => jobs.inspect(recording(name), database.signal)),
  )
  let crashes = 0
  const isCrashing = async (): Promise<number> => {
    for (const job of await queues.take('inspections', 1)) {
      const inspections = parseInspections(job.data)
      if (inspections.some(({ path }) => path.includes('poison'))) {
        crashes += 1
        await queues.giveBack('inspections', [job])
        continue
      }
      const inspect = async (): Promise<InspectionJobOutcome> => playable
      await runInspections(job.data, { queues, inspect }, database.signal)
      await queues.complete('inspections', [job])
    }
    return crashes
  }
  await expect.poll(isCrashing, { ...soon, interval: 10 }).toBe(4)
  let isSettled = false
  void inspected.then(() => (isSettled = true))
  await expect.poll(async () => isCrashing().then(() => isSettled), soon).toBe(true)
  const statuses = (await inspected).map(({ status }) => status)
  expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(crashes).toBe(4)
})

it('leaves the others of a batch to other nodes while one recording takes long', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const slow = Promise.withResolvers<InspectionJobOutcome>()
  const work = async (path: string): Promise<InspectionJobOutcome> =>
    path.includes('slow') ? slow.promise : playable
  const names = ['s1', 'slow', 's2', 's3']
  const inspected = names.map(async (name) => jobs.inspect(recording(name), database.signal))
  await expect.poll(async () => countJobs('inspections'), soon).toBe(1)
  const first = inspectWith(await database.openQueues(), work, { holdMs: 20 })
  await inspected[0]
  const second = inspectWith(await database.openQueues(), work)
  await Promise.all([inspected[2], inspected[3]])
  const paths = names.map((name) => recording(name).path)
  expect([...first, ...second].toSorted()).toEqual(paths.toSorted())
  slow.resolve(playable)
  expect(await inspected[1]).toEqual(playable)
})

it('gives back the jobs of a node that stops', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const stopped = new AbortController()
  const hanging = async (_path: string, signal: AbortSignal): Promise<InspectionJobOutcome> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const first = inspectWith(await database.openQueues(), hanging, { signal: stopped.signal })
  const inspected = jobs.inspect(recording('handed-over'), database.signal)
  await expect.poll(() => first.length, soon).toBe(1)
  const second = inspectWith(await database.openQueues())
  stopped.abort()
  expect(await inspected).toEqual(playable)
  expect(second).toHaveLength(1)
})

it('leaves jobs to other nodes while it is not ready', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const readiness: boolean[] = [false, false, false]
  const isReady = (): boolean => readiness.shift() ?? true
  const unready = inspectWith(await database.openQueues(), undefined, { isReady: () => false })
  const later = inspectWith(await database.openQueues(), undefined, { isReady })
  expect(await jobs.inspect(recording('s1'), database.signal)).toEqual(playable)
  expect([unready.length, later.length, readiness.length]).toEqual([0, 1, 0])
})

it('ignores jobs and results of another version, and adds lost jobs again', async () => {
  const queues = await database.openQueues()
  const { jobs } = scanWith(queues, { pauses: { ...inspectionPauses, repeatMs: 100 } })
  await queues.add('inspections', [{ data: { url: 'x' }, key: 'x' }])
  await queues.add('results', [{ data: { path: 1 } }, { data: { outcome: 'x' } }])
  const inspected = jobs.inspect(recording('lost'), database.signal)
  await expect.poll(async () => countJobs('inspections'), soon).toBe(2)
  await queryOnce(database.url, 'DELETE FROM aftercast_jobs.job')
  inspectWith(queues)
  expect(await inspected).toEqual(playable)
})

it('ends the wait of a scan that stops', async () => {
  const { jobs } = scanWith(await database.openQueues())
  const scan = new AbortController()
  const inspected = jobs.inspect(recording('s1'), scan.signal)
  scan.abort(new Error('stopped'))
  await expect(inspected).rejects.toThrow('stopped')
})

it('works through PgBouncer in transaction mode', async () => {
  const bouncer = await startPgBouncer(database.postgres)
  database.defer(async () => bouncer.stop())
  const at = bouncer.through(database.url)
  const { jobs } = scanWith(await database.openQueues({ url: at }))
  inspectWith(await database.openQueues({ url: at }), undefined, { concurrency: 4 })
  const names = Array.from({ length: 10 }, (_, i) => `s${i}`)
  const found = await Promise.all(
    names.map(async (name) => jobs.inspect(recording(name), database.signal)),
  )
  expect(found).toEqual(names.map(() => playable))
})

it('prepares a database once for nodes that start together, and again if replaced', async () => {
  const nodes = await Promise.all(Array.from({ length: 4 }, async () => database.openQueues()))
  const [first] = nodes
  await queryOnce(database.url, 'DROP SCHEMA aftercast_jobs CASCADE')
  await expect(first?.take('inspections', 1)).rejects.toThrow('aftercast_jobs')
  await first?.prepare()
  const data = { path: 'x' }
  await first?.add('inspections', [
    { data, key: 'one' },
    { data, key: 'one' },
    { data, key: 'two' },
  ])
  expect(await countJobs('inspections')).toBe(2)
  expect([...((await first?.figures())?.keys() ?? [])].toSorted()).toEqual([
    'encodes',
    'inspections',
    'requests',
    'results',
    'thumbnails',
  ])
})

async function countJobs(queue: string): Promise<number> {
  const select = `SELECT count(*)::int AS jobs FROM aftercast_jobs.job WHERE name = '${queue}'`
  const [row] = z.array(z.object({ jobs: z.number() })).parse(await queryOnce(database.url, select))
  return row?.jobs ?? 0
}
