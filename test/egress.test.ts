// Egress budgets through the program, with several workers: who is over his budget waits, and all
// others do not.
import { once } from 'node:events'
import { get } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { playlistApiPath, streamersApiPath } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** One segment is the burst of 18 seconds. */
const BUDGET = 20_000
const SEGMENT_BYTES = 18 * BUDGET
/** Two segments are admitted, and 4 s of the budget wait, 5 kB each. */
const REQUESTS = 100
const VIEWERS = ['2001:db8:2::1', '192.0.2.7']

let library: TempLibrary
let server: StartedServer
let segmentUrl: string

beforeAll(async () => {
  library = await createTempLibrary('egress')
  await library.place('alice/2026-01-31/1.ts', makeLargeRecording(SEGMENT_BYTES * 0.9))
  server = await startServer({
    args: library.args,
    environment: {
      AFTERCAST_WORKERS: '2',
      AFTERCAST_TRUST_PROXY: 'true',
      AFTERCAST_LIMITS_BYTES_PER_SECOND_PER_CLIENT: String(BUDGET),
    },
  })
  const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
  const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
  segmentUrl = segments[0]?.url ?? ''
})

afterAll(async () => {
  await server.stop()
  await library.remove()
})

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
