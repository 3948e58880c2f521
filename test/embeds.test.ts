// The embedded player and oEmbed, through the program: statuses, headers, and a real client.
import { unfurl } from 'unfurl.js'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  embedPagePath,
  playerPagePath,
  watchPagePath,
  playlistApiPath,
  sessionsPagePath,
} from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const DATE = '2026-01-31'
const session = { streamer: 'Zoë "live" <b>', date: DATE, sessionId: 'late night' }
const hidden = { ...session, sessionId: 'hidden' }
const broken = { ...session, sessionId: 'broken' }
const unknown = { ...session, sessionId: 'unknown' }

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('embeds')
  for (const [{ streamer, sessionId }, fixture] of [
    [session, SMALL_FIXTURE],
    [hidden, SMALL_FIXTURE],
    [broken, BROKEN_FIXTURE],
  ] as const) {
    await library.place(`${streamer}/${DATE}/${sessionId}.mp4`, fixture)
  }
  server = await startServer({ args: library.args })
  await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
  // Pages do not wait long for what they show of files.
  const isKnown = async () => (await raw(playerPagePath(session))).body.includes('og:image:width')
  await vi.waitUntil(isKnown, soon)
  const name = `${hidden.streamer}/${DATE}/${hidden.sessionId}`
  await runInProcess(['hide', name, '--data', library.data], { workingFolder: library.folder })
  await vi.waitUntil(async () => (await raw(playlistApiPath(hidden))).status === 410, soon)
  await vi.waitUntil(async () => (await raw(playlistApiPath(broken))).status === 422, soon)
})

const raw = async (target: string, headers: Record<string, string> = {}) =>
  rawRequest(server.url, target, { headers })

const at = (target: string): string => server.url + target

const video = z.strictObject({
  version: z.literal('1.0'),
  type: z.literal('video'),
  title: z.string(),
  author_name: z.literal(session.streamer),
  author_url: z.url(),
  provider_name: z.literal('Aftercast'),
  provider_url: z.url(),
  html: z.string(),
  width: z.int().positive(),
  height: z.int().positive(),
  thumbnail_url: z.url().optional(),
  thumbnail_width: z.int().positive().optional(),
  thumbnail_height: z.int().positive().optional(),
})

const oembed = async (parameters: Record<string, string>) =>
  raw(`/oembed?${new URLSearchParams(parameters).toString()}`)

async function embedOf(parameters: Record<string, string>): Promise<z.infer<typeof video>> {
  const { status, body } = await oembed({ url: at(playerPagePath(session)), ...parameters })
  expect(status).toBe(200)
  return video.parse(JSON.parse(body.toString()))
}

describe('/oembed', () => {
  it('is found by a client through the link in the head of the player page', async () => {
    const { oEmbed } = await unfurl(at(playerPagePath(session)))
    expect(oEmbed).toMatchObject({
      version: '1.0',
      type: 'video',
      title: 'Zoë "live" <b> - 2026-01-31 - late night',
      width: 640,
      height: 360,
      html: expect.stringContaining(`<iframe src="${at(embedPagePath(session))}" width="640"`),
      thumbnails: [expect.objectContaining({ width: 640, height: 360 })],
    })
  })

  it('fits the player and the thumbnail into the maximum size', async () => {
    const { html, ...small } = await embedOf({ maxwidth: '320', maxheight: '1000' })
    expect(small).toMatchObject({ width: 320, height: 180 })
    expect(small).not.toHaveProperty('thumbnail_url')
    expect(html).toContain('width="320" height="180"')
    expect(await embedOf({ maxheight: '90' })).toMatchObject({ width: 160, height: 90 })
    expect(await embedOf({ maxwidth: '4000' })).toMatchObject({ width: 640, thumbnail_width: 640 })
  })

  it('keeps the linked moment, escapes names, and ignores other parameters', async () => {
    const url = `${at(playerPagePath(session))}?t=1m&end=90&x="><script>`
    const { html } = await embedOf({ url, format: 'json' })
    expect(html).toContain(`${at(embedPagePath(session))}?t=1m&amp;end=90"`)
    expect(html).toContain('title="Zoë &quot;live&quot; &lt;b&gt; - ')
    expect(html).not.toContain('<script')
    const { html: hostile } = await embedOf({ url: `${at(playerPagePath(session))}?t="><b` })
    expect(hostile).toContain(`${at(embedPagePath(session))}" width`)
  })

  it.each([
    [400, {}],
    [400, { url: '' }],
    [400, { url: 'session', maxwidth: '0' }],
    [400, { url: 'session', maxheight: '1e3' }],
    [501, { url: 'session', format: 'xml' }],
    [501, { format: 'yaml' }],
    [404, { url: 'unknown' }],
    [404, { url: 'not a url' }],
    [404, { url: 'https://other.example/p/a/b/c' }],
    [404, { url: 'list' }],
    [404, { url: 'embed' }],
    [404, { url: 'javascript:alert(1)' }],
    [410, { url: 'hidden' }],
    [422, { url: 'broken' }],
  ])('%i for %j, as JSON', async (status, parameters: Record<string, string>) => {
    const names: Record<string, string> = {
      session: playerPagePath(session),
      unknown: playerPagePath(unknown),
      hidden: playerPagePath(hidden),
      broken: playerPagePath(broken),
      list: sessionsPagePath(session.streamer),
      embed: embedPagePath(session),
    }
    const { url } = parameters
    const path = url === undefined ? undefined : names[url]
    const response = await oembed({ ...parameters, ...(path !== undefined && { url: at(path) }) })
    expect(response.status).toBe(status)
    expect(response.headers['content-type']).toMatch(/^application\/json/)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(JSON.parse(response.body.toString())).toHaveProperty('error.code')
  })

  it('may be read by scripts of any site, and is revalidated', async () => {
    const target = `/oembed?url=${encodeURIComponent(at(playerPagePath(session)))}`
    const { headers } = await raw(target)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-cache',
      'content-type': 'application/json; charset=utf-8',
    })
    expect((await raw(target, { 'if-none-match': headers.etag ?? '' })).status).toBe(304)
  })
})

describe('/w', () => {
  it('is the page of the player for search engines, with its status', async () => {
    const response = await raw(watchPagePath(session))
    expect(response.status).toBe(200)
    const html = response.body.toString()
    expect(html).toContain(`<link rel="canonical" href="${at(playerPagePath(session))}">`)
    expect(html).toContain('<meta name="robots" content="noindex">')
    const named = [unknown, hidden, broken].map(watchPagePath)
    const statuses = await Promise.all(named.map(async (path) => (await raw(path)).status))
    expect(statuses).toEqual([404, 410, 422])
  })
})

describe('/embed', () => {
  it('may be framed by any page, unlike the player page', async () => {
    const embed = await raw(embedPagePath(session))
    expect(embed.status).toBe(200)
    expect(embed.headers).not.toHaveProperty('x-frame-options')
    expect(embed.headers['content-security-policy']).not.toContain('frame-ancestors')
    expect(embed.headers['content-security-policy']).toContain("default-src 'none'")
    expect(embed.headers['cross-origin-resource-policy']).toBe('cross-origin')
    const page = await raw(playerPagePath(session))
    expect(page.headers['x-frame-options']).toBe('SAMEORIGIN')
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'")
  })

  it('is the page of the player for search engines', async () => {
    const html = (await raw(embedPagePath(session))).body.toString()
    expect(html).toContain(`<link rel="canonical" href="${at(playerPagePath(session))}">`)
    expect(html).toContain('<meta name="robots" content="noindex, indexifembedded">')
    expect(html).not.toContain('<b>')
  })

  it.each([
    ['unknown', unknown, 404],
    ['hidden', hidden, 410],
    ['broken', broken, 422],
  ])('%s: %3$i, in a frame too', async (_name, named, status) => {
    const { headers, ...response } = await raw(embedPagePath(named))
    expect(response.status).toBe(status)
    expect(headers).not.toHaveProperty('x-frame-options')
    expect(headers['content-type']).toMatch(/^text\/html/)
  })
})
