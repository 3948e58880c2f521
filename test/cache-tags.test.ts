// `Surrogate-Key` and `Cache-Tag` of all responses, through the program.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  aroundApiPath,
  detailsApiPath,
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
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const STREAMER = 'Zoë "live" 日本'
const session = { streamer: STREAMER, date: '2026-01-31', sessionId: 'late\nnight' }
const TAG = /^[a-z]+-[\da-f]{16}$/

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('cache-tags')
  for (const path of [`${STREAMER}/2026-01-31/${session.sessionId}`, `${STREAMER}/2026-01-31/2`])
    await library.place(`${path}.mp4`, SMALL_FIXTURE)
  await library.place('bob/2026-01-31/2.mp4', SMALL_FIXTURE)
  server = await startServer({ args: library.args })
  await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
})

interface Tagged {
  status: number
  tags: string[]
  etag: string | undefined
}

/** The tags of a response, the same in both headers. */
async function request(target: string, headers: Record<string, string> = {}): Promise<Tagged> {
  const response = await rawRequest(server.url, target, { headers })
  const tags = response.headers['surrogate-key']?.split(' ') ?? []
  expect(response.headers['cache-tag']).toBe(tags.length === 0 ? undefined : tags.join(','))
  for (const tag of tags) expect(tag).toMatch(TAG)
  return { status: response.status, tags, etag: response.headers.etag }
}

const tagsOf = async (target: string): Promise<string[]> => (await request(target)).tags

describe('cache tags', () => {
  it('are the same two for all responses of a session', async () => {
    const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
    const [segment] = segments
    const files = [segment?.url, segment?.initUrl, segment?.key?.url].map(
      (url) => new URL(url ?? 'absent:').pathname,
    )
    const [media = ''] = files
    const storyboard = storyboardApiPath(session)
    const { body } = await rawRequest(server.url, storyboard)
    const [sheet = ''] = /^tile-[^#]+/m.exec(body.toString()) ?? []
    files.push(storyboard, new URL(sheet, server.url + storyboard).pathname)
    const pageUrl = encodeURIComponent(server.url + playerPagePath(session))
    const oembed = `${outsidePatterns.oembed}?url=${pageUrl}`
    const pages = [playerPagePath(session), embedPagePath(session), oembed]
    const of = [playlistApiPath, sessionApiPath, aroundApiPath].map((path) => path(session))
    const targets = [...files, ...of, ...pages]
    const thumbnail = thumbnailApiPath(session)
    await expect.poll(async () => (await request(thumbnail)).status, soon).toBe(200)

    const expected = await tagsOf(playlistApiPath(session))
    expect(new Set(expected).size).toBe(2)
    for (const target of [...targets, thumbnail]) {
      const { status, tags, etag = '' } = await request(target)
      expect([target, status, tags]).toEqual([target, 200, expected])
      const again = await request(target, { 'if-none-match': etag })
      expect([target, again.tags]).toEqual([target, expected])
    }
    const range = await request(media, { range: 'bytes=0-9' })
    expect([range.status, range.tags]).toEqual([206, expected])
    const missing = await request(media.replace(/[^/]+$/, 'x'))
    expect([missing.status, missing.tags]).toEqual([404, expected])
  })

  it('of a streamer are on lists and images, and one of the two of each session', async () => {
    const [, ofStreamer] = await tagsOf(playlistApiPath(session))
    const images = [streamerThumbnailApiPath]
    const pages = [sessionsPagePath, streamerFeedPath]
    const paths = [sessionsApiPath, detailsApiPath, ...images, ...pages]
    for (const path of paths) expect(await tagsOf(path(STREAMER))).toEqual([ofStreamer])
    const other = await tagsOf(playlistApiPath({ ...session, sessionId: '2' }))
    expect(other[1]).toBe(ofStreamer)
    expect(other[0]).not.toBe((await tagsOf(playlistApiPath(session)))[0])
    const bob = await tagsOf(playlistApiPath({ ...session, streamer: 'bob', sessionId: '2' }))
    expect([...other, ofStreamer]).not.toEqual(expect.arrayContaining([bob[0]]))
    expect(bob[1]).not.toBe(ofStreamer)
  })

  it('of the site are on sitemaps alone', async () => {
    const [site = '', ...others] = await tagsOf('/sitemap.xml')
    expect([site, others]).toEqual([expect.stringMatching(/^site-/), []])
    expect(await tagsOf(playlistApiPath(session))).not.toContain(site)
  })

  it('do not depend on the normal form of a name', async () => {
    const decomposed = { ...session, streamer: STREAMER.normalize('NFD') }
    expect(decomposed.streamer).not.toBe(session.streamer)
    expect(await tagsOf(playlistApiPath(decomposed))).toEqual(
      await tagsOf(playlistApiPath(session)),
    )
  })
})
