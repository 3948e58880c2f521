// Three nodes of one bucket: an object is read once to index it, and every URL has the same status,
// headers and bytes on all nodes, encrypted or not, after restarts and with an empty data folder.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { makeNumberedTs } from './support/make/make-numbered-ts.ts'
import { placeWholeLibrary, WHOLE_LIBRARY } from './support/make/whole-library.ts'
import { soon } from './support/patience.ts'
import { createBucket } from './support/servers/bucket.ts'
import type { TestBucket } from './support/servers/bucket.ts'
import { startFaultProxy } from './support/servers/fault-proxy.ts'
import type { FaultProxy } from './support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import { queryOnce, sharedPostgres } from './support/servers/postgres.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { crawl } from './support/verify/crawl.ts'

const DAY = '2026-01-31'
/** Recordings that are read completely to index them, and large compared with a thumbnail. */
const COPIES = 6
const SESSIONS = { ...WHOLE_LIBRARY, copies: COPIES }
/** Of the bytes of all recordings. */
const MAX_SHARE = 1.2
const MAX_SHARE_AFTER_RESTART = 0.02
/** Shortly after a change, the recorder's playlist may change again. */
const SHARED_AFTER_MS = 2000
/** Thumbnails of recordings that nobody has requested. */
const UNFINISHED_JOBS = `SELECT name FROM aftercast_jobs.job WHERE state < 'completed'`
const CONFIG = JSON.stringify({ library: { settleSeconds: 0 } })

const unplayable = { streamer: 'fixtures', date: DAY, sessionId: path.parse(BROKEN_FIXTURE).name }
const unknown = { streamer: 'nobody', date: DAY, sessionId: '1' }
const scope = {
  streamers: Object.keys(WHOLE_LIBRARY),
  thumbnails: 'all' as const,
  more: [
    ...[unplayable, unknown].flatMap((session) => [
      playlistApiPath(session),
      thumbnailApiPath(session),
      playerPagePath(session),
    ]),
    sessionsApiPath(unknown.streamer),
    playlistApiPath({ ...unplayable, sessionId: '1' }).replace('playlist.m3u8', 'other/0.ts'),
  ],
}
/** Encryption does not concern images. */
const plainScope = { ...scope, thumbnails: 'first' as const }

let library: TempLibrary
let bucket: TestBucket
let proxy: FaultProxy
let database: string
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  library = await createTempLibrary('equality')
  stops.push(async () => library.remove())
  await placeWholeLibrary(library)
  const recording = readFileSync(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  for (let number = 0; number < COPIES; number += 1) {
    await library.place(`copies/${DAY}/${number}.ts`, makeNumberedTs(recording, number))
  }
  await writeFile(path.join(library.folder, 'settings.json'), CONFIG)
  const postgres = await sharedPostgres(inject('postgresFolder'))
  database = await postgres.createDatabase()
  const store = await startObjectStore()
  stops.push(async () => store.stop())
  proxy = await startFaultProxy(store)
  stops.push(async () => proxy.stop())
  bucket = await createBucket(store)
  await bucket.putTree(library.recordings, 'recordings/')
  const putAtMs = Date.now()
  await vi.waitUntil(() => Date.now() > putAtMs + SHARED_AFTER_MS, soon)
})

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

/** A node with a data folder of this name. */
async function startNode(
  name: string,
  encryption: 'aes-128' | 'none' = 'aes-128',
): Promise<StartedServer> {
  const server = await startServer({
    args: [
      `s3://${bucket.name}/recordings`,
      '--data',
      path.join(library.folder, name),
      '--config',
      path.join(library.folder, 'settings.json'),
    ],
    environment: {
      ...awsEnvironment(proxy.store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts`,
      AFTERCAST_DATABASE_URL: database,
      AFTERCAST_PUBLIC_URL: 'https://site.example',
      AFTERCAST_HLS_ENCRYPTION: encryption,
      AFTERCAST_WORKERS: '1',
    },
  })
  stops.push(async () => server.stop())
  for (const [streamer, count] of Object.entries(SESSIONS)) {
    const durations = async (): Promise<unknown> =>
      (await (await fetch(server.url + sessionsApiPath(streamer))).text()).match(/"duration"/g)
    await expect.poll(durations, soon).toHaveLength(count)
  }
  return server
}

/** Bytes of the recordings below a folder. */
function bytesPut(folder = ''): number {
  const entries = readdirSync(library.pathOf(folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0)
}

/** Bytes that the store has sent of the recordings below a folder. */
function bytesRead(folder = ''): number {
  return proxy.requests
    .filter(({ operation }) => operation === 'GetObject')
    .filter(({ key }) => key.startsWith(`recordings/${folder}`))
    .reduce((sum, { storeBytes }) => sum + storeBytes, 0)
}

it('read each object once, and respond equally, before and after restarts', async () => {
  const [first, second, clear] = await Promise.all([
    startNode('a'),
    startNode('b'),
    startNode('c', 'none'),
  ])
  expect(bytesRead()).toBeLessThan(MAX_SHARE * bytesPut())
  expect(bytesRead('copies/')).toBeLessThan(MAX_SHARE * bytesPut('copies/'))
  expect(bytesRead('copies/')).toBeGreaterThanOrEqual(bytesPut('copies/'))

  const encrypted = await crawl(first.url, scope)
  const plain = await crawl(clear.url, plainScope)
  expect(await crawl(second.url, scope)).toEqual(encrypted)
  expect(encrypted.size).toBeGreaterThan(200)
  expect(keysOf(encrypted).length).toBeGreaterThanOrEqual(WHOLE_LIBRARY.fixtures)
  expect(keysOf(plain)).toEqual([])

  await expect.poll(async () => queryOnce(database, UNFINISHED_JOBS), soon).toEqual([])
  await Promise.all([first, second, clear].map(async (server) => server.stop()))
  proxy.clear()
  const [again, empty, clearEmpty] = await Promise.all([
    startNode('b'),
    startNode('d'),
    startNode('e', 'none'),
  ])
  expect(bytesRead()).toBeLessThan(MAX_SHARE_AFTER_RESTART * bytesPut())
  const crawls = [
    crawl(again.url, scope),
    crawl(empty.url, scope),
    crawl(clearEmpty.url, plainScope),
  ]
  expect(await Promise.all(crawls)).toEqual([encrypted, encrypted, plain])
})

function keysOf(crawled: Map<string, string[]>): string[] {
  return [...crawled.keys()].filter((target) => target.includes('/key '))
}
