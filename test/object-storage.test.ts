// Recordings in a real object store: the same site as from a folder, also while the store fails.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  detailsApiPath,
  playlistApiPath,
  sessionApiPath,
  streamersApiPath,
} from '../shared/paths.ts'
import { BLOCK_BYTES } from '../server/storage/recordings/s3/block-cache.ts'
import { splitPackets } from './support/make/split-packets.ts'
import {
  formatRecordedPlaylist,
  placeWholeLibrary,
  WHOLE_LIBRARY,
} from './support/make/whole-library.ts'
import { createBucket } from './support/servers/bucket.ts'
import type { TestBucket } from './support/servers/bucket.ts'
import { startFaultProxy } from './support/servers/fault-proxy.ts'
import type { FaultProxy } from './support/servers/fault-proxy.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import type { StartedObjectStore } from './support/servers/object-store.ts'
import { runInNewProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { waitUntilIndexed } from './support/servers/wait-until-indexed.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { crawl } from './support/verify/crawl.ts'
import { patienceMs } from './support/patience.ts'

const PREFIX = 'archive/streams'
const OTHER_TS = 'ts-h264-aac-clean-hls-concat.ts'
const MP4 = 'mp4-h264-aac51-moov-last-bframes.mp4'
const DAY = '2026-01-31'
/** An MP4 whose tables are at its start, and which is large. */
const LARGE = { streamer: 'large', date: DAY, sessionId: 'padded' }
const PADDING_BYTES = 30 * 1024 * 1024
const PATH_STYLE = { AFTERCAST_S3_PATH_STYLE: 'true' }
const COMMON = {
  AFTERCAST_HLS_SECRET: 'the same on all nodes',
  AFTERCAST_PUBLIC_URL: 'https://site.example',
}

let library: TempLibrary
let store: StartedObjectStore
let proxy: FaultProxy
let bucket: TestBucket

beforeAll(async () => {
  library = await createTempLibrary('object-storage')
  await placeWholeLibrary(library)
  store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = await createBucket(store)
  await bucket.putTree(library.recordings, `${PREFIX}/`)
})

afterEach(async () => proxy.heal())

interface Start {
  prefix?: string
  data: string
  settings?: object
}

/** A server of the bucket. It reaches the store through the proxy. */
async function startFromBucket({ prefix = PREFIX, data, settings = {} }: Start) {
  const folder = path.join(library.folder, data)
  return startServer({
    args: [`s3://${bucket.name}/${prefix}`, '--data', folder],
    settings,
    environment: { ...COMMON, ...PATH_STYLE, ...awsEnvironment(proxy.store) },
  })
}

test('serves the same bytes under the same URLs as a folder', async () => {
  // Finished sessions have settled at once.
  const settings = { library: { settleSeconds: 0 } }
  const servers = await Promise.all([
    startServer({ args: library.args, settings, environment: COMMON }),
    startFromBucket({ data: 'same', settings }),
  ])
  try {
    for (const { url } of servers) {
      for (const [streamer, count] of Object.entries(WHOLE_LIBRARY)) {
        await waitUntilIndexed(url, streamer, count)
      }
      await vi.waitFor(
        async () => {
          const details = await (await fetch(url + detailsApiPath('sidecars'))).text()
          expect(details).toContain('"displayName":"Sidecars"')
          expect(details).toContain('"title":"One"')
        },
        { timeout: patienceMs, interval: 50 },
      )
      const session = { streamer: 'sidecars', date: DAY, sessionId: '1' }
      const text = await (await fetch(url + sessionApiPath(session))).text()
      expect(text).toContain('"title":"Greeting"')
    }
    const [fromFolder, fromBucket] = await Promise.all(servers.map(({ url }) => crawl(url)))
    expect(fromFolder?.size).toBeGreaterThan(150)
    // Sorted by the time of files, which is that of the upload for an object.
    for (const crawled of [fromFolder, fromBucket]) crawled?.delete('/feed.xml */*')
    expect(fromBucket).toEqual(fromFolder)
    const gets = proxy.requests.filter(({ operation }) => operation === 'GetObject')
    expect(gets.every(({ ifMatch, range }) => ifMatch !== undefined && range !== undefined)).toBe(
      true,
    )
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
})

describe('a server of a bucket', () => {
  let server: StartedServer
  let url: string

  beforeAll(async () => {
    await bucket.put(`live/${LARGE.streamer}/${DAY}/padded.mp4`, paddedMp4())
    server = await startFromBucket({ prefix: 'live', data: 'live' })
    url = server.url
    await waitUntilIndexed(url, LARGE.streamer, 1)
  })

  /** The recording before bytes that no player needs. */
  function paddedMp4(): Buffer {
    const free = Buffer.alloc(PADDING_BYTES)
    free.writeUInt32BE(PADDING_BYTES)
    free.write('free', 4)
    return Buffer.concat([readFileSync(fixturePath(MP4)), free])
  }

  test('reads the tables of an MP4 for its playlist, and the bytes of a segment', async () => {
    const key = `live/${LARGE.streamer}/${DAY}/padded.mp4`
    const playlist = await fetchPlaylist(url + playlistApiPath(LARGE))
    expect(proxy.objectBytes(key)).toBeLessThan(PADDING_BYTES / 20)
    for (const { url: segment } of playlist.segments) {
      proxy.clear()
      const body = await (await fetch(segment)).arrayBuffer()
      expect(proxy.objectBytes(key)).toBeLessThan(body.byteLength + 6 * BLOCK_BYTES)
    }
  })

  test('lists sessions, and answers 503 for media, while the store is down', async () => {
    const playlist = url + playlistApiPath(LARGE)
    await proxy.refuse()
    await vi.waitFor(
      async () => {
        const response = await fetch(playlist)
        await response.arrayBuffer()
        expect(response.status).toBe(503)
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
        expect(response.headers.get('cache-control')).toBe('no-store')
      },
      { timeout: patienceMs },
    )
    expect((await fetch(url + streamersApiPath)).status).toBe(200)
    await proxy.heal()
    await vi.waitFor(async () => expect((await fetch(playlist)).status).toBe(200), {
      timeout: patienceMs,
    })
  })

  test('finds new and removed objects, and follows the playlist of a recorder', async () => {
    const folder = `live/new/${DAY}/live`
    const session = { streamer: 'new', date: DAY, sessionId: 'live' }
    const parts = splitPackets(readFileSync(fixturePath(OTHER_TS)), 6)
    const names = parts.map((_, i) => `${i}.ts`)
    for (const [i, part] of parts.entries()) await bucket.put(`${folder}/${i}.ts`, part)
    const list = async (count: number): Promise<void> => {
      const lines = names.slice(0, count).flatMap((name) => ['#EXTINF:6,', name])
      await bucket.put(`${folder}/index.m3u8`, formatRecordedPlaylist(lines))
    }
    await list(4)
    const first = await waitForPlaylist(session, () => true)
    expect(first.isEnded).toBe(false)
    await list(6)
    const { segments } = first
    const grown = await waitForPlaylist(session, (now) => now.segments.length > segments.length)
    expect(grown.segments.slice(0, segments.length)).toEqual(segments)
    for (const name of ['index.m3u8', ...names]) await bucket.delete(`${folder}/${name}`)
    await vi.waitFor(
      async () => expect(await (await fetch(url + streamersApiPath)).text()).not.toContain('new'),
      { timeout: patienceMs },
    )
  })

  async function waitForPlaylist(
    session: typeof LARGE,
    isWanted: (playlist: ListedPlaylist) => boolean,
  ): Promise<ListedPlaylist> {
    return vi.waitFor(
      async () => {
        const playlist = await fetchPlaylist(url + playlistApiPath(session))
        if (!isWanted(playlist)) throw new Error('it has not changed')
        return playlist
      },
      { timeout: patienceMs, interval: 100 },
    )
  }
})

interface WrongStart {
  bucket?: string
  environment?: NodeJS.ProcessEnv
}

test.each<[string, WrongStart, string]>([
  ['bucket', { bucket: 'no-such-bucket' }, 'no such bucket'],
  ['secret', { environment: { AWS_SECRET_ACCESS_KEY: 'not-the-secret' } }, 'denies access'],
  ['address', { environment: { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' } }, 'unavailable'],
])('ends at the start with a wrong %s', async (_name, wrong, message) => {
  const outcome = await scan(wrong.bucket ?? bucket.name, wrong.environment ?? {})
  expect(outcome).toMatchObject({ code: 2, stdout: '' })
  expect(outcome.stderr).toMatch(/^aftercast: recordings: s3:.*\n$/)
  expect(outcome.stderr).toContain(message)
  expect(outcome.stderr).not.toContain(store.secretAccessKey)
  expect(outcome.stderr).not.toContain('not-the-secret')
})

async function scan(name: string, environment: NodeJS.ProcessEnv): Promise<ProgramOutcome> {
  const folder = path.join(library.folder, 'refused')
  return runInNewProcess(['scan', `s3://${name}/x`, '--data', folder], {
    workingFolder: library.folder,
    environment: { ...PATH_STYLE, ...awsEnvironment(store), ...environment },
  })
}
