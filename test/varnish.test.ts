// The documented configurations of Varnish and of Caddy before it, with the real programs and a
// server with two workers.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { startCaddy } from './support/servers/caddy.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { soon } from './support/patience.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { StartedProxy } from './support/servers/start-proxy.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { startVarnish } from './support/servers/varnish.ts'

const alice = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const bob = { ...alice, streamer: 'bob' }
const CONCURRENT = 20
/** `X-Varnish` of a response that was not stored before: one number, of this request. */
const FETCHED = /^\d+$/

const hasPrograms = findProgram('Varnish') !== undefined && findProgram('Caddy') !== undefined

let library: TempLibrary
let server: StartedServer
let varnish: StartedProxy
let caddy: StartedProxy

describe.skipIf(!hasPrograms)('Varnish', () => {
  beforeAll(async () => {
    library = await createTempLibrary('varnish')
    for (const { streamer } of [alice, bob])
      await library.place(`${streamer}/2026-01-31/1.mp4`, makeSmallRecording(streamer))
    const port = await findFreePort()
    server = await startServer({
      args: library.args,
      environment: {
        AFTERCAST_WORKERS: '2',
        AFTERCAST_LOG_REQUESTS: 'true',
        AFTERCAST_PURGE_URLS: `http://127.0.0.1:${port}/`,
        AFTERCAST_TRUST_PROXY: '2',
      },
    })
    varnish = await startVarnish(port, [server.url])
    caddy = await startCaddy(varnish.url)
    for (const session of [alice, bob])
      await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
  })

  interface Received {
    status: number
    body: string
    headers: Headers
  }

  async function get(target: string, headers: Record<string, string> = {}): Promise<Received> {
    const response = await fetch(varnish.url + target, { headers })
    const body = Buffer.from(await response.arrayBuffer()).toString('latin1')
    return { status: response.status, body, headers: response.headers }
  }

  const statusOf = async (target: string): Promise<number> => (await get(target)).status

  async function playlistOf(session: typeof alice) {
    return fetchPlaylist(varnish.url + playlistApiPath(session))
  }

  /** How many requests for a path have reached the server. */
  function requestsFor(target: string): number {
    return server.output().split(`"url":"${target}"`).length - 1
  }

  it('collapses requests for one cold segment, and answers later ones itself', async () => {
    const { segments } = await playlistOf(alice)
    const target = new URL(segments[0]?.url ?? '').pathname
    const bodies = await Promise.all(Array.from({ length: CONCURRENT }, () => get(target)))
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1)
    const again = await get(target)
    expect(again.body).toBe(bodies[0]?.body)
    expect((await get(`${target}?x=1`)).body).toBe(again.body)
    const part = await get(target, { range: 'bytes=10-19' })
    expect([part.status, part.body]).toEqual([206, again.body.slice(10, 20)])
    await expect.poll(() => requestsFor(target), soon).toBe(1)
    expect(requestsFor(`${target}?x=1`)).toBe(0)
    expect(again.headers.get('cache-control')).toContain('immutable')
  })

  it('plays what the server would, and never stores keys, lists or errors', async () => {
    const { segments } = await playlistOf(bob)
    const direct = await fetchPlaylist(server.url + playlistApiPath(bob))
    for (const [at, segment] of segments.entries()) {
      const expected = direct.segments[at]
      expect(expected && (await fetchSegment(expected)).equals(await fetchSegment(segment))).toBe(
        true,
      )
    }
    const key = new URL(segments[0]?.key?.url ?? '').pathname
    for (const target of [key, key, key]) {
      const { status, headers } = await get(target)
      expect([status, headers.get('x-varnish')]).toEqual([200, expect.stringMatching(FETCHED)])
    }
    const missing = thumbnailApiPath({ ...bob, sessionId: 'later' })
    expect(await statusOf(missing)).toBe(404)
    await library.place('bob/2026-01-31/later.mp4', makeSmallRecording('later'))
    await expect.poll(() => statusOf(missing), soon).toBe(200)
    expect((await get(sessionsApiPath('bob'))).body).toContain('later')
  })

  it('asks the server for audio and quality of a playlist, and ignores other queries', async () => {
    const playlist = playlistApiPath(alice)
    const reach = async (target: string): Promise<void> => {
      expect(await statusOf(target)).toBe(200)
      await expect.poll(() => requestsFor(target), soon).toBe(1)
    }
    await reach(`${playlist}?audio=en.2`)
    await reach(`${playlist}?quality=audio`)
    await reach(`${playlist}?audio=en.2&quality=audio`)
    const names = async (query: string) => (await get(playlist + query)).body.match(/\/a0-0\b/)?.[0]
    expect(await names('')).toBeUndefined()
    expect(await names('?quality=audio')).toBe('/a0-0')
    const { segments } = await playlistOf(alice)
    const targets = [playlist, new URL(segments[0]?.url ?? '').pathname]
    const ignored = targets.flatMap((target) => [`${target}?audio=en&x`, `${target}?x=1`])
    for (const target of ignored) await get(target)
    // The log of the server is in order.
    await reach(`${playlist}?audio=de.3`)
    expect(ignored.map(requestsFor)).toEqual([0, 0, 0, 0])
  })

  it('stores one thumbnail for each format, whatever browsers accept', async () => {
    const target = thumbnailApiPath(bob)
    const types = []
    for (const accept of ['image/avif,*/*', 'image/avif,image/webp,*/*;q=0.8', 'image/*', '*/*'])
      types.push((await get(target, { accept })).headers.get('content-type'))
    expect(types).toEqual(['image/avif', 'image/avif', 'image/jpeg', 'image/jpeg'])
    await expect.poll(() => requestsFor(target), soon).toBeLessThanOrEqual(2)
  })

  it('purges for the server itself, and not for visitors behind another proxy', async () => {
    const purge = async (url: string): Promise<number> =>
      (await fetch(url, { method: 'PURGE', headers: { 'surrogate-key': 'a b' } })).status
    expect(await purge(varnish.url)).toBe(200)
    expect(await purge(caddy.url)).toBe(405)
  })

  it('works through Caddy', async () => {
    const { segments } = await fetchPlaylist(caddy.url + playlistApiPath(bob))
    const [expected] = (await playlistOf(bob)).segments
    const [segment] = segments
    const bytes = segment && (await fetchSegment(segment))
    expect(bytes?.equals(expected ? await fetchSegment(expected) : Buffer.alloc(0))).toBe(true)
    const page = await fetch(caddy.url + playerPagePath(bob))
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  })

  it('shows a replaced recording', async () => {
    const [before] = (await playlistOf(bob)).segments
    await library.place('bob/2026-01-31/1.mp4', makeSmallRecording('another'))
    const first = async () => (await playlistOf(bob)).segments[0]?.url
    await expect.poll(first, soon).not.toBe(before?.url)
  })

  it('shows nothing of a hidden session', async () => {
    const { segments } = await playlistOf(alice)
    const targets = [playlistApiPath(alice), new URL(segments[0]?.url ?? '').pathname]
    for (const target of [...targets, thumbnailApiPath(alice)])
      expect([target, await statusOf(target)]).toEqual([target, 200])
    const args = ['hide', 'alice/2026-01-31/1', '--data', library.data]
    expect(await runInProcess(args, { workingFolder: library.folder })).toMatchObject({ code: 0 })
    for (const target of [...targets, thumbnailApiPath(alice)])
      await expect.poll(() => statusOf(target), soon).toBe(410)
    expect((await get(streamersApiPath)).body).not.toContain('alice')
  })
})
