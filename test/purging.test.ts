// Purges of caches through the program, which a server of the test receives.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { soon } from './support/patience.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const alice = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const bob = { streamer: 'bob', date: '2026-01-31', sessionId: '1' }

let library: TempLibrary
let cache: TestCache
let server: StartedServer | undefined

interface TestCache {
  url: string
  /** All tags of all purges, in order. */
  tags: string[]
  /** Requests that were received. */
  requests: number
  /** What the next requests are answered; then 200. */
  failures: number[]
  close(): Promise<void>
}

async function startCache(): Promise<TestCache> {
  const http = createServer((request, response) => {
    state.requests += 1
    const status = state.failures.shift() ?? 200
    const tags = String(request.headers['surrogate-key']).split(' ')
    if (status === 200 && request.method === 'PURGE') state.tags.push(...tags)
    response.writeHead(status).end()
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const state: TestCache = {
    url: `http://127.0.0.1:${port}/`,
    tags: [],
    requests: 0,
    failures: [],
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
  return state
}

beforeEach(async () => {
  library = await createTempLibrary('purging')
  for (const { streamer } of [alice, bob])
    await library.place(`${streamer}/2026-01-31/1.mp4`, makeSmallRecording(streamer))
  cache = await startCache()
})

afterEach(async () => {
  await server?.stop()
  await cache.close()
})

async function serve(...urls: string[]): Promise<StartedServer> {
  server = await startServer({
    args: library.args,
    environment: {
      AFTERCAST_WORKERS: urls.length > 1 ? '2' : '1',
      AFTERCAST_PURGE_URLS: (urls.length > 0 ? urls : [cache.url]).join(','),
    },
  })
  await vi.waitFor(() => tagsOf(alice), soon)
  return server
}

/** The tags of the session itself and of its streamer, as the server sends them. */
async function tagsOf(session: SessionReference): Promise<string[]> {
  const response = await fetch((server?.url ?? '') + playlistApiPath(session))
  await response.arrayBuffer()
  return response.headers.get('surrogate-key')?.split(' ') ?? []
}

async function run(...args: string[]): Promise<void> {
  const options = { workingFolder: library.folder }
  const { code, stderr } = await runInProcess([...args, '--data', library.data], options)
  expect([code, stderr]).toEqual([0, ''])
}

/** Waits for the purges of the first scan, and drops them. */
async function settle(): Promise<void> {
  for (const session of [alice, bob]) {
    const [tag = ''] = await tagsOf(session)
    await expect.poll(() => cache.tags, soon).toContain(tag)
  }
  cache.tags.length = 0
}

it('purges a hidden session with its streamer', async () => {
  await serve()
  await settle()
  await run('hide', 'alice/2026-01-31/1')
  const tags = [...(await tagsOf(alice)), expect.stringMatching(/^site-/)]
  await expect.poll(() => cache.tags, soon).toEqual(expect.arrayContaining(tags))
})

it('purges what was hidden while no server ran', async () => {
  await (await serve()).stop()
  await run('hide', 'bob')
  cache.tags.length = 0
  await serve()
  const [, streamer = ''] = await tagsOf(bob)
  await expect.poll(() => cache.tags, soon).toContain(streamer)
})

it('purges a session once its recording is replaced', async () => {
  const { url } = await serve()
  await settle()
  const [tag = ''] = await tagsOf(alice)
  const before = await fetchPlaylist(url + playlistApiPath(alice))
  await library.place('alice/2026-01-31/1.mp4', makeSmallRecording('another'), new Date())
  await expect.poll(() => cache.tags, soon).toContain(tag)
  const after = await fetchPlaylist(url + playlistApiPath(alice))
  expect(after.segments[0]?.url).not.toBe(before.segments[0]?.url)
})

it('repeats a purge that a cache refuses, and delays no other cache', async () => {
  const other = await startCache()
  await serve(cache.url, other.url)
  await settle()
  cache.failures.push(500, 503)
  const requests = cache.requests
  other.tags.length = 0
  await run('hide', 'alice')
  const [, streamer = ''] = await tagsOf(alice)
  await expect.poll(() => other.tags, soon).toContain(streamer)
  await expect.poll(() => cache.tags, soon).toContain(streamer)
  expect(cache.requests - requests).toBeGreaterThanOrEqual(3)
  expect(server?.output()).toContain('a cache could not be purged')
  await other.close()
})
