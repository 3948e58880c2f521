// A cluster in trouble: PostgreSQL hangs, stops and restarts under load; the node that scans a
// bucket of 300 objects is killed.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import type { ExpectStatic } from 'vitest'
import { sessionsResponse } from '../shared/contract.ts'
import {
  activityApiPath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
} from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { createBucket } from './support/servers/bucket.ts'
import type { TestBucket } from './support/servers/bucket.ts'
import { startFaultProxy } from './support/servers/fault-proxy.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import type { ObjectStore } from './support/servers/object-store.ts'
import { queryOnce, sharedPostgres, startPostgres } from './support/servers/postgres.ts'
import { startRequestLoop } from './support/servers/request-loop.ts'
import type { RequestLoop } from './support/servers/request-loop.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording, SMALL_FIXTURE } from './support/temp-library.ts'

const DAY = '2026-01-31'
const RESTARTS = 2
const OBJECTS = 300
const STREAMERS = 10
/** After this many objects, the store does not respond to the node that is then killed. */
const OBJECTS_BEFORE_KILL = 100
const PUTS_AT_ONCE = 16

interface NodeOptions {
  recordings: string
  data: string
  environment: NodeJS.ProcessEnv
}

async function startNode({ recordings, data, environment }: NodeOptions): Promise<StartedServer> {
  return startServer({
    args: [recordings, '--data', data],
    environment,
  })
}

async function textOf({ url }: StartedServer, target: string): Promise<string> {
  return (await fetch(url + target)).text()
}

const session = { streamer: 'alice', date: DAY, sessionId: '1' }

/** Requests lists, the playlist and the segments of the session, of each node. */
async function startLoops(nodes: readonly StartedServer[]): Promise<RequestLoop[]> {
  return Promise.all(
    nodes.map(async ({ url }) => {
      const playlist = url + playlistApiPath(session)
      const segments = (await fetchPlaylist(playlist)).segments.map((segment) => segment.url)
      const lists = [streamersApiPath, sessionsApiPath(session.streamer)]
      return startRequestLoop([...lists.map((target) => url + target), playlist, ...segments])
    }),
  )
}

async function respondOnce(loops: readonly RequestLoop[]): Promise<void> {
  await Promise.all(loops.map(async (loop) => loop.round()))
}

/** Counts one play on each node. Returns how many. */
async function play(nodes: readonly StartedServer[]): Promise<number> {
  for (const { url } of nodes) {
    const response = await fetch(url + activityApiPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ name: 'begin_video', ...session }]),
    })
    expect(response.status).toBe(204)
  }
  return nodes.length
}

async function listedBy(nodes: readonly StartedServer[], streamer: string): Promise<boolean[]> {
  const lists = await Promise.all(nodes.map(async (node) => textOf(node, streamersApiPath)))
  return lists.map((list) => list.includes(streamer))
}

/**
 * Waits until each node has last logged that its database fails, or that it works again.
 *
 * @param expect that of the test: others run at the same time
 */
async function waitUntilDatabase(
  state: 'fails' | 'works',
  nodes: readonly StartedServer[],
  expect: ExpectStatic,
): Promise<void> {
  const fails = (node: StartedServer): boolean => {
    const output = node.output()
    return output.lastIndexOf('the database failed') > output.lastIndexOf('the database works')
  }
  await expect.poll(() => nodes.map(fails)).toEqual(nodes.map(() => state === 'fails'))
}

describe.concurrent('two nodes whose database hangs, stops and restarts', () => {
  it('serve everything, count every play, and list every change', async ({ expect }) => {
    const postgres = await startPostgres()
    const library = await createTempLibrary('failures')
    const { recordings, folder } = library
    const place = async (streamer: string): Promise<void> =>
      library.place(`${streamer}/${DAY}/1.mp4`, SMALL_FIXTURE)
    await place(session.streamer)
    const environment = { AFTERCAST_DATABASE_URL: await postgres.createDatabase() }
    const start = async (name: string): Promise<StartedServer> =>
      startNode({ recordings, data: path.join(folder, name), environment })
    const nodes = [await start('a'), await start('b')]
    const loops = await startLoops(nodes)
    let plays = await play(nodes)

    postgres.suspend()
    await waitUntilDatabase('fails', nodes, expect)
    plays += await play(nodes)
    await place('bob')
    // By the node that scans.
    await expect.poll(async () => listedBy(nodes, 'bob')).toContain(true)
    await respondOnce(loops)
    postgres.resume()
    await expect.poll(async () => listedBy(nodes, 'bob')).toEqual([true, true])
    await waitUntilDatabase('works', nodes, expect)

    await postgres.stop()
    await waitUntilDatabase('fails', nodes, expect)
    plays += await play(nodes)
    await place('carol')
    await expect.poll(async () => listedBy(nodes, 'carol')).toContain(true)
    await respondOnce(loops)
    await postgres.start()
    await expect.poll(async () => listedBy(nodes, 'carol')).toEqual([true, true])

    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await postgres.stop()
      plays += await play(nodes)
      await respondOnce(loops)
      await postgres.start()
      await respondOnce(loops)
    }
    await place('dora')
    await expect.poll(async () => listedBy(nodes, 'dora')).toEqual([true, true])

    const responses = (await Promise.all(loops.map(async (loop) => loop.end()))).flat()
    expect(responses.length).toBeGreaterThan(100)
    expect(responses.filter(({ status }) => status !== 200)).toEqual([])
    const stats = async (): Promise<unknown> => {
      const { stdout } = await runInProcess(
        ['stats', '--json', '--data', path.join(folder, randomUUID())],
        { workingFolder: folder, environment },
      )
      return JSON.parse(stdout)
    }
    await expect.poll(stats).toMatchObject({ sessions: [{ ...session, plays }] })
    expect(await Promise.all(nodes.map(async (node) => node.stop()))).toEqual([0, 0])
    expect(await stats()).toMatchObject({ sessions: [{ ...session, plays }] })
  })
})

describe.concurrent('a node whose mount is empty', () => {
  it('leaves the scan and the inspections to one that has the recordings', async ({ expect }) => {
    const postgres = await sharedPostgres(inject('postgresFolder'))
    const environment = { AFTERCAST_DATABASE_URL: await postgres.createDatabase() }
    const library = await createTempLibrary('failures')
    const { recordings, folder } = library
    const start = async (name: string, at = recordings): Promise<StartedServer> =>
      startNode({ recordings: at, data: path.join(folder, name), environment })
    const place = async (streamer: string): Promise<void> =>
      library.place(`${streamer}/${DAY}/1.mp4`, SMALL_FIXTURE)
    await place('alice')
    const first = await start('a')
    await expect.poll(async () => listedBy([first], 'alice')).toEqual([true])
    await first.stop()
    const mount = path.join(folder, 'mount', 'recordings')
    await mkdir(mount, { recursive: true })
    const blind = await start('b', mount)
    // It could claim the scan, and would inspect what the other one finds.
    await expect.poll(() => blind.output()).toContain('the recordings cannot be read')
    const nodes = [blind, await start('a')]
    await place('bob')
    await expect.poll(async () => listedBy(nodes, 'bob')).toEqual([true, true])
    const inspected = `SELECT status, attempts FROM aftercast.recordings ORDER BY folder`
    const playable = { status: 'playable', attempts: 0 }
    await expect
      .poll(async () => queryOnce(environment.AFTERCAST_DATABASE_URL, inspected))
      .toEqual([playable, playable])
    expect(blind.output()).not.toContain('this node scans')
  })
})

describe.concurrent('a node that is killed while it scans a bucket', () => {
  it('is replaced by another one, which lists every object once', async ({ expect }) => {
    const postgres = await sharedPostgres(inject('postgresFolder'))
    const database = await postgres.createDatabase()
    const { folder } = await createTempLibrary('failures')
    const store = await startObjectStore()
    const bucket = await createBucket(store)
    await putObjects(bucket)
    const proxy = await startFaultProxy(store)
    const read = new Set<string>()
    const hanging = proxy.inject(
      { kind: 'hang' },
      {
        when: ({ operation, key }) =>
          operation === 'GetObject' && read.add(key).size > OBJECTS_BEFORE_KILL,
      },
    )
    const start = async (name: string, used: ObjectStore): Promise<StartedServer> =>
      startNode({
        recordings: `s3://${bucket.name}/library`,
        data: path.join(folder, name),
        environment: {
          ...awsEnvironment(used),
          AFTERCAST_S3_PATH_STYLE: 'true',
          AFTERCAST_DATABASE_URL: database,
        },
      })
    const killed = await start('a', proxy.store)
    const other = await start('b', store)
    await expect.poll(() => hanging.count()).toBeGreaterThan(0)
    expect(read.size).toBeLessThan(OBJECTS)
    await killed.kill()

    const listed = async (): Promise<string[]> => {
      const streamers = Array.from({ length: STREAMERS }, (_, number) => `s${number}`)
      const lists = await Promise.all(
        streamers.map(async (name) => JSON.parse(await textOf(other, sessionsApiPath(name)))),
      )
      return lists.flatMap((list) =>
        parseExactly(sessionsResponse, list).flatMap(({ sessionId, duration }) =>
          duration === undefined ? [] : sessionId,
        ),
      )
    }
    await expect.poll(async () => (await listed()).length).toBe(OBJECTS)
    expect(new Set(await listed()).size).toBe(OBJECTS)
    const published = `SELECT count(*)::int AS present, count(DISTINCT session_id)::int AS sessions
      FROM aftercast.recordings WHERE removed_at IS NULL AND status = 'playable'`
    await expect
      .poll(async () => queryOnce(database, published))
      .toEqual([{ present: OBJECTS, sessions: OBJECTS }])
  })
})

async function putObjects(bucket: TestBucket): Promise<void> {
  const numbers = Array.from({ length: OBJECTS }, (_, number) => number)
  const putSome = async (): Promise<void> => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const key = `library/s${number % STREAMERS}/${DAY}/${number}.mp4`
      await bucket.put(key, makeSmallRecording(key))
    }
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, putSome))
}
