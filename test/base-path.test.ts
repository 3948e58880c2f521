// A site below a base path, through the program: all of its URLs, and what is outside.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import {
  configApiPath,
  detailsApiPath,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsPagePath,
} from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { followLinks } from './support/verify/follow-links.ts'
import type { Visited } from './support/verify/follow-links.ts'

const BASE = '/tv'
const PUBLIC_URL = 'https://site.example'
const streamer = 'Zoë & co'
const date = '2026-01-31'
const plain = { streamer, date, sessionId: 'plain' }
/** With two audio tracks and subtitles. */
const tracks = { streamer, date, sessionId: 'tracks' }

const FRAME = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAJCAIAAAC0SDtlAAAAFElEQVR42mNQaPhPEmIY1TAoNAAAoPnpcW9o6sYAAAAASUVORK5CYII=',
  'base64',
)

let library: TempLibrary
let server: StartedServer
let origin: string

beforeAll(async () => {
  library = await createTempLibrary('base-path')
  const folder = `${streamer}/${date}`
  await library.place(`${folder}/plain.ts`, 'ts-h264-aac-clean-hls-concat.ts')
  await library.place(`${folder}/tracks.mp4`, 'mp4-h264-two-video-two-audio-movtext.mp4')
  await library.place(`${streamer}/avatar.png`, FRAME)
  server = await startServer({
    args: library.args,
    settings: { ads: { provider: 'house' } },
    environment: {
      AFTERCAST_BASE_PATH: BASE,
      AFTERCAST_PUBLIC_URL: PUBLIC_URL,
      AFTERCAST_LOG_REQUESTS: 'true',
    },
  })
  ;({ origin } = new URL(server.url))
  for (const session of [plain, tracks]) {
    await vi.waitFor(async () => {
      const body: unknown = await (await fetch(server.url + sessionApiPath(session))).json()
      if (!parseExactly(sessionResponse, body).durationSeconds) throw new Error('not indexed')
    }, soon)
  }
})

const raw = async (target: string, method = 'GET') => rawRequest(origin, target, { method })

describe('a site below a base path', () => {
  let visited: Map<string, Visited>

  beforeAll(async () => {
    const seeds = [
      '/',
      '/robots.txt',
      configApiPath,
      detailsApiPath(streamer),
      sessionApiPath(plain),
      sessionApiPath(tracks),
      '/api/promo/serve?zone=banner&zone=inline&zone=banner&zone=inline',
    ]
    const publicOrigins = [PUBLIC_URL]
    visited = await followLinks({ origin, publicOrigins, seeds: seeds.map((seed) => BASE + seed) })
  })

  it('is announced where visitors of this machine find it', () => {
    expect(server.url).toMatch(/:\d+\/tv$/)
  })

  it('has only URLs that begin with it, and that exist', () => {
    const problems = [...visited].flatMap(([url, { from, status }]) => {
      const isInside = url.startsWith(`${origin}${BASE}/`)
      return isInside && status === expectedStatus(url) ? [] : [`${status} ${url} in ${from}`]
    })
    expect(problems).toEqual([])
  })

  it.each([
    ['pages', /\/p\/Zo%C3%AB%20%26%20co\/2026-01-31\/plain$/],
    ['embedded players', /\/embed\/.*\/plain$/],
    ['scripts', /\/assets\/index-[\w-]+\.js$/],
    ['scripts of scripts', /\/assets\/session-controls-[\w-]+\.js$/],
    ['styles of scripts', /\/assets\/session-controls-[\w-]+\.css$/],
    ['the worker', /\/assets\/hls\.worker-[\w-]+\.js$/],
    ['icons', /\/favicon\.ico$/],
    ['icons of the manifest', /\/icon-192\.png$/],
    ['lists', /\/api\/sessions\/Zo/],
    ['playlists', /\/plain\/playlist\.m3u8$/],
    ['segments', /\/plain\/[^/]+\/0\.ts$/],
    ['keys', /\/plain\/[^/]+\/[^/]*key[^/]*$/],
    ['renditions', /\/tracks\/[^/]+\/.*\.m3u8$/],
    ['subtitles', /\/tracks\/[^/]+\/.*\.vtt$/],
    ['storyboards', /\/plain\/storyboard\.vtt$/],
    ['sheets', /\/plain\/tile-[^/]*$/],
    ['thumbnails', /\/api\/thumbnail\/.*\/tracks$/],
    ['avatars', /\/api\/thumbnail-streamer\/Zo/],
    ['feeds', /\/s\/Zo[^/]*\/feed\.xml$/],
    ['sitemaps', /\/sitemap\.xml$/],
    ['oEmbed', /\/oembed\?url=https/],
    ['the ad script', /\/api\/proxy-ad\/house\/ad-provider\.js$/],
    ['frames of ads', /\/api\/promo\/frame\//],
    ['VAST', /\/api\/promo\/vast\?zone=video$/],
    ['videos of ads', /\/api\/promo\/media\//],
    ['events of ads', /\/api\/promo\/event\/complete\//],
  ])('has %s among them', (_, pattern) => {
    expect([...visited.keys()].filter((url) => pattern.test(url))).not.toEqual([])
  })

  it('redirects from the URL of a page with a slash, and from an ad to the site', async () => {
    const slash = await raw(`${BASE}${sessionsPagePath('alice')}/?page=2`)
    expect([slash.status, slash.headers['location']]).toEqual([301, `${BASE}/s/alice?page=2`])
    const [frame = ''] = [...visited.keys()].filter((url) => url.includes('/api/promo/frame/'))
    const click = await raw(new URL(frame.replace('/frame/', '/click/')).href.slice(origin.length))
    expect([click.status, click.headers['location']]).toEqual([302, `${BASE}/`])
  })

  it('accepts targets in the absolute form (RFC 9112, 3.2.2)', async () => {
    expect((await raw(`http://other.example${BASE}${configApiPath}`)).status).toBe(200)
    expect((await raw(`http://other.example${configApiPath}`)).status).toBe(404)
  })

  it('has pages for its unknown and malformed paths', async () => {
    for (const [target, status] of [
      [`${BASE}/nothing`, 404],
      [`${BASE}${playerPagePath({ ...plain, sessionId: 'later' })}`, 404],
      [`${BASE}/s/%zz`, 400],
    ] as const) {
      const response = await raw(target)
      expect([target, response.status]).toEqual([target, status])
      expect(response.body.toString()).toContain(`<html data-base-path="${BASE}"`)
    }
    const api = await raw(`${BASE}/api/nothing`)
    expect([api.status, api.headers['content-type']]).toEqual([404, expect.stringMatching(/json/)])
  })

  it('logs the URLs that clients requested', () => {
    expect(server.output()).toContain(`"url":"${BASE}${playlistApiPath(plain)}","status":200`)
  })
})

function expectedStatus(url: string): number {
  if (url.includes('/api/promo/event/')) return 204
  return url.includes('/api/promo/click/') ? 302 : 200
}

describe('outside of the base path', () => {
  it.each([
    ['GET', '/s/alice'],
    ['HEAD', '/api/streamers'],
    ['GET', '/robots.txt'],
    ['GET', '/assets/'],
    ['GET', playlistApiPath(plain)],
    ['POST', '/api/activity'],
    ['POST', '/'],
    ['OPTIONS', '*'],
    ['GET', '/tvs/'],
    ['GET', '/TV/'],
    ['GET', '/.outside'],
    ['GET', '/%zz'],
  ])('%s %s is 404, without a page', async (method, target) => {
    const { status, headers, body } = await raw(target, method)
    expect([status, body.toString()]).toEqual([404, expect.not.stringContaining('<html')])
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  it.each(['/', '/tv', '/tv?page=2'])('%s redirects to the home page', async (target) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await raw(target, method)
      const location = `${BASE}/${target.includes('?') ? '?page=2' : ''}`
      expect([status, headers['location'], headers['cache-control']]).toEqual([
        301,
        location,
        'no-cache',
      ])
    }
  })

  it.each(['/healthz', '/readyz', '/tv/healthz', '/tv/readyz'])(
    '%s is answered',
    async (target) => {
      expect((await raw(target)).status).toBe(200)
    },
  )
})
