// The API, the page's HTML and all other HTTP except HLS, through the program.
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { errorResponse, sessionsResponse, streamersResponse } from '../shared/contract.ts'
import {
  aroundApiPath,
  detailsApiPath,
  embedPagePath,
  firstFrameApiPath,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  storyboardApiPath,
  streamerFeedPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import {
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from './support/make/make-ts.ts'
import { createOpenApiCheck, findInvalidOpenApi } from './support/verify/check-openapi.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { exchange, rawRequest } from './support/servers/raw-request.ts'
import type { RawResponse } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { soon } from './support/patience.ts'

const TS_FIXTURE = 'ts-h264-pts-wrap-33bit.ts'
/** Streamers in list order: case-insensitive, then by code unit. */
const STREAMERS = ['Alice', 'alice', 'Bob', 'Crowd', 'Zoë', 'Élan & "Co"', '日本']
/** HTML injection: an attribute, an element, an entity, the end of a script. */
const HOSTILE = `"'><img src=x onerror=alert(1)>&amp;<!--`
/** An image that is in no recording: a PNG of one colour, 16 by 9. */
const FRAME = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAJCAIAAAC0SDtlAAAAFElEQVR42mNQaPhPEmIY1TAoNAAAoPnpcW9o6sYAAAAASUVORK5CYII=',
  'base64',
)
const session = { streamer: 'alice', date: '2026-02-01', sessionId: '10' }
const broken = { streamer: 'Bob', date: '2026-02-01', sessionId: 'broken' }

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('api')
  await placeAll(library)
  server = await startServer({ args: library.args })
  // Recordings are listed before they are indexed: wait for the last one's length.
  await vi.waitFor(async () => {
    const sessions = parseExactly(sessionsResponse, json(await raw(sessionsApiPath('Crowd'))))
    const waiting = sessions.filter(({ duration }) => duration === undefined)
    if (waiting.length > 0) throw new Error(`${waiting.length} not indexed:\n${server.output()}`)
  }, soon)
})

async function placeAll(to: TempLibrary): Promise<void> {
  for (const streamer of STREAMERS) await to.place(`${streamer}/2026-01-01/1.mp4`, SMALL_FIXTURE)
  await to.place(`${HOSTILE}/2026-01-01/${HOSTILE}.mp4`, SMALL_FIXTURE)
  for (const name of ['2026-01-31/7', '2026-02-01/9', '2026-02-01/part 10'])
    await to.place(`alice/${name}.mp4`, SMALL_FIXTURE)
  await to.place('alice/2026-02-01/10.ts', TS_FIXTURE)
  await to.place('Bob/2026-02-01/broken.mp4', BROKEN_FIXTURE)
  await to.place('Only Broken/2026-02-01/1.mp4', BROKEN_FIXTURE)
  await to.place('alice/2026-02-01/part 2.mp4', 'mp4-h264-aac-moov-first.mp4')
  for (const name of ['Bob/avatar.png', 'Bob/2026-01-01/1.png', 'alice/2026-02-01/part 2.png'])
    await to.place(name, FRAME)
  for (const name of ['garbage', 'covered'])
    await to.place(`Zoë/2026-01-02/${name}.ts`, undecodableRecording())
  await to.place('Zoë/2026-01-02/covered.png', FRAME)
  for (let number = 2; number <= 40; number += 1)
    await to.place(`Crowd/2026-01-01/${number}.mp4`, SMALL_FIXTURE)
}

/** Five seconds of frames with parameter sets but nothing decodable. */
function undecodableRecording(): Uint8Array {
  const maker = createTsMaker()
  const packets = [...maker.pat(), ...maker.pmt([H264_STREAM])]
  for (let at = 0; at < 50; at += 1) {
    const frame = h264Frame(at % 10 === 0 ? 'key' : 'plain', 400)
    packets.push(...maker.pes(VIDEO_PID, { pts: 90_000 + at * 9000 }, frame))
  }
  return joinPackets(packets)
}

async function raw(target: string, headers: Record<string, string> = {}): Promise<RawResponse> {
  return rawRequest(server.url, target, { headers })
}

function json(response: RawResponse): unknown {
  return JSON.parse(response.body.toString())
}

describe('lists', () => {
  it('sorts streamers by name, case-insensitive, then by code unit', async () => {
    const { streamers } = parseExactly(streamersResponse, json(await raw(streamersApiPath)))
    expect(streamers.map(({ name }) => name)).toEqual([HOSTILE, ...STREAMERS])
  })

  it('counts only playable sessions, and lists no streamer without one', async () => {
    const { streamers } = parseExactly(streamersResponse, json(await raw(streamersApiPath)))
    const counts = new Map(streamers.map(({ name, recording_count }) => [name, recording_count]))
    expect(counts.get('alice')).toBe(6)
    expect(counts.get('Bob')).toBe(1)
    expect(counts.get('Crowd')).toBe(40)
    expect(counts.has('Only Broken')).toBe(false)
  })

  it('sorts sessions by date, newest first, then by id in natural order, last first', async () => {
    const sessions = parseExactly(sessionsResponse, json(await raw(sessionsApiPath('alice'))))
    expect(sessions.map(({ date, sessionId }) => `${date} ${sessionId}`)).toEqual([
      '2026-02-01 part 10',
      '2026-02-01 part 2',
      '2026-02-01 10',
      '2026-02-01 9',
      '2026-01-31 7',
      '2026-01-01 1',
    ])
  })

  it('formats lengths as H:MM:SS, measured from packets', async () => {
    const sessions = parseExactly(sessionsResponse, json(await raw(sessionsApiPath('alice'))))
    const durations = new Map(sessions.map(({ sessionId, duration }) => [sessionId, duration]))
    expect(durations.get('10')).toBe('0:00:20')
    expect(durations.get('9')).toBe('0:00:10')
  })

  it('returns only the documented fields', async () => {
    const [first] = parseExactly(sessionsResponse, json(await raw(sessionsApiPath('Bob'))))
    expect(json(await raw(sessionsApiPath('Bob')))).toEqual([
      { date: '2026-01-01', sessionId: '1', duration: first?.duration },
    ])
  })

  it('returns only public configuration to the page', async () => {
    expect(json(await raw('/api/config'))).toMatchObject({ ads: { provider: 'none' } })
    expect((await raw('/api/config')).body.toString()).not.toMatch(/secret|recordings|host|data/)
  })
})

describe('revalidation', () => {
  const targets = [streamersApiPath, sessionsApiPath('alice'), playlistApiPath(session), '/']
  it.each(targets)('%s: responds 304 without a body to a matching ETag', async (target) => {
    const full = await raw(target)
    expect(full.status).toBe(200)
    const again = await raw(target, { 'if-none-match': full.headers.etag ?? '' })
    expect(again.status).toBe(304)
    expect(again.body.length).toBe(0)
    expect(again.headers.etag).toBe(full.headers.etag)
    expect(again.headers.vary).toBe(full.headers.vary)
    expect(again.headers['cache-control']).toBe(full.headers['cache-control'])
    expect(again.headers['content-security-policy']).toBe(full.headers['content-security-policy'])
    const changed = await raw(target, { 'if-none-match': '"other"' })
    expect(changed.status).toBe(200)
  })

  it.each(targets)('%s: varies by encoding', async (target) => {
    expect((await raw(target)).headers.vary).toMatch(/\bAccept-Encoding\b/i)
  })

  it('accepts targets in the absolute form (RFC 9112, 3.2.2)', async () => {
    const { status, headers } = await rawRequest(
      server.url,
      `http://other.example${streamersApiPath}`,
    )
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('application/json')
  })

  it('allows lists to be cached only with revalidation', async () => {
    expect((await raw(streamersApiPath)).headers['cache-control']).toBe('no-cache')
  })
})

describe('compression', () => {
  const target = sessionsApiPath('Crowd')
  it.each([
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['*', 'gzip'],
    ['gzip, identity;q=1, *;q=0', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0', undefined],
    ['zstd', undefined],
    ['identity', undefined],
    [undefined, undefined],
  ])('accept-encoding %s selects %s', async (accepted, expected) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const response = await raw(target, headers)
    const encoding = response.headers['content-encoding']
    expect(encoding).toBe(expected)
    expect(response.body.length).toBe(Number(response.headers['content-length']))
    expect(decode(response)).toEqual((await raw(target)).body)
  })

  it('does not compress media', async () => {
    const playlist = await fetchPlaylist(server.url + playlistApiPath(session))
    for (const url of mediaUrls(playlist)) {
      const response = await raw(new URL(url).pathname, { 'accept-encoding': 'gzip, br' })
      expect(response.headers['content-encoding']).toBeUndefined()
    }
  })
})

function decode({ headers, body }: RawResponse): Buffer {
  const encoding = headers['content-encoding']
  if (encoding === 'br') return brotliDecompressSync(body)
  return encoding === 'gzip' ? gunzipSync(body) : body
}

function mediaUrls({ segments: [first] }: Awaited<ReturnType<typeof fetchPlaylist>>): string[] {
  return [first?.url, first?.initUrl, first?.key?.url].filter((url) => url !== undefined)
}

describe('docs/api/openapi.json', () => {
  const check = createOpenApiCheck()
  const thumbnail = '/api/thumbnail/{streamer}/{date}/{sessionId}'
  const playlist = '/api/video/{streamer}/{date}/{sessionId}/playlist.m3u8'
  const oembed = '/oembed'
  const page = encodeURIComponent('http://site.example/p/a/b/c')

  it('is OpenAPI 3.1', async () => {
    expect(await findInvalidOpenApi()).toBeUndefined()
  })

  it.each([
    ['/api/streamers', streamersApiPath, 200],
    ['/api/sessions/{streamer}', sessionsApiPath('alice'), 200],
    ['/api/sessions/{streamer}', sessionsApiPath('nobody'), 404],
    ['/api/sessions/{streamer}', '/api/sessions/%2e%2e', 400],
    ['/api/session/{streamer}/{date}/{sessionId}', sessionApiPath(session), 200],
    ['/api/session/{streamer}/{date}/{sessionId}', sessionApiPath(broken), 422],
    ['/api/around/{streamer}/{date}/{sessionId}', aroundApiPath(session), 200],
    ['/api/around/{streamer}/{date}/{sessionId}', aroundApiPath(broken), 422],
    ['/api/details/{streamer}', detailsApiPath('alice'), 200],
    ['/api/config', '/api/config', 200],
    ['/api/thumbnail-streamer/{streamer}', streamerThumbnailApiPath('alice'), 200],
    [thumbnail, thumbnailApiPath(session), 200],
    [thumbnail, firstFrameApiPath(session), 200],
    [thumbnail, thumbnailApiPath(broken), 404],
    [playlist, playlistApiPath(session), 200],
    [playlist, playlistApiPath(broken), 422],
    [playlist, `${playlistApiPath(session)}?audio=_`, 400],
    [oembed, '/oembed', 400],
    [oembed, `/oembed?url=${page}`, 404],
    [oembed, `/oembed?url=${page}&format=xml`, 501],
    ['/embed/{streamer}/{date}/{sessionId}', embedPagePath(session), 200],
    ['/embed/{streamer}/{date}/{sessionId}', embedPagePath(broken), 422],
    ['/feed.xml', '/feed.xml', 200],
    ['/s/{streamer}/feed.xml', streamerFeedPath('alice'), 200],
    ['/sitemap.xml', '/sitemap.xml', 200],
    ['/robots.txt', '/robots.txt', 200],
    ['/ads.txt', '/ads.txt', 404],
    ['/healthz', '/healthz', 200],
    ['/readyz', '/readyz', 200],
  ])('describes the response of %s: %s, %i', async (template, target, status) => {
    const response = await raw(target)
    expect(response.status).toBe(status)
    check('get', template, response)
    const { etag } = response.headers
    if (etag !== undefined) check('get', template, await raw(target, { 'if-none-match': etag }))
  })

  it('describes oEmbed, files of playlists and storyboards', async () => {
    const url = encodeURIComponent(server.url + playerPagePath(session))
    check('get', oembed, await raw(`/oembed?url=${url}`))
    const file = '/api/video/{streamer}/{date}/{sessionId}/{version}/{file}'
    for (const media of mediaUrls(await fetchPlaylist(server.url + playlistApiPath(session)))) {
      check('get', file, await raw(new URL(media).pathname))
    }
    const segments = await fetchPlaylist(server.url + playlistApiPath(session))
    const segment = new URL(segments.segments[0]?.url ?? '').pathname
    for (const range of ['bytes=0-9', 'bytes=999999999-']) {
      check('get', file, await raw(segment, { range }))
    }
    const path = storyboardApiPath(session)
    const storyboard = '/api/storyboard/{streamer}/{date}/{sessionId}'
    const cues = await raw(path)
    check('get', `${storyboard}/storyboard.vtt`, cues)
    const sheet = /^\S+\.jpg/m.exec(cues.body.toString())?.[0] ?? ''
    expect(sheet).toMatch(/^tile-/)
    check('get', `${storyboard}/{file}`, await raw(path.replace('storyboard.vtt', sheet)))
  })

  it('describes the collector', async () => {
    const send = async (body: string, headers = {}): Promise<RawResponse> => {
      const sent = { 'content-type': 'application/json', ...headers }
      const url = `${server.url}/api/activity`
      const response = await fetch(url, { method: 'POST', headers: sent, body })
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: Buffer.from(await response.arrayBuffer()),
      }
    }
    const statuses = [204, 400, 403]
    const responses = [
      await send('[]'),
      await send('{'),
      await send('[]', { origin: 'https://evil.example' }),
    ]
    expect(responses.map(({ status }) => status)).toEqual(statuses)
    for (const response of responses) check('post', '/api/activity', response)
  })
})

describe('HEAD', () => {
  it.each([
    streamersApiPath,
    sessionsApiPath('alice'),
    '/api/config',
    streamerThumbnailApiPath('alice'),
    thumbnailApiPath(session),
    playlistApiPath(session),
    '/',
    sessionsPagePath('alice'),
    playerPagePath(session),
    '/healthz',
    '/readyz',
    '/robots.txt',
    '/sitemap.xml',
    sessionsApiPath('nobody'),
    playlistApiPath(broken),
    '/s/nobody',
    '/nothing',
  ])('%s: responds like GET, without a body', async (target) => {
    const get = await raw(target)
    const head = await rawRequest(server.url, target, { method: 'HEAD' })
    expect(head.status).toBe(get.status)
    expect(head.body.length).toBe(0)
    expect(withoutDate(head.headers)).toEqual(withoutDate(get.headers))
  })

  it('responds for keys, inits and segments', async () => {
    const playlist = await fetchPlaylist(
      server.url + playlistApiPath({ ...session, sessionId: '9' }),
    )
    expect(mediaUrls(playlist).length).toBe(3)
    for (const url of mediaUrls(playlist)) {
      const get = await raw(new URL(url).pathname)
      const head = await rawRequest(server.url, new URL(url).pathname, { method: 'HEAD' })
      expect(head.status).toBe(200)
      expect(head.body.length).toBe(0)
      expect(Number(head.headers['content-length'])).toBe(get.body.length)
      expect(withoutDate(head.headers)).toEqual(withoutDate(get.headers))
    }
  })
})

function withoutDate({ date: _date, ...headers }: Record<string, string>): unknown {
  return headers
}

describe('errors', () => {
  const missing = { streamer: 'alice', date: '2026-02-01', sessionId: 'none' }
  it.each([
    [sessionsApiPath('nobody'), 404, 'not_found'],
    [playlistApiPath(missing), 404, 'not_found'],
    [playlistApiPath({ ...session, streamer: 'nobody' }), 404, 'not_found'],
    [thumbnailApiPath(missing), 404, 'not_found'],
    [streamerThumbnailApiPath('nobody'), 404, 'not_found'],
    ['/api/nothing', 404, 'not_found'],
    ['/api/', 404, 'not_found'],
    ['/api/video/alice/2026-02-01/10/AAAA/0.ts', 404, 'not_found'],
    [sessionsApiPath('..'), 400, 'invalid'],
    ['/api/sessions/%2e%2e', 400, 'invalid'],
    ['/api/sessions/a%2Fb', 400, 'invalid'],
    ['/api/sessions/%00', 400, 'invalid'],
    ['/api/sessions/%zz', 400, 'invalid'],
    ['/api/sessions/%ED%A0%80', 400, 'invalid'],
    ['/api/video/alice/%2e/10/playlist.m3u8', 400, 'invalid'],
    ['/api/thumbnail/alice/2026-02-01/%2e%2e%2f', 400, 'invalid'],
    [`${thumbnailApiPath(session)}?frame=last`, 400, 'invalid'],
    [playlistApiPath(broken), 422, 'unplayable'],
  ])('%s: %i and the code in JSON', async (target, status, code) => {
    const response = await raw(target)
    expect(response.status).toBe(status)
    expect(response.headers['content-type']).toMatch(/^application\/json/)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(parseExactly(errorResponse, json(response)).error.code).toBe(code)
  })

  it('rejects names and URLs that are too long', async () => {
    expect((await raw(sessionsApiPath('x'.repeat(1025)))).status).toBe(400)
    expect((await raw(sessionsApiPath('x'.repeat(10_001)))).status).toBe(400)
    const tooLong = await raw(sessionsApiPath('x'.repeat(20_000)))
    expect(tooLong.status).toBe(431)
    expect(parseExactly(errorResponse, json(tooLong)).error.code).toBe('invalid')
  })

  it('responds to malformed HTTP with the common error shape, and closes', async () => {
    for (const bytes of ['GARBAGE\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET /\0 HTTP/1.1\r\n\r\n']) {
      const answer = (await exchange(server.url, Buffer.from(bytes))).toString()
      expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
      expect(answer).toContain('"code":"invalid"')
    }
  })

  it('ignores a query on routes without one, malformed or not', async () => {
    expect((await raw(`${streamersApiPath}?a=%zz&__proto__=1`)).status).toBe(200)
    expect((await raw('/?next=//evil.example')).status).toBe(200)
  })

  it('returns the reason why a session is unplayable', async () => {
    const { error } = parseExactly(errorResponse, json(await raw(playlistApiPath(broken))))
    expect(error.message.length).toBeGreaterThan(10)
  })

  it('has no thumbnail of an unplayable session', async () => {
    expect((await raw(thumbnailApiPath(broken))).status).toBe(404)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
    '%s changes nothing and is rejected with the common error shape',
    async (method) => {
      for (const target of [streamersApiPath, playlistApiPath(session), '/']) {
        const response = await rawRequest(server.url, target, { method })
        expect([404, 405]).toContain(response.status)
        expect(parseExactly(errorResponse, json(response)).error.code).not.toBe('')
      }
    },
  )

  it('exposes no stack, path, version or software', async () => {
    const targets = [
      '/api/sessions/%zz',
      '/api/sessions/%00',
      '/api/nothing',
      '/nothing',
      '/assets/../../package.json',
      '/assets/none.js',
      playlistApiPath(broken),
      playlistApiPath(missing),
      '/api/video/alice/2026-02-01/10/x/y',
      '/s/%zz',
      '/readyz',
      '/healthz',
      '/api/config',
      '/robots.txt',
    ]
    for (const target of targets) {
      const { headers, body } = await raw(target)
      const text = JSON.stringify(headers) + body.toString()
      expect(text).not.toContain(library.folder)
      expect(text).not.toMatch(
        /node_modules|fastify|\bat \S+:\d+|\.ts:\d|server\/site|\b0\.1\.0\b/i,
      )
      expect(headers.server).toBeUndefined()
      expect(headers['x-powered-by']).toBeUndefined()
    }
  })

  it('serves no metrics on the public listener', async () => {
    expect((await raw('/metrics')).status).toBe(404)
  })
})

describe('headers', () => {
  const everything = [
    streamersApiPath,
    playlistApiPath(session),
    thumbnailApiPath(session),
    '/',
    '/nothing',
    '/assets/none.js',
    '/api/nothing',
    '/api/config',
    sessionsApiPath('nobody'),
    '/api/sessions/%zz',
    '/s/%zz',
    '/healthz',
    '/sitemap.xml',
  ]
  it.each(everything)('%s: has nosniff and the security headers of its kind', async (target) => {
    const { headers } = await raw(target)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('strict-origin-when-cross-origin')
    expect(headers['permissions-policy']).toContain('camera=()')
    expect(headers['x-frame-options']).toBe('SAMEORIGIN')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    // Thumbnails are named by feeds, oEmbed and share cards.
    const readers = target.startsWith('/api/thumbnail') ? 'cross-origin' : 'same-origin'
    expect(headers['cross-origin-resource-policy']).toBe(readers)
  })

  it('never serves data as a page', async () => {
    const { headers } = await raw(streamersApiPath)
    expect(headers['content-security-policy']).toContain('sandbox')
  })

  it('sends the same headers with media', async () => {
    const playlist = await fetchPlaylist(server.url + playlistApiPath(session))
    for (const url of mediaUrls(playlist)) {
      const { headers } = await raw(new URL(url).pathname)
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['content-security-policy']).toContain('sandbox')
    }
  })
})

describe('other origins', () => {
  const origin = 'https://viewer.example'
  it('get no CORS headers by default', async () => {
    const { headers } = await raw(streamersApiPath, { origin })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('may read if the configuration lists them', async () => {
    const open = await startServer({
      args: [library.recordings, '--data', `${library.data}-cors`],
      environment: { AFTERCAST_CORS_ORIGINS: origin },
    })
    const ask = (target: string, from: string, method = 'GET') => {
      const headers = { origin: from, 'access-control-request-method': 'GET' }
      return rawRequest(open.url, target, { headers, method })
    }
    const targets = [streamersApiPath, playlistApiPath(session), ...(await mediaPaths(open.url))]
    for (const target of targets) {
      const listed = await ask(target, origin)
      expect(listed.headers['access-control-allow-origin'], target).toBe(origin)
      expect(listed.headers.vary).toMatch(/\bOrigin\b/i)
      expect(listed.headers['cross-origin-resource-policy']).toBe('cross-origin')
      const other = await ask(target, 'https://evil.example')
      expect(other.headers['access-control-allow-origin'], target).not.toBe('https://evil.example')
      expect(other.headers['access-control-allow-origin'], target).not.toBe('*')
    }
    const preflight = await ask(streamersApiPath, origin, 'OPTIONS')
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-methods']).toMatch(/GET/)
  })
})

async function mediaPaths(origin: string): Promise<string[]> {
  const playlist = await fetchPlaylist(origin + playlistApiPath(session))
  return mediaUrls(playlist).map((url) => new URL(url).pathname)
}

describe('video', () => {
  it.each([
    ['image/avif,image/webp,*/*', 'image/avif'],
    ['image/webp,*/*', 'image/webp'],
    ['*/*', 'image/jpeg'],
    [undefined, 'image/jpeg'],
  ])('accept %s selects %s', async (accept, type) => {
    const headers = accept === undefined ? {} : { accept }
    for (const target of [thumbnailApiPath(session), streamerThumbnailApiPath('alice')]) {
      const frame = await raw(target, headers)
      expect(frame.status).toBe(200)
      expect(frame.headers['content-type']).toBe(type)
      expect(frame.headers.vary).toMatch(/\bAccept\b/)
      expect(frame.body.length).toBeGreaterThan(100)
      const again = await raw(target, { ...headers, 'if-none-match': frame.headers.etag ?? '' })
      expect([again.status, again.body.length]).toEqual([304, 0])
    }
  })

  it('next to a recording, or in the folder of a streamer, take precedence', async () => {
    for (const target of [
      thumbnailApiPath({ streamer: 'Bob', date: '2026-01-01', sessionId: '1' }),
      streamerThumbnailApiPath('Bob'),
    ]) {
      const { status, headers, body } = await raw(target, { accept: 'image/png, */*' })
      expect([status, headers['content-type']]).toEqual([200, 'image/png'])
      expect(body.equals(FRAME)).toBe(true)
    }
  })

  it('show the first frame on request, or what there is in its place', async () => {
    const bob = { streamer: 'Bob', date: '2026-01-01', sessionId: '1' }
    const bright = await raw(firstFrameApiPath({ ...session, sessionId: 'part 2' }))
    expect([bright.status, bright.headers['content-type']]).toEqual([200, 'image/jpeg'])
    // Nearly black.
    expect((await raw(firstFrameApiPath(bob))).body.equals(FRAME)).toBe(true)
    const garbage = { streamer: 'Zoë', date: '2026-01-02', sessionId: 'garbage' }
    expect((await raw(firstFrameApiPath(garbage))).status).toBe(404)
    const covered = { ...garbage, sessionId: 'covered' }
    expect((await raw(firstFrameApiPath(covered))).body.equals(FRAME)).toBe(true)
  })

  it('are missing for an undecodable recording, which is still playable', async () => {
    const undecodable = { streamer: 'Zoë', date: '2026-01-02', sessionId: 'garbage' }
    expect((await raw(thumbnailApiPath(undecodable))).status).toBe(404)
    expect((await raw(playlistApiPath(undecodable))).status).toBe(200)
  })
})

describe('health and crawlers', () => {
  it('reports liveness and readiness, neither cacheable', async () => {
    for (const target of ['/healthz', '/readyz']) {
      const response = await raw(target)
      expect(response.status).toBe(200)
      expect(response.headers['cache-control']).toBe('no-store')
    }
  })

  it('links the sitemap in robots.txt', async () => {
    const { body, headers } = await raw('/robots.txt')
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(body.toString()).toMatch(/^User-agent: \*\n/)
    expect(body.toString()).toContain(`Sitemap: ${server.url}/sitemap.xml`)
  })

  it('lists every page in the sitemap, names encoded and escaped', async () => {
    const { body, headers } = await raw('/sitemap.xml')
    expect(headers['content-type']).toMatch(/^application\/xml/)
    const addresses = [...body.toString().matchAll(/<loc>(?<address>[^<]*)<\/loc>/g)].map(
      ({ groups }) => (groups?.address ?? '').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
    )
    expect(body.toString()).not.toContain('<img')
    expect(addresses).toContain(`${server.url}/`)
    expect(addresses).toContain(server.url + playerPagePath(session))
    expect(addresses).toContain(server.url + sessionsPagePath(HOSTILE))
    expect(addresses).not.toContain(server.url + playerPagePath(broken))
    // the home page, each streamer, each session
    expect(addresses.length).toBe(1 + 8 + 54)
    for (const address of addresses.slice(0, 12)) {
      expect((await raw(new URL(address).pathname)).status).toBe(200)
    }
  })
})

describe('answers about the whole library', () => {
  it.each(['/sitemap.xml', streamersApiPath, sessionsApiPath('Crowd')])(
    '%s: is compressed, and revalidated by its ETag',
    async (target) => {
      const plain = await raw(target)
      const packed = await raw(target, { 'accept-encoding': 'br' })
      expect(packed.headers['content-encoding']).toBe(plain.body.length < 1024 ? undefined : 'br')
      expect(packed.headers.vary).toBe('Accept-Encoding')
      expect(packed.headers.etag).toBe(plain.headers.etag)
      const again = await raw(target, { 'if-none-match': String(plain.headers.etag) })
      expect(again.status).toBe(304)
      expect(again.body.length).toBe(0)
    },
  )
})

describe('pages', () => {
  it.each([
    ['/', 200, 'Streamers · Aftercast'],
    [sessionsPagePath('alice'), 200, 'Sessions: alice · Aftercast'],
    [playerPagePath(session), 200, 'alice - 2026-02-01 - 10 · Aftercast'],
    [sessionsPagePath('日本'), 200, 'Sessions: 日本 · Aftercast'],
    [sessionsPagePath('nobody'), 404, 'Sessions: nobody · Aftercast'],
    [playerPagePath({ ...session, sessionId: 'x' }), 404, 'alice - 2026-02-01 - x · Aftercast'],
    [playerPagePath(broken), 422, 'Bob - 2026-02-01 - broken · Aftercast'],
    ['/nothing/at/all', 404, 'Not found · Aftercast'],
    ['/s/%2e%2e', 400, 'Not found · Aftercast'],
    ['/s/%00', 400, 'Not found · Aftercast'],
    ['/s/%zz', 400, 'Not found · Aftercast'],
    ['/p/alice/%2e%2e/10', 400, 'Not found · Aftercast'],
  ])('%s: %i, as a page', async (target, status, title) => {
    const response = await raw(target)
    expect(response.status).toBe(status)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    const html = response.body.toString()
    expect(html).toContain('<div id="root">')
    expect(html).toContain(`<title>${title}</title>`)
    expect(html.includes('<meta name="robots" content="noindex">')).toBe(status !== 200)
  })

  it.each([sessionsPagePath(HOSTILE), playerPagePath(hostileSession())])(
    '%s: shows a hostile name only as text',
    async (target) => {
      const { status, body } = await raw(target)
      expect(status).toBe(200)
      const html = body.toString()
      expect(html).not.toContain('<img')
      expect(html).not.toContain('<!--"')
      expect(html.match(/<script/g)?.length).toBe(
        (await raw(target.startsWith('/s/') ? '/s/alice' : playerPagePath(session))).body
          .toString()
          .match(/<script/g)?.length,
      )
      expect(html).toContain('&quot;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;&lt;!--')
    },
  )

  it.each([
    ['/s/alice/', '/s/alice'],
    ['/s/a%2Fb%20%252F/?q=x/&y', '/s/a%2Fb%20%252F?q=x/&y'],
    [`${playerPagePath(session)}/`, playerPagePath(session)],
  ])('%s: redirects to %s', async (target, location) => {
    const { status, headers } = await raw(target)
    expect([status, headers.location]).toEqual([301, location])
  })

  it.each([
    ['/favicon.ico', 'image/vnd.microsoft.icon'],
    ['/apple-touch-icon.png', 'image/png'],
    ['/icon-512.png', 'image/png'],
    ['/manifest.webmanifest', 'application/manifest+json'],
  ])('%s: is %s, cached for a day', async (target, type) => {
    const { status, headers, body } = await raw(target)
    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(100)
    expect(headers['content-type']).toMatch(type)
    expect(headers['cache-control']).toBe('public, max-age=86400')
    expect(headers['content-security-policy']).toBeDefined()
    const again = await raw(target, { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
  })

  it('names only icons that exist in the manifest', async () => {
    const manifest = json(await raw('/manifest.webmanifest'))
    const { icons } = z.object({ icons: z.array(z.object({ src: z.string() })) }).parse(manifest)
    expect(icons.length).toBeGreaterThan(0)
    for (const { src } of icons) expect((await raw(src)).status).toBe(200)
  })

  it('serves the built files as immutable, and nothing else of the folder', async () => {
    const html = (await raw('/')).body.toString()
    const script = /src="(?<path>\/assets\/[^"]+\.js)"/.exec(html)?.groups?.path ?? ''
    const { status, headers, body } = await raw(script)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['content-type']).toMatch(/javascript/)
    const packed = await raw(script, { 'accept-encoding': 'gzip, br' })
    expect(packed.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' })
    expect(brotliDecompressSync(packed.body)).toEqual(body)
    // Those of earlier releases, too: tabs may still be open.
    const all = path.join(library.data, 'page-assets')
    expect(await readdir(all)).toContain(path.basename(script))
    await writeFile(path.join(all, 'earlier.js'), '1')
    expect((await raw('/assets/earlier.js')).headers['cache-control']).toContain('immutable')
    for (const other of ['/assets/', '/index.html', '/.vite/manifest.json', '/assets/.hidden'])
      expect((await raw(other)).status, other).toBe(404)
  })
})

function hostileSession() {
  return { streamer: HOSTILE, date: '2026-01-01', sessionId: HOSTILE }
}
