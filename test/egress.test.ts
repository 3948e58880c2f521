// Egress budgets through the program, with several workers: who is over his budget waits, and all
// others do not.
import { once } from 'node:events'
import { get } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { playlistApiPath, streamersApiPath } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const SESSION = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
/** One segment is the burst of 18 seconds. */
const BUDGET = 20_000
const SEGMENT_BYTES = 18 * BUDGET
/** Two segments are admitted, and 4 s of the budget wait, 5 kB each. */
const REQUESTS = 100
const VIEWERS = ['2001:db8:2::1', '192.0.2.7']

let library: TempLibrary
/** The same, for a server of its own. */
let other: TempLibrary
let server: StartedServer
let segmentUrl: string

beforeAll(async () => {
  library = await createTempLibrary('egress')
  other = await createTempLibrary('egress-counts')
  await library.place('alice/2026-01-31/1.ts', makeLargeRecording(SEGMENT_BYTES * 0.9))
  await other.place('alice/2026-01-31/1.ts', makeLargeRecording(8 * 1024 * 1024))
  server = await startServer({
    args: library.args,
    environment: {
      AFTERCAST_WORKERS: '2',
      AFTERCAST_TRUST_PROXY: 'true',
      AFTERCAST_LIMITS_BYTES_PER_SECOND_PER_CLIENT: String(BUDGET),
    },
  })
  segmentUrl = await findSegment(server.url)
})

afterAll(async () => {
  await server.stop()
  await library.remove()
  await other.remove()
})

async function findSegment(url: string): Promise<string> {
  const { segments } = await fetchPlaylist(url + playlistApiPath(SESSION))
  return segments[0]?.url ?? ''
}

function request(url: string, client: string): ClientRequest {
  return get(url, { agent: false, headers: { 'x-forwarded-for': client } })
}

async function fetchAs(client: string, url: string): Promise<IncomingMessage & { body: Buffer }> {
  const [response] = (await once(request(url, client), 'response')) as [IncomingMessage]
  return Object.assign(response, { body: Buffer.concat(await response.toArray()) })
}

it('paces one client, refuses what would wait too long, and lets all others pass', async () => {
  const refused: IncomingMessage[] = []
  const begun: IncomingMessage[] = []
  const complete: IncomingMessage[] = []
  const sent = Array.from({ length: REQUESTS }, (_, at) => {
    const one = request(segmentUrl, `2001:db8:1::${at}`)
    one.on('error', () => undefined)
    one.on('response', (response) => {
      const list = response.statusCode === 200 ? begun : refused
      list.push(response.on('error', () => undefined))
      response.on('end', () => response.complete && list === begun && complete.push(response))
      if (list === begun) response.resume()
    })
    return one
  })
  await expect.poll(() => refused.length, soon).toBeGreaterThan(0)
  await expect.poll(() => begun.length, soon).toBeGreaterThan(0)
  for (const viewer of VIEWERS) {
    const { statusCode, body, headers } = await fetchAs(viewer, segmentUrl)
    expect([statusCode, String(body.length)]).toEqual([200, headers['content-length']])
  }
  // Of the downloader itself, only media wait.
  expect((await fetchAs('2001:db8:1::1', server.url + streamersApiPath)).statusCode).toBe(200)
  expect(complete.length).toBeLessThan(begun.length)
  const [refusal] = refused
  expect(refusal?.statusCode).toBe(503)
  expect(refusal?.headers).toMatchObject({
    'retry-after': '1',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  })
  // One that disconnects leaves its place to the next.
  for (const one of sent) one.destroy()
  const next = async (): Promise<number | undefined> => {
    const one = request(segmentUrl, '2001:db8:1::1')
    const [response] = (await once(one, 'response')) as [IncomingMessage]
    one.destroy()
    return response.statusCode
  }
  await expect.poll(next, soon).toBe(200)
})

it('counts the bytes of all workers by kind, and shows who received most', async () => {
  const listener = `127.0.0.1:${await findFreePort()}`
  const unlimited = await startServer({
    args: other.args,
    environment: {
      AFTERCAST_WORKERS: '2',
      AFTERCAST_TRUST_PROXY: 'true',
      AFTERCAST_METRICS: listener,
      // The system sends such bytes from the file to the socket.
      AFTERCAST_HLS_ENCRYPTION: 'none',
    },
  })
  const read = async (path: string): Promise<string> =>
    (await fetch(`http://${listener}${path}`)).text()
  const sentBytes = async (kind: string): Promise<number> => {
    const line = new RegExp(`^aftercast_sent_bytes_total\\{kind="${kind}"\\} (.+)$`, 'm')
    return Number(line.exec(await read('/metrics'))?.[1] ?? 0)
  }
  try {
    const url = await findSegment(unlimited.url)
    const bodies = [1, 2, 3, 4].map(async () => (await fetchAs('2001:db8:1::1', url)).body.length)
    const bodyBytes = (await Promise.all(bodies)).reduce((sum, bytes) => sum + bytes, 0)
    await expect.poll(async () => sentBytes('segment'), soon).toBeGreaterThan(bodyBytes)
    expect(await sentBytes('segment')).toBeLessThan(bodyBytes + 4 * 2000)
    expect(await sentBytes('playlist')).toBeGreaterThan(100)
    const aborted = request(url, '2001:db8:2::1')
    await once(aborted, 'response')
    aborted.destroy()
    for (const network of ['2001:db8:1:0::/64', '2001:db8:2:0::/64'])
      await expect.poll(async () => read('/operator'), soon).toContain(network)
  } finally {
    await unlimited.stop()
  }
})
