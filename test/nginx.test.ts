// The documented configuration of nginx, with the real program, before a server.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import { playerPagePath, playlistApiPath, sessionsApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { startNginx } from './support/servers/nginx.ts'
import { soon } from './support/patience.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { StartedProxy } from './support/servers/start-proxy.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** A session id that looks like a segment. */
const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1.ts' }
const CONCURRENT = 20

let library: TempLibrary
let server: StartedServer
let nginx: StartedProxy

describe.skipIf(findProgram('nginx') === undefined)('nginx', () => {
  beforeAll(async () => {
    library = await createTempLibrary('nginx')
    await library.place('alice/2026-01-31/1.ts.mp4', makeSmallRecording('1'))
    server = await startServer({
      args: library.args,
      environment: {
        AFTERCAST_LOG_REQUESTS: 'true',
        AFTERCAST_TRUST_PROXY: '1',
      },
    })
    nginx = await startNginx(server.url)
    await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
  })

  async function get(target: string, headers: Record<string, string> = {}) {
    const response = await fetch(nginx.url + target, { headers })
    const body = Buffer.from(await response.arrayBuffer())
    return { status: response.status, body: body.toString('latin1'), headers: response.headers }
  }

  const segmentsOf = async (origin: string) =>
    (await fetchPlaylist(origin + playlistApiPath(session))).segments

  /** Statuses of the requests for a path that have reached the server. */
  function statusesOf(target: string): number[] {
    const pattern = /"url":"(?<url>[^"]*)","status":(?<status>\d+)/g
    return [...server.output().matchAll(pattern)].flatMap(({ groups }) =>
      groups?.url === target ? [Number(groups.status)] : [],
    )
  }

  it('collapses requests for one cold segment, and revalidates it later', async () => {
    const [segment] = await segmentsOf(nginx.url)
    const target = new URL(segment?.url ?? '').pathname
    const bodies = await Promise.all(Array.from({ length: CONCURRENT }, () => get(target)))
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1)
    expect(bodies[0]?.headers.get('cache-control')).toContain('immutable')
    const part = await get(target, { range: 'bytes=10-19' })
    expect([part.status, part.body]).toEqual([206, bodies[0]?.body.slice(10, 20)])
    // Once it has expired, the server confirms it without sending it again.
    await expect
      .poll(async () => {
        expect((await get(target)).body).toBe(bodies[0]?.body)
        return statusesOf(target).includes(304)
      }, soon)
      .toBe(true)
    expect(statusesOf(target).filter((status) => status === 200)).toHaveLength(1)
  })

  it('plays what the server would, and names the site as visitors do', async () => {
    const direct = await segmentsOf(server.url)
    const proxied = await segmentsOf(nginx.url)
    expect(proxied).toHaveLength(direct.length)
    for (const [at, segment] of proxied.entries()) {
      const expected = direct[at]
      const isEqual = expected && (await fetchSegment(expected)).equals(await fetchSegment(segment))
      expect(isEqual).toBe(true)
    }
    const { body } = await get(playerPagePath(session))
    expect(body).toContain('http://127.0.0.1')
    expect((await get('/api/video/alice/2026-01-31/1.ts/x/0.ts')).status).toBe(404)
  })

  it('shows nothing of a hidden session within seconds', async () => {
    const targets = (await segmentsOf(nginx.url)).map(({ url }) => new URL(url).pathname)
    const args = ['hide', 'alice', '--data', library.data]
    expect(await runInProcess(args, { workingFolder: library.folder })).toMatchObject({ code: 0 })
    for (const target of [playlistApiPath(session), sessionsApiPath('alice'), ...targets])
      await expect.poll(async () => (await get(target)).status, soon).toBe(410)
  })
})
