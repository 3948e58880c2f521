// Renditions in a cluster: nodes that only work encode for those that serve.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, inject, it, vi } from 'vitest'
import { z } from 'zod'
import { playlistApiPath } from '../shared/paths.ts'
import { patienceMs, soon } from './support/patience.ts'
import { createBucket } from './support/servers/bucket.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedSegment } from './support/servers/hls-client.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import { queryOnce, sharedPostgres } from './support/servers/postgres.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const RECORDING = 'mkv-h264-aac-60s.mkv'
const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const job = z.object({ id: z.string(), state: z.string() })

interface Node extends StartedServer {
  /** Value of a metric, summed over its labels. */
  figure(name: string): Promise<number>
}

let library: TempLibrary
let environment: Record<string, string>
let database: string

beforeAll(async () => {
  const [postgres, store] = await Promise.all([
    sharedPostgres(inject('postgresFolder')),
    startObjectStore(),
  ])
  const bucket = await createBucket(store)
  library = await createTempLibrary('encodes')
  await bucket.put('recordings/alice/2026-01-31/1.mkv', await readFile(fixturePath(RECORDING)))
  database = await postgres.createDatabase()
  environment = {
    ...awsEnvironment(store),
    AFTERCAST_S3_PATH_STYLE: 'true',
    AFTERCAST_RECORDINGS: `s3://${bucket.name}/recordings/`,
    AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts/`,
    AFTERCAST_DATABASE_URL: database,
    AFTERCAST_HLS_SECRET: 'secret',
    AFTERCAST_RENDITIONS_VIDEO: '360p',
    AFTERCAST_RENDITIONS_CONCURRENCY: '1',
  }
}, patienceMs)

async function start(name: string, own: Record<string, string> = {}): Promise<Node> {
  const metrics = `127.0.0.1:${await findFreePort()}`
  const command = name.endsWith('worker') ? 'work' : 'serve'
  const data = path.join(library.folder, name)
  mkdirSync(data)
  const jobs = { AFTERCAST_CLUSTER_JOBS: String(command === 'work'), AFTERCAST_METRICS: metrics }
  const variables = { ...environment, ...jobs, ...own }
  const server = await startServer({ command, args: ['--data', data], environment: variables })
  const figure = async (metric: string): Promise<number> => {
    const text = await (await fetch(`http://${metrics}/metrics`)).text()
    const values = text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (?<value>\\S+)$`, 'gm'))
    return [...values].reduce((sum, { groups }) => sum + Number(groups?.value), 0)
  }
  return { ...server, figure }
}

async function listed({ url }: StartedServer): Promise<ListedSegment[]> {
  const fetchListed = async () => fetchPlaylist(`${url}${playlistApiPath(session)}?quality=360p`)
  return (await vi.waitFor(fetchListed, soon)).segments
}

async function hashOf(segment: ListedSegment | undefined): Promise<string> {
  if (segment === undefined) throw new Error('there is no such segment')
  return createHash('sha256')
    .update(await fetchSegment(segment))
    .digest('hex')
}

/** The newest job that encodes. */
async function newestJob(): Promise<z.infer<typeof job> | undefined> {
  const text =
    "SELECT id, state FROM aftercast_jobs.job WHERE name = 'encodes' ORDER BY created_on DESC"
  return z.array(job).parse(await queryOnce(database, text))[0]
}

it('nodes that work encode for those that serve, until they are gone', async () => {
  const alone = await start('alone', {
    AFTERCAST_DATABASE_URL: '',
    AFTERCAST_ARTIFACTS: '',
    AFTERCAST_CLUSTER_JOBS: 'true',
  })
  const expected: string[] = []
  for (const segment of await listed(alone)) expected.push(await hashOf(segment))
  const worker = await start('worker')
  const web = await start('web', { AFTERCAST_WORKERS: '2' })
  const segments = await listed(web)

  // The same segment for several visitors at once.
  const first = await Promise.all([hashOf(segments[0]), hashOf(segments[0])])
  expect(first).toEqual([expected[0], expected[0]])
  expect(await hashOf(segments[4])).toBe(expected[4])
  expect(await web.figure('aftercast_encodes_total')).toBe(0)
  expect(await worker.figure('aftercast_encodes_total')).toBeGreaterThanOrEqual(3)

  // A node that is killed has a job that no other node completes.
  let killedAt = segments.length
  let encoded: Promise<string>
  do {
    killedAt -= 1
    const before = (await newestJob())?.id
    encoded = hashOf(segments[killedAt])
    await expect.poll(async () => (await newestJob())?.id, soon).not.toBe(before)
  } while (!(await isStoppedWithJob(worker)))
  await worker.kill()
  expect(await encoded).toBe(expected[killedAt])
  expect(await web.figure('aftercast_encodes_total')).toBeGreaterThan(0)
})

it('a node that works counts for nobody while its recordings are missing', async () => {
  const postgres = await sharedPostgres(inject('postgresFolder'))
  const own = {
    AFTERCAST_DATABASE_URL: await postgres.createDatabase(),
    AFTERCAST_ARTIFACTS: `${environment.AFTERCAST_ARTIFACTS}blind/`,
  }
  await library.place('alice/2026-01-31/1.mkv', RECORDING)
  const recordings = { ...own, AFTERCAST_RECORDINGS: library.recordings }
  const scanning = await start('scanning', { ...recordings, AFTERCAST_CLUSTER_JOBS: 'true' })
  await listed(scanning)
  await scanning.stop()
  const mount = path.join(library.folder, 'mount', 'recordings')
  mkdirSync(mount, { recursive: true })
  const blind = await start('blind worker', { ...own, AFTERCAST_RECORDINGS: mount })
  await expect.poll(() => blind.output(), soon).toContain('the recordings cannot be read')
  const web = await start('web-beside-blind', recordings)
  await hashOf((await listed(web))[0])
  expect(await web.figure('aftercast_encodes_total')).toBeGreaterThan(0)
  expect(await blind.figure('aftercast_encodes_total')).toBe(0)
})

/** Suspends a node while the newest job has not ended; if it has, the node continues. */
async function isStoppedWithJob({ pid }: StartedServer): Promise<boolean> {
  process.kill(pid, 'SIGSTOP')
  if ((await newestJob())?.state !== 'completed') return true
  process.kill(pid, 'SIGCONT')
  return false
}
