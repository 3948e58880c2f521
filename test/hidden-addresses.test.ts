// Hidden content is not served at any earlier URL, whatever the spelling or the request.
import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import {
  embedPagePath,
  outsidePatterns,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  sessionsPagePath,
  storyboardApiPath,
  streamerFeedPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** Two audio tracks and a subtitle track, so that there are renditions. */
const FIXTURE = 'mp4-h264-two-video-two-audio-movtext.mp4'
const STREAMER = 'Zo\u00eb'
const session = { streamer: STREAMER, date: '2026-01-31', sessionId: 'a b' }

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('hidden-addresses')
  const bytes = await readFile(fixturePath(FIXTURE))
  await library.place(`${STREAMER.normalize('NFD')}/2026-01-31/a b.mp4`, bytes)
  await library.place('other/2026-01-31/1.mp4', bytes)
  const environment = { AFTERCAST_WORKERS: '2' }
  server = await startServer({ args: library.args, environment })
})

/** Every path in the playlist and in its renditions. */
async function pathsBelow(playlist: string): Promise<string[]> {
  const text = await (await fetch(server.url + playlist)).text()
  const attributes = Array.from(text.matchAll(/URI="([^"]+)"/g), ([, uri = '']) => uri)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const paths = [...new Set([...attributes, ...lines])].map(
    (uri) => new URL(uri, server.url + playlist).pathname,
  )
  const inner = paths.filter((name) => name.endsWith('.m3u8'))
  const below = await Promise.all(inner.map(pathsBelow))
  return [playlist, ...paths, ...below.flat()]
}

/** Spellings of a path: each has the same target or none. */
function spellings(target: string): string[] {
  const names = target.split('/')
  const spelled = (spell: (name: string) => string) => names.map(spell).join('/')
  const everyByte = (name: string) =>
    Array.from(Buffer.from(decodeURIComponent(name)), (byte) => `%${byte.toString(16)}`).join('')
  return [
    target,
    spelled((name) => encodeURIComponent(decodeURIComponent(name).normalize('NFD'))),
    spelled((name) => encodeURIComponent(decodeURIComponent(name).normalize('NFC'))),
    target.toUpperCase(),
    target.toLowerCase(),
    names.map((name, at) => (at > 2 ? everyByte(name) : name)).join('/'),
    `/${target}`,
    `${target}/`,
    `${target}?x=1`,
    `${target};x`,
    `${target}%00`,
    `${target}.`,
    target.replace('/2026-01-31/', '/./2026-01-31/'),
    target.replace('/2026-01-31/', '//2026-01-31/'),
    target.replace('/2026-01-31/', '/x/../2026-01-31/'),
    target.replace('/2026-01-31/', '/2026-01-31%2f'),
    target.replace('/2026-01-31/', '/%2e%2e/other/2026-01-31/../../'),
    target.replaceAll('%20', '+'),
  ]
}

test('every earlier URL responds 410, and no spelling of one returns hidden content', async () => {
  const known = [...new Set(await pathsBelow(playlistApiPath(session)))]
  expect(known.length).toBeGreaterThan(10)
  known.push(playerPagePath(session), thumbnailApiPath(session), streamerThumbnailApiPath(STREAMER))
  // A busy server answers without what it reads from the recording.
  const subtitles = await vi.waitFor(async () => {
    const details = await (await fetch(server.url + sessionApiPath(session))).json()
    const { tracks } = parseExactly(sessionResponse, details)
    expect(tracks.subtitles).not.toEqual([])
    return tracks.subtitles
  }, soon)
  known.push(sessionApiPath(session), ...subtitles.map(({ url }) => url))
  const storyboard = storyboardApiPath(session)
  const [sheet = ''] =
    /^tile-[^#]+/m.exec(await (await fetch(server.url + storyboard)).text()) ?? []
  known.push(storyboard, new URL(sheet, server.url + storyboard).pathname)
  const pageUrl = encodeURIComponent(server.url + playerPagePath(session))
  const oembed = `${outsidePatterns.oembed}?url=${pageUrl}`
  known.push(embedPagePath(session), oembed)
  const tags = new Map<string, string>()
  for (const target of known) {
    const statusNow = async () => (await fetch(server.url + target)).status
    await expect.poll(statusNow, { message: target }).toBe(200)
    const answer = await fetch(server.url + target)
    tags.set(target, answer.headers.get('etag') ?? '')
  }

  const hide = ['hide', `${STREAMER}/2026-01-31/a b`, '--data', library.data]
  expect((await runInProcess(hide, { workingFolder: library.folder })).code).toBe(0)
  const statusOf = async (target: string, options: RequestInit = {}) =>
    (await fetch(server.url + target, options)).status
  await expect.poll(async () => statusOf(playlistApiPath(session))).toBe(410)

  for (const target of known.filter((name) => name !== streamerThumbnailApiPath(STREAMER))) {
    const headers = { 'if-none-match': tags.get(target) ?? '' }
    expect(await statusOf(target), target).toBe(410)
    expect(await statusOf(target, { method: 'HEAD' }), target).toBe(410)
    expect(await statusOf(target, { headers }), target).toBe(410)
    expect(await statusOf(target, { headers: { range: 'bytes=0-9' } }), target).toBe(410)
    // Pages explain what is missing, and this spelling is that of another page's query.
    if ([playerPagePath(session), embedPagePath(session), oembed].includes(target)) continue
    for (const spelling of spellings(target)) {
      const { status } = await rawRequest(server.url, spelling)
      expect(status, spelling).toBeGreaterThanOrEqual(300)
    }
  }
  for (const query of ['?quality=none', '?audio=!'])
    expect(await statusOf(playlistApiPath(session) + query), query).toBe(410)
  // Without its only session, the streamer has no thumbnail either.
  expect(await statusOf(streamerThumbnailApiPath(STREAMER))).toBeGreaterThanOrEqual(404)
  const list = await fetch(server.url + sessionsApiPath(STREAMER))
  expect(await list.text()).not.toContain('a b')
  const lists = ['/', sessionsPagePath(STREAMER), streamerFeedPath(STREAMER), '/feed.xml']
  for (const target of [...lists, '/sitemap.xml']) {
    const text = await (await fetch(server.url + target)).text()
    expect(text, target).not.toMatch(/a b|a%20b/)
  }
  for (const target of ['/', '/feed.xml', '/sitemap.xml']) {
    const text = await (await fetch(server.url + target)).text()
    expect(text, target).not.toContain('Zo')
    expect(text, target).toContain('other')
  }
})
