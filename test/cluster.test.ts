// Servers that share PostgreSQL, as processes: what one finds, all serve; a killed one is replaced;
// the database may stop.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, describe, inject, it } from 'vitest'
import {
  activityApiPath,
  chatApiPath,
  detailsApiPath,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  streamerThumbnailApiPath,
  streamersApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { addRelease, listReleases } from '../server/cluster/postgres/shared-assets.ts'
import { openSharedDatabase } from '../server/cluster/postgres/shared-database.ts'
import { twitchJson } from './support/make/make-chat.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { sharedPostgres, startPostgres } from './support/servers/postgres.ts'
import type { StartedPostgres } from './support/servers/postgres.ts'
import { startRequestLoop } from './support/servers/request-loop.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { CLUSTER_METRICS, metricsIn } from './support/verify/named-metrics.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }

let postgres: StartedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres(inject('postgresFolder'))
})

/** Recordings and a database for the nodes of one test. */
interface Cluster {
  library: TempLibrary
  database: string
}

async function createCluster(database?: string): Promise<Cluster> {
  const library = await createTempLibrary('cluster')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/1.info.json', Buffer.from('{"title":"One"}'))
  const chat = ['Bob', 'Eve'].map((user) => ({ seconds: 1, user, text: 'hi' }))
  await library.place('alice/2026-01-31/1.json', Buffer.from(twitchJson(chat)))
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  return { library, database: database ?? (await postgres.createDatabase()) }
}

/** A server with a data folder of this name. */
async function startNode(
  name: string,
  { library, database }: Cluster,
  environment: NodeJS.ProcessEnv = {},
): Promise<StartedServer> {
  const data = path.join(library.folder, name)
  mkdirSync(data, { recursive: true })
  return startServer({
    args: [library.recordings, '--data', data],
    environment: {
      // The same for all nodes, as in a real cluster: pages and the sitemap contain it.
      AFTERCAST_PUBLIC_URL: 'https://site.example',
      AFTERCAST_DATABASE_URL: database,
      ...environment,
    },
  })
}

async function run({ library, database }: Cluster, ...args: string[]): Promise<ProgramOutcome> {
  // A new folder: with a replica, a server starts without its database.
  return runInProcess([...args, '--data', path.join(library.folder, randomUUID())], {
    workingFolder: library.folder,
    environment: { AFTERCAST_DATABASE_URL: database },
  })
}

async function statusOf(server: StartedServer, target: string): Promise<number> {
  return (await fetch(server.url + target)).status
}

async function textOf(server: StartedServer, target: string): Promise<string> {
  return (await fetch(server.url + target)).text()
}

/** Bytes and the headers that caches and players use. */
async function responseOf(url: string): Promise<unknown[]> {
  const response = await fetch(url)
  const named = ['etag', 'content-type', 'cache-control', 'surrogate-key', 'vary', 'last-modified']
  const bytes = Buffer.from(await response.arrayBuffer()).toString('base64')
  return [response.status, named.map((name) => response.headers.get(name)), bytes]
}

describe.concurrent('two servers with one database', () => {
  it('respond equally, hide together, and count together', async ({ expect }) => {
    const cluster = await createCluster()
    const first = await startNode('a', cluster)
    const metrics = `127.0.0.1:${await findFreePort()}`
    const second = await startNode('b', cluster, {
      AFTERCAST_WORKERS: '2',
      AFTERCAST_METRICS: metrics,
      AFTERCAST_OPERATOR_TOKEN: 'token of the operator',
    })
    await expect.poll(async () => textOf(second, sessionsApiPath('bob'))).toContain('duration')
    for (const server of [first, second]) {
      await expect.poll(async () => textOf(server, detailsApiPath('alice'))).toContain('"One"')
    }
    const playlist = await fetchPlaylist(first.url + playlistApiPath(session))
    const urls = playlist.segments.flatMap(({ url, initUrl, key }) => [url, initUrl, key?.url])
    const targets = [
      streamersApiPath,
      sessionsApiPath('alice'),
      detailsApiPath('alice'),
      sessionApiPath(session),
      playlistApiPath(session),
      thumbnailApiPath(session),
      streamerThumbnailApiPath('alice'),
      playerPagePath(session),
      chatApiPath(session),
      sessionsApiPath('nobody'),
      '/sitemap.xml',
      ...new Set(urls.flatMap((url) => (url === undefined ? [] : [new URL(url).pathname]))),
    ]
    expect(targets.length).toBeGreaterThan(10)
    for (const target of targets) {
      // A busy node answers 503, and the details of a session without its tracks.
      const areEqual = async (): Promise<boolean> => {
        const responses = [first, second].map(async ({ url }) => responseOf(url + target))
        const [one, other] = await Promise.all(responses)
        return one?.[0] !== 503 && isDeepStrictEqual(one, other)
      }
      await expect.poll(areEqual, { message: target }).toBe(true)
    }

    for (const { url } of [first, second]) {
      await fetch(url + activityApiPath, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([{ name: 'begin_video', ...session }]),
      })
    }
    const scrape = async () => (await fetch(`http://${metrics}/metrics`)).text()
    const figures = async (): Promise<string[]> =>
      (await scrape()).match(/^aftercast_(?:database_up|outbox_recordings|scanning) \d+$/gm) ?? []
    const wanted = ['database_up 1', 'outbox_recordings 0', 'scanning 0']
    await expect
      .poll(async () => (await figures()).toSorted())
      .toEqual(wanted.map((figure) => `aftercast_${figure}`))
    // What dashboards and alerts name beyond the metrics of every server.
    expect([...metricsIn(await scrape())]).toEqual(expect.arrayContaining(CLUSTER_METRICS))

    // A page of another release requests its scripts from any node.
    const database = openSharedDatabase(cluster.database, () => undefined)
    const script = { name: 'index-other.js', bytes: Buffer.from('1') }
    await addRelease(database, { id: 'other', assets: [script] })
    expect(await listReleases(database)).toHaveLength(2)
    await database.destroy()
    for (const server of [first, second]) {
      await expect.poll(async () => textOf(server, '/assets/index-other.js')).toBe('1')
    }

    await run(cluster, 'hide', '--chat-user', 'eve', 'alice')
    for (const server of [first, second]) {
      await expect
        .poll(async () => textOf(server, chatApiPath(session)))
        .toContain('"counts":[1],"total":1')
    }
    await run(cluster, 'unhide', '--chat-user', 'eve', 'alice')
    expect((await run(cluster, 'hide', 'bob')).stdout).toMatch(
      /^bob is hidden in the database \S+\n$/,
    )
    for (const server of [first, second]) {
      await expect.poll(async () => statusOf(server, sessionsApiPath('bob'))).toBe(410)
    }
    expect((await run(cluster, 'hide', '--list')).stdout).toBe('bob\n')
    const shown = await fetch(`http://${metrics}/operator/hidden`, {
      method: 'POST',
      body: new URLSearchParams({
        action: 'unhide',
        listed: 'bob',
        reason: 'an error',
        token: 'token of the operator',
      }),
    })
    const page = await shown.text()
    // Nothing is stale: names, log and counters are those of the shared database.
    for (const text of ['visible again', 'an error', 'inspections', 'follows', 'Nothing is hidden'])
      expect(page).toContain(text)
    expect(page).not.toContain('could not be read')
    expect((await run(cluster, 'unhide', 'bob')).stdout).toContain('bob was not hidden in ')
    for (const server of [first, second]) {
      await expect.poll(async () => statusOf(server, sessionsApiPath('bob'))).toBe(200)
    }

    const { stdout, stderr } = await run(cluster, 'scan', cluster.library.recordings)
    expect(stderr).toContain('another node scans')
    expect(stdout).toBe('2 sessions of 2 streamers are indexed\n')
    await Promise.all([first.stop(), second.stop()])
    const stats: unknown = JSON.parse((await run(cluster, 'stats', '--json')).stdout)
    expect(stats).toMatchObject({ sessions: [{ ...session, plays: 2 }] })
    expect((await run(cluster, 'check', cluster.library.recordings)).code).toBe(0)
  })

  it('replace a killed one that scanned', async ({ expect }) => {
    const cluster = await createCluster()
    const first = await startNode('a', cluster)
    const idle = await startNode('b', cluster, { AFTERCAST_CLUSTER_JOBS: 'false' })
    await first.kill()
    const second = await startNode('c', cluster)
    await cluster.library.place('carol/2026-02-01/1.mp4', SMALL_FIXTURE)
    for (const server of [second, idle]) {
      await expect.poll(async () => textOf(server, streamersApiPath)).toContain('carol')
    }
    expect(idle.output()).not.toContain('this node scans')
  })
})

describe.concurrent('the recordings of a cluster', () => {
  it('are inspected by all nodes that have jobs, each by one of them', async ({ expect }) => {
    const shared = await createCluster()
    let count = 0
    const place = async (more: number): Promise<void> => {
      for (const end = count + more; count < end; count += 1) {
        await shared.library.place(`carol/2026-02-01/${count}.mp4`, SMALL_FIXTURE)
      }
    }
    await place(200)
    const scanning = await startNode('a', shared)
    const [idle, second] = await Promise.all([
      startNode('idle', shared, { AFTERCAST_CLUSTER_JOBS: 'false' }),
      startNode('b', shared),
    ])
    const untilListed = async (): Promise<void> => {
      for (const { url } of [scanning, idle, second]) {
        const durations = async (): Promise<number> => {
          const list = await (await fetch(url + sessionsApiPath('carol'))).text()
          return list.match(/"duration":"/g)?.length ?? 0
        }
        await expect.poll(durations).toBe(count)
      }
    }
    const inspected = (): string[][] => ['a', 'b', 'idle'].map((node) => indexFiles(shared, node))
    await untilListed()
    // A node that started late, or that stopped for some seconds, takes part in the next ones.
    const areAllBusy = async (): Promise<boolean> => {
      const [ofScanning = [], ofSecond = []] = inspected()
      if (ofScanning.length > 0 && ofSecond.length > 0) return true
      await place(100)
      await untilListed()
      return false
    }
    await expect.poll(areAllBusy).toBe(true)
    expect(inspected().flat()).toHaveLength(count + 2)
    expect(new Set(inspected().flat()).size).toBe(count + 2)
    expect(inspected()[2]).toEqual([])
  })
})

describe.concurrent('a server whose database stops', () => {
  it('serves what it has, also after a restart, and continues afterwards', async ({ expect }) => {
    const own = await startPostgres()
    const cluster = await createCluster(await own.createDatabase())
    const first = await startNode('a', cluster)
    const second = await startNode('b', cluster)
    const playlist = playlistApiPath(session)
    // A busy machine may take longer than a request waits for an index.
    for (const server of [first, second]) {
      await expect.poll(async () => statusOf(server, playlist)).toBe(200)
    }
    const targets = [streamersApiPath, playlist, playerPagePath(session)]
    const reading = startRequestLoop(targets.map((target) => first.url + target))
    await own.stop()
    for (const server of [first, second]) {
      await expect.poll(() => server.output()).toContain('the database failed')
    }
    await cluster.library.place('dora/2026-02-01/1.mp4', SMALL_FIXTURE)
    await expect.poll(async () => textOf(first, streamersApiPath)).toContain('dora')
    await second.stop()
    const again = await startNode('b', cluster)
    await expect.poll(async () => statusOf(again, playlist)).toBe(200)
    await own.start()
    await expect.poll(async () => textOf(again, streamersApiPath)).toContain('dora')
    const statuses = (await reading.end()).map(({ status }) => status)
    expect(statuses.length).toBeGreaterThan(10)
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

/** Names of the indexes that a node has made. */
function indexFiles({ library }: Cluster, node: string): string[] {
  const folder = path.join(library.folder, node, 'indexes')
  if (!existsSync(folder)) return []
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /^[0-9a-f]{2}.[0-9a-f]+\.[a-z]+$/.test(name))
}

describe.concurrent('a database that cannot be used', () => {
  it('ends the program with one line that names the key, without the password', async ({
    expect,
  }) => {
    const { library, database } = await createCluster()
    const url = new URL(database)
    const wrongPassword = new URL(url)
    wrongPassword.password = 'secret-of-this-test'
    const wrongDatabase = new URL(url)
    wrongDatabase.pathname = '/no_such_database'
    const wrongHost = new URL(url)
    wrongHost.hostname = 'host.invalid'
    const wrongPort = new URL(url)
    wrongPort.port = '1'
    const outcomes = await Promise.all(
      [wrongPassword, wrongDatabase, wrongHost, wrongPort].map(async ({ href }) =>
        run({ library, database: href }, 'serve', library.recordings),
      ),
    )
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^aftercast: database: [^\n]+\n$/)
      expect(stderr).not.toContain('secret-of-this-test')
      expect(stderr).not.toContain(postgres.password)
    }
  })
})
