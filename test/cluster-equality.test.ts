// Three nodes of one bucket: an object is read once to index it, and every URL has the same status,
// headers and bytes on all nodes, encrypted or not, after restarts and with an empty data folder.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, inject, it, vi } from 'vitest'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { makeNumberedTs } from './support/make/make-numbered-ts.ts'
import { splitPackets } from './support/make/split-packets.ts'
import {
  formatRecordedPlaylist,
  placeWholeLibrary,
  WHOLE_LIBRARY,
} from './support/make/whole-library.ts'
import { soon } from './support/patience.ts'
import { createBucket } from './support/servers/bucket.ts'
import type { TestBucket } from './support/servers/bucket.ts'
import { startFaultProxy } from './support/servers/fault-proxy.ts'
import type { FaultProxy } from './support/servers/fault-proxy.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedSegment } from './support/servers/hls-client.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import { queryOnce, sharedPostgres } from './support/servers/postgres.ts'
import type { StartedPostgres } from './support/servers/postgres.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { waitUntilIndexed } from './support/servers/wait-until-indexed.ts'
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

/** Sessions that are crawled in all qualities: in parts, of a recorder, and one per container. */
const IN_QUALITIES = [
  { streamer: 'folders', sessionId: 'parts' },
  { streamer: 'folders', sessionId: 'recorder' },
  { streamer: 'sidecars', sessionId: '1' },
  ...['ts-h264-aac-pts-reset-backwards', 'mp4-h264-aac-moov-first', 'mkv-h264-aac-60s'].map(
    (sessionId) => ({ streamer: 'fixtures', sessionId }),
  ),
]
const QUALITIES = ['audio', 'saver'] as const

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
    ...IN_QUALITIES.flatMap((session) =>
      QUALITIES.map((quality) => qualityPath({ ...session, date: DAY }, quality)),
    ),
    sessionsApiPath(unknown.streamer),
    playlistApiPath({ ...unplayable, sessionId: '1' }).replace('playlist.m3u8', 'other/0.ts'),
  ],
}
/** Encryption does not concern images. */
const plainScope = { ...scope, thumbnails: 'first' as const }

function qualityPath(session: SessionReference, quality: string): string {
  return `${playlistApiPath(session)}?quality=${quality}`
}

let library: TempLibrary
let bucket: TestBucket
let proxy: FaultProxy
let postgres: StartedPostgres
let database: string
beforeAll(async () => {
  library = await createTempLibrary('equality')
  await placeWholeLibrary(library)
  const recording = readFileSync(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  for (let number = 0; number < COPIES; number += 1) {
    await library.place(`copies/${DAY}/${number}.ts`, makeNumberedTs(recording, number))
  }
  postgres = await sharedPostgres(inject('postgresFolder'))
  database = await postgres.createDatabase()
  const store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = await createBucket(store)
  await bucket.putTree(library.recordings, 'recordings/')
  const putAtMs = Date.now()
  await vi.waitUntil(() => Date.now() > putAtMs + SHARED_AFTER_MS, soon)
})

/** A node with a data folder of this name. */
async function startNode(
  name: string,
  encryption: 'aes-128' | 'none' = 'aes-128',
): Promise<StartedServer> {
  const server = await serve('recordings', { name, database, encryption, settleSeconds: 0 })
  for (const [streamer, count] of Object.entries(SESSIONS)) {
    await waitUntilIndexed(server.url, streamer, count)
  }
  return server
}

interface NodeOptions {
  name: string
  database: string
  encryption: 'aes-128' | 'none'
  settleSeconds: number
}

async function serve(
  prefix: string,
  { name, database: url, encryption, settleSeconds }: NodeOptions,
): Promise<StartedServer> {
  const data = path.join(library.folder, name)
  return startServer({
    args: [`s3://${bucket.name}/${prefix}`, '--data', data],
    settings: { library: { settleSeconds } },
    environment: {
      ...awsEnvironment(proxy.store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts`,
      AFTERCAST_DATABASE_URL: url,
      AFTERCAST_PUBLIC_URL: 'https://site.example',
      AFTERCAST_HLS_ENCRYPTION: encryption,
    },
  })
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

it.concurrent('read each object once, and respond equally, before and after restarts', async () => {
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
  for (const prefix of ['a0-', 's0-']) {
    expect(
      [...encrypted.keys()].filter((target) => target.includes(`/${prefix}`)).length,
    ).toBeGreaterThan(15)
  }
  expect(keysOf(encrypted).length).toBeGreaterThanOrEqual(WHOLE_LIBRARY.fixtures)
  expect(keysOf(plain)).toEqual([])

  await vi.waitUntil(async () => (await queryOnce(database, UNFINISHED_JOBS)).length === 0, soon)
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

it.concurrent('list a growing session equally in all qualities', async () => {
  const session = { streamer: 'live', date: DAY, sessionId: '1' }
  const folder = `growing/live/${DAY}/1`
  const recording = readFileSync(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  const names = await Promise.all(
    splitPackets(recording, 6).map(async (bytes, at) => {
      await bucket.put(`${folder}/${at}.ts`, bytes)
      return `${at}.ts`
    }),
  )
  const list = async (count: number): Promise<void> => {
    const lines = names.slice(0, count).flatMap((name) => ['#EXTINF:6,', name])
    await bucket.put(`${folder}/index.m3u8`, formatRecordedPlaylist(lines))
  }
  await list(4)
  const shared = {
    database: await postgres.createDatabase(),
    encryption: 'aes-128',
    settleSeconds: 86_400,
  } as const
  const nodes = await Promise.all(
    ['growing-a', 'growing-b'].map(async (name) => serve('growing', { name, ...shared })),
  )
  /** Once both nodes list the same in all qualities, and more segments than that. */
  const equal = async (segments: number): Promise<Map<string, string>> =>
    vi.waitFor(async () => {
      const lists = await Promise.all(nodes.map(async ({ url }) => listedSegments(url, session)))
      for (const list of lists) expect(list.length).toBeGreaterThan(segments)
      const [first, second] = await Promise.all(lists.map(digestsOf))
      expect(second).toEqual(first)
      return first ?? new Map<string, string>()
    }, soon)
  const before = await equal(6)
  await list(6)
  const after = await equal(before.size)
  expect([...after].filter(([url]) => before.has(url))).toEqual([...before])
})

/** In all qualities. */
async function listedSegments(url: string, session: SessionReference): Promise<ListedSegment[]> {
  const listed: ListedSegment[] = []
  for (const target of [
    playlistApiPath(session),
    ...QUALITIES.map((quality) => qualityPath(session, quality)),
  ]) {
    const { isEnded, segments } = await fetchPlaylist(url + target)
    expect(isEnded).toBe(false)
    listed.push(...segments)
  }
  return listed
}

/** By path. */
async function digestsOf(segments: readonly ListedSegment[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const segment of segments) {
    const hash = createHash('sha256').update(await fetchSegment(segment))
    found.set(new URL(segment.url).pathname, hash.digest('hex'))
  }
  return found
}
