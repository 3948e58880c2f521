// Encrypted segments cached in memory, through the program: the same bytes as without the cache.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchBytes, fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, RECORDED_AT, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const SECRET = 'a secret of both'
let library: TempLibrary
let other: TempLibrary
let cached: StartedServer
let uncached: StartedServer
let metricsUrl: string

beforeAll(async () => {
  library = await createTempLibrary('segment-cache')
  other = await createTempLibrary('segment-cache-off')
  for (const each of [library, other]) {
    for (const id of ['one', 'twin']) await each.place(`alice/2026-01-31/${id}.mp4`, SMALL_FIXTURE)
    await each.place('alice/2026-01-31/large.ts', makeLargeRecording())
  }
  const metrics = `127.0.0.1:${await findFreePort()}`
  metricsUrl = `http://${metrics}/metrics`
  cached = await start(library, {
    AFTERCAST_METRICS: metrics,
    AFTERCAST_HLS_CACHE_MEGABYTES: '256',
  })
  uncached = await start(other, { AFTERCAST_HLS_CACHE_MEGABYTES: '0' })
})

async function start(from: TempLibrary, environment: NodeJS.ProcessEnv): Promise<StartedServer> {
  return startServer({
    args: from.args,
    environment: { AFTERCAST_HLS_SECRET: SECRET, ...environment },
  })
}

async function segmentsOf(sessionId: string, { url } = cached) {
  const session = { streamer: 'alice', date: '2026-01-31', sessionId }
  const { segments } = await fetchPlaylist(url + playlistApiPath(session))
  return segments
}

async function firstUrl(sessionId: string): Promise<string> {
  const [first] = await segmentsOf(sessionId)
  if (first === undefined) throw new Error(`${sessionId} has no segment`)
  return first.url
}

/** Number of cache hits or misses. */
async function countOf(result: 'hit' | 'miss'): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const line = new RegExp(`cache_requests_total\\{result="${result}"\\} (?<n>\\d+)`).exec(text)
  return Number(line?.groups?.n)
}

async function bodyOf(url: string, range?: string): Promise<Buffer> {
  const { origin, pathname } = new URL(url)
  return (await rawRequest(origin, pathname, { headers: range ? { range } : {} })).body
}

it('serves the same bytes from memory, completely and by range', async () => {
  const plain = await segmentsOf('one', uncached)
  const expected = await Promise.all(plain.map(({ url }) => fetchBytes(url)))
  const segments = await segmentsOf('one')
  for (let pass = 0; pass < 4; pass += 1) {
    const bodies = await Promise.all(segments.map(({ url }) => fetchBytes(url)))
    expect(bodies.map((body, i) => body.equals(expected[i] ?? body))).toEqual(
      segments.map(() => true),
    )
  }
  expect(await countOf('hit')).toBe(2 * segments.length)
  const url = await firstUrl('one')
  const size = expected[0]?.length ?? 0
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=17-9000', 17, 9001],
    ['bytes=-5', size - 5, size],
  ] as const) {
    const body = await bodyOf(url, range)
    expect(body.equals(expected[0]?.subarray(start, end) ?? Buffer.alloc(0)), range).toBe(true)
  }
  expect(await countOf('hit')).toBe(2 * segments.length + 3)
})

it('separates sessions with the same recording', async () => {
  const [one, twin] = await Promise.all(['one', 'twin'].map(async (id) => segmentsOf(id)))
  for (let pass = 0; pass < 3; pass += 1) await fetchBytes(one?.[0]?.url ?? '')
  const bodies: Buffer[] = []
  for (let pass = 0; pass < 3; pass += 1) {
    for (const segment of [one?.[0], twin?.[0]])
      if (segment !== undefined) bodies.push(await fetchSegment(segment))
  }
  expect(bodies.length).toBe(6)
  expect(bodies.every((body) => body.equals(bodies[0] ?? body))).toBe(true)
})

it('sends a complete segment after aborted downloads', async () => {
  const url = await firstUrl('large')
  const [plain] = await segmentsOf('large', uncached)
  const expected = await fetchBytes(plain?.url ?? '')
  for (let i = 0; i < 4; i += 1) {
    const request = get(url)
    const [response] = await once(request, 'response')
    await once(response, 'data')
    request.destroy()
  }
  const hits = await countOf('hit')
  expect((await fetchBytes(url)).equals(expected)).toBe(true)
  expect(await countOf('hit')).toBe(hits + 1)
})

it('does not serve removed recordings from memory', async () => {
  const url = await firstUrl('twin')
  for (let pass = 0; pass < 3; pass += 1) await fetchBytes(url)
  await writeFile(library.pathOf('alice/2026-01-31/twin.mp4'), 'another recording')
  await expect(fetchBytes(url)).rejects.toThrow(/^4\d\d for/)
  await library.place('alice/2026-01-31/twin.mp4', SMALL_FIXTURE, RECORDED_AT)
  await expect.poll(() => fetchBytes(url).catch(() => undefined)).toBeDefined()
})
