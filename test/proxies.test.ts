// The documented configurations of nginx, Caddy and Apache with TLS, HTTP/2 and a base path, and of
// Varnish with a base path: the real programs before one server.
import { request as requestHttp } from 'node:http'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import {
  activityApiPath,
  playerPagePath,
  playlistApiPath,
  sessionsPagePath,
  streamersApiPath,
} from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { startApache } from './support/servers/apache.ts'
import { startCaddyWithTls } from './support/servers/caddy.ts'
import type { SiteForm, TlsAddress } from './support/servers/documented-site.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { connectHttp2 } from './support/servers/http2-client.ts'
import type { Http2Client, Http2Request } from './support/servers/http2-client.ts'
import { startNginxWithTls } from './support/servers/nginx.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import type { StartedProxy } from './support/servers/start-proxy.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { startVarnish } from './support/servers/varnish.ts'

interface Proxy {
  name: string
  program: string | undefined
  start(this: void, backend: string, form: SiteForm): Promise<StartedProxy & TlsAddress>
  /** Addresses of two visitors; the limit of reports is per address, for all proxies. */
  visitors: [string, string]
}

const proxies: Proxy[] = [
  {
    name: 'nginx',
    program: findProgram('nginx'),
    start: startNginxWithTls,
    visitors: ['127.0.1.1', '127.0.1.2'],
  },
  {
    name: 'Caddy',
    program: findProgram('Caddy'),
    start: startCaddyWithTls,
    visitors: ['127.0.2.1', '127.0.2.2'],
  },
  {
    name: 'Apache',
    program: findProgram('Apache'),
    start: startApache,
    visitors: ['127.0.3.1', '127.0.3.2'],
  },
]

/** Characters that proxies decode, encode or refuse where they should not. */
const streamer = 'Zoë & 50% + a;b#c?d'
const session = { streamer, date: '2026-01-31', sessionId: '1' }
/** More reports than an address may send in a minute. */
const REPORTS = 150
/** Larger than a report may be. */
const LARGE_BODY = 'x'.repeat(70_000)

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('proxies')
  await library.place(`${streamer}/2026-01-31/1.ts`, 'ts-h264-aac-clean-hls-concat.ts')
  await library.place('alice/2026-01-31/1.mp4', makeSmallRecording('1'))
  server = await startServer({
    args: library.args,
    environment: {
      AFTERCAST_BASE_PATH: '/tv',
      AFTERCAST_PUBLIC_URL: 'https://site.example',
      AFTERCAST_TRUST_PROXY: '1',
    },
  })
  await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
})

describe.each(proxies)('$name', ({ program, start, visitors }) => {
  describe.skipIf(program === undefined)('with TLS and a base path', () => {
    let proxy: StartedProxy & TlsAddress
    let client: Http2Client

    beforeAll(async () => {
      proxy = await start(server.url, 'base path')
      client = await connectHttp2(proxy.url)
    })

    afterAll(() => client.close())

    const get = async (path: string, headers: Record<string, string> = {}) =>
      client.request(`/tv${path}`, { headers })

    it('negotiates HTTP/2', () => {
      expect(client.protocol).toBe('h2')
    })

    it('passes pages and errors on as they are', async () => {
      const { origin } = new URL(server.url)
      const paths = ['/', playerPagePath(session), '/s/a%2Fb', '/s/%252F', '/s/x%3By', '/nothing']
      for (const path of [...paths, '/api/nothing', '/api/sessions/a%5Cb']) {
        const direct = await rawRequest(origin, `/tv${path}`)
        const proxied = await get(path)
        expect([path, proxied.status]).toEqual([path, direct.status])
        expect(proxied.headers['content-security-policy'] ?? path).toBe(
          direct.headers['content-security-policy'] ?? path,
        )
      }
      const page = await get(playerPagePath(session))
      expect(page.body.toString()).toContain(
        '<link rel="canonical" href="https://site.example/tv/p/',
      )
    })

    it('compresses nothing twice, and confirms what a browser has', async () => {
      const page = await get('/', { 'accept-encoding': 'gzip' })
      expect(page.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(page.body).toString()).toMatch(/^<!doctype html>/)
      // Too short for Aftercast, of a type that Debian's Apache compresses.
      const robots = await get('/robots.txt', { 'accept-encoding': 'gzip' })
      expect([robots.status, robots.headers['content-encoding']]).toEqual([200, undefined])
      const list = await get(streamersApiPath, { 'accept-encoding': 'gzip' })
      expect([list.status, list.headers['content-encoding']]).toEqual([200, undefined])
      for (const [path, { headers }] of [
        ['/', page],
        [streamersApiPath, list],
      ] as const) {
        const etag = headers.etag ?? ''
        const again = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': etag })
        expect([again.status, again.body.length]).toEqual([304, 0])
      }
    })

    it('plays: playlist, whole segments and ranges of them', async () => {
      const path = playlistApiPath(session)
      const playlist = await get(path)
      expect(playlist.status).toBe(200)
      const [segment = ''] = playlist.body.toString().match(/^[^#\s].*$/m) ?? []
      const { pathname } = new URL(segment, proxy.url + `/tv${path}`)
      const direct = Buffer.from(await (await fetch(new URL(pathname, server.url))).arrayBuffer())
      const whole = await client.request(pathname)
      expect([whole.status, whole.body.equals(direct)]).toEqual([200, true])
      const part = await client.request(pathname, { headers: { range: 'bytes=1000-1999' } })
      expect([part.status, part.headers['content-range']]).toEqual([
        206,
        `bytes 1000-1999/${direct.length}`,
      ])
      expect(part.body.equals(direct.subarray(1000, 2000))).toBe(true)
    })

    it('redirects with https and the base path', async () => {
      for (const [path, target] of [
        [`${sessionsPagePath('alice')}/?page=2`, '/tv/s/alice?page=2'],
        ['', '/tv/'],
      ]) {
        const { status, headers } = await get(path ?? '')
        const location = new URL(headers.location ?? '', `${proxy.url}/tv${path}`).href
        expect([status, location]).toEqual([expect.toBeOneOf([301, 308]), proxy.url + target])
      }
      const plain = await requestPlain(proxy.httpPort, '/tv/s/alice?page=2')
      expect([plain.status, plain.location]).toEqual([
        expect.toBeOneOf([301, 308]),
        expect.stringMatching(/^https:\/\/.*\/tv\/s\/alice\?page=2$/),
      ])
    })

    it('leaves other paths of the host to other sites', async () => {
      for (const path of ['/', '/radio/', '/api/streamers', '/tvs/']) {
        const { headers, body } = await client.request(path)
        expect(headers['permissions-policy']).toBeUndefined()
        expect(body.toString()).not.toContain('data-base-path')
      }
    })

    it('passes the address of the visitor on, and not what the visitor invents', async () => {
      const [busy, other] = visitors
      const body = JSON.stringify([{ name: 'page_view', path: '/', title: 'x' }])
      const report = async (from: Http2Client, forged: Record<string, string> = {}) => {
        const headers = { 'content-type': 'text/plain', ...forged }
        return (await from.request(`/tv${activityApiPath}`, { method: 'POST', headers, body }))
          .status
      }
      const [busyClient, otherClient] = [
        await connectHttp2(proxy.url, busy),
        await connectHttp2(proxy.url, other),
      ]
      const burst = async (forged?: Record<string, string>): Promise<number[]> =>
        Promise.all(Array.from({ length: REPORTS }, async () => report(busyClient, forged)))
      await expect.poll(async () => burst(), soon).toContain(429)
      await expect
        .poll(async () => burst({ 'x-forwarded-for': '203.0.113.7' }), soon)
        .toContain(429)
      expect(await report(otherClient)).toBe(204)
      expect(await report(otherClient, { 'x-forwarded-for': busy })).toBe(204)
      busyClient.close()
      otherClient.close()
    })

    it('refuses large bodies', async () => {
      const large: Http2Request = { method: 'POST', body: LARGE_BODY }
      const headers = { 'content-type': 'text/plain', 'content-length': String(LARGE_BODY.length) }
      const { status } = await client.request(`/tv${activityApiPath}`, { ...large, headers })
      // The server answers before it has read the body, which some proxies report as 502.
      expect(status).toBeOneOf([413, 502])
    })
  })

  it.skipIf(program === undefined)('passes on all paths without the option', async () => {
    const proxy = await start(server.url, 'root')
    onTestFinished(proxy.stop)
    const client = await connectHttp2(proxy.url)
    onTestFinished(client.close)
    const home = await client.request('/')
    expect([home.status, home.headers.location]).toEqual([301, '/tv/'])
    const page = await client.request(`/tv${playerPagePath(session)}`)
    expect(page.status).toBe(200)
  })
})

describe.skipIf(findProgram('Varnish') === undefined)('Varnish', () => {
  it('stores segments below a base path once, whatever their query', async () => {
    const varnish = await startVarnish(await findFreePort(), [server.url])
    onTestFinished(varnish.stop)
    const { segments } = await fetchPlaylist(`${varnish.url}/tv${playlistApiPath(session)}`)
    const url = segments[0]?.url ?? ''
    await (await fetch(`${url}?x=1`)).arrayBuffer()
    const again = await fetch(`${url}?x=2`)
    await again.arrayBuffer()
    // Of this request, and of the one that has stored it.
    expect(again.headers.get('x-varnish')).toMatch(/^\d+ \d+$/)
  })
})

/** Without TLS. */
async function requestPlain(port: number, path: string) {
  const request = requestHttp({ host: '127.0.0.1', port, path, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  response.resume()
  return { status: response.statusCode, location: response.headers.location }
}
