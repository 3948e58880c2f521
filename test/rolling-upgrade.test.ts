// Two nodes are replaced by nodes of the next release, one by one, while visitors request
// everything of both: no request fails, and what one node writes is what the other serves.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, it } from 'vitest'
import {
  activityApiPath,
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
} from '../shared/paths.ts'
import { fetchAvailable, fetchPlaylist } from './support/servers/hls-client.ts'
import { makeNextRelease } from './support/servers/next-release.ts'
import { sharedPostgres } from './support/servers/postgres.ts'
import { startRequestLoop } from './support/servers/request-loop.ts'
import type { RequestLoop } from './support/servers/request-loop.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const runFile = promisify(execFile)
const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const stops: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** A server with visitors. */
interface Node extends StartedServer {
  visitors: RequestLoop
}

interface NodeOptions {
  library: TempLibrary
  environment: NodeJS.ProcessEnv
  name: string
  checkout?: string
}

async function startNode({ library, environment, name, checkout }: NodeOptions): Promise<Node> {
  const data = path.join(library.folder, name)
  await mkdir(data, { recursive: true })
  const server = await startServer({
    args: [library.recordings, '--data', data],
    environment: { AFTERCAST_WORKERS: '1', ...environment },
    ...(checkout !== undefined && { checkout }),
  })
  stops.push(async () => server.stop())
  // A busy machine may take longer than a request waits for an index.
  const playlistUrl = server.url + playlistApiPath(session)
  await expect.poll(async () => (await fetch(playlistUrl)).status).toBe(200)
  const { segments } = await fetchPlaylist(playlistUrl)
  const media = segments.flatMap(({ url, initUrl, key }) => [url, initUrl, key?.url])
  const targets = [
    '/',
    '/readyz',
    streamersApiPath,
    sessionsApiPath('alice'),
    playerPagePath(session),
    playlistApiPath(session),
  ]
  const visitors = startRequestLoop([
    ...targets.map((target) => server.url + target),
    ...new Set(media.filter((url) => url !== undefined)),
  ])
  return { ...server, visitors }
}

/** As behind a proxy: first it gets no more requests, then it stops. */
async function replace(node: Node): Promise<readonly number[]> {
  const responses = await node.visitors.end()
  expect(await node.stop()).toBe(0)
  return responses.map(({ status }) => status)
}

async function untilListed(nodes: readonly Node[], streamer: string): Promise<void> {
  for (const { url } of nodes) {
    const list = async (): Promise<string> => (await fetch(url + sessionsApiPath(streamer))).text()
    await expect.poll(list).toContain('"duration":"')
  }
}

async function play({ url }: Node): Promise<void> {
  const { status } = await fetch(url + activityApiPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ name: 'begin_video', ...session }]),
  })
  expect(status).toBe(204)
}

it('nodes of two releases serve together, and no request fails', async () => {
  const library = await createTempLibrary('rolling')
  stops.push(async () => library.remove())
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/1.info.json', Buffer.from('{"title":"One"}'))
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  const checkout = path.join(library.folder, 'next')
  await mkdir(checkout)
  await makeNextRelease(checkout)
  const database = await (await sharedPostgres(inject('postgresFolder'))).createDatabase()
  const environment = { AFTERCAST_DATABASE_URL: database }
  const runNext = async (...args: string[]): Promise<string> => {
    const program = [path.join(checkout, 'server/main.ts'), ...args]
    const data = ['--data', path.join(library.folder, 'commands')]
    const env = { ...process.env, ...environment }
    return (await runFile(process.execPath, [...program, ...data], { env })).stdout
  }
  const statuses: number[] = []

  const first = await startNode({ library, environment, name: 'a' })
  const second = await startNode({ library, environment, name: 'b' })
  await untilListed([first, second], 'bob')
  await Promise.all([first.visitors.round(), second.visitors.round()])
  statuses.push(...(await replace(first)))

  // Without jobs, so that the node of this release scans and publishes.
  const nextFirst = await startNode({
    library,
    environment: { ...environment, AFTERCAST_CLUSTER_JOBS: 'false' },
    name: 'a',
    checkout,
  })
  expect(nextFirst.output()).toContain('the database was migrated')
  const both = [second, nextFirst]
  await library.place('carol/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('carol/2026-01-31/1.info.json', Buffer.from('{"title":"Two"}'))
  await untilListed(both, 'carol')
  expect(second.output()).toContain('this node scans')
  await runNext('hide', 'bob')
  for (const node of both) {
    const hidden = node.url + sessionsApiPath('bob')
    await expect.poll(async () => (await fetch(hidden)).status).toBe(410)
    await play(node)
  }
  const playlists = both.map(async ({ url }) => fetchAvailable(url + playlistApiPath(session)))
  const [one, other] = await Promise.all(playlists.map(async (each) => (await each).text()))
  expect(one).toBe(other)
  await Promise.all(both.map(async ({ visitors }) => visitors.round()))
  statuses.push(...(await replace(second)))

  const nextSecond = await startNode({ library, environment, name: 'b', checkout })
  await library.place('dora/2026-01-31/1.mp4', SMALL_FIXTURE)
  await untilListed([nextFirst, nextSecond], 'dora')
  await Promise.all([nextFirst, nextSecond].map(async ({ visitors }) => visitors.round()))
  expect(await runNext('hide', '--list')).toBe('bob\n')
  const stats = async (): Promise<unknown> => JSON.parse(await runNext('stats', '--json'))
  const counted = { sessions: [{ ...session, plays: both.length }] }
  await expect.poll(stats).toMatchObject(counted)
  for (const node of [nextFirst, nextSecond]) statuses.push(...(await replace(node)))

  expect(statuses.length).toBeGreaterThan(40)
  expect(new Set(statuses)).toEqual(new Set([200]))
})
