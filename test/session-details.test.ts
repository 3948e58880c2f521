// /api/session and /api/details through the program: what sidecars, containers and names contain,
// and when a change is visible.
import { readFileSync } from 'node:fs'
import { appendFile, utimes } from 'node:fs/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { detailsResponse, errorResponse, sessionResponse } from '../shared/contract.ts'
import type { DetailsResponse, SessionResponse } from '../shared/contract.ts'
import {
  detailsApiPath,
  playerPagePath,
  sessionApiPath,
  streamerThumbnailApiPath,
} from '../shared/paths.ts'
import { box, u32 } from './support/make/make-mp4.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import type { RawResponse } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import {
  BROKEN_FIXTURE,
  createTempLibrary,
  fixturePath,
  SMALL_FIXTURE,
} from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const TS = 'ts-h264-aac-clean-hls-concat.ts'
const SUBTITLES = 'mp4-h264-two-video-two-audio-movtext.mp4'
const FRAME = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAJCAIAAAC0SDtlAAAAFElEQVR42mNQaPhPEmIY1TAoNAAAoPnpcW9o6sYAAAAASUVORK5CYII=',
  'base64',
)
const HOSTILE = '<img src=x onerror=alert(1)>\u202E\u0007'
const DATE = '2026-01-31'

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('session-details')
  await placeAll(library)
  // Longer than the test takes: nothing settles by itself.
  server = await startServer({ args: library.args, settings: { library: { settleSeconds: 3600 } } })
  await vi.waitFor(async () => {
    const ready = ['titled', 'chaptered', 'subtitled', 'parts'].map(async (id) => sessionOf(id))
    const isMissing = (await Promise.all(ready)).some((details) => !details.durationSeconds)
    const { status } = await get(sessionApiPath(named('broken')))
    if (isMissing || status !== 422) throw new Error(`not indexed:\n${server.output()}`)
  }, soon)
})

async function placeAll(to: TempLibrary): Promise<void> {
  const place: TempLibrary['place'] = async (...content) => to.place(...content)
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
  await place(`alice/${DATE}/titled.mp4`, SMALL_FIXTURE)
  await place(
    `alice/${DATE}/titled.info.json`,
    json({
      title: HOSTILE,
      game: '<b>Chess</b>',
      description: 'First\nsecond',
      timestamp: 1_769_890_500,
      chapters: [
        { start_time: 5, end_time: 1000, title: 'Game' },
        { start_time: 0, end_time: 5, title: 'Intro' },
        { start_time: 5000, title: 'After the end' },
      ],
    }),
  )
  await place(`alice/${DATE}/chaptered.mp4`, withChpl(readFileSync(fixturePath(SMALL_FIXTURE))))
  await place(`alice/${DATE}/subtitled.mp4`, SUBTITLES)
  await place(`alice/${DATE}/broken.mp4`, BROKEN_FIXTURE)
  await place(`alice/${DATE}/parts/1.mp4`, SMALL_FIXTURE)
  await place(`alice/${DATE}/parts/2.mp4`, withChpl(readFileSync(fixturePath(SMALL_FIXTURE))))
  await place(`alice/${DATE}/parts/1.nfo`, Buffer.from('<movie><title>Parts</title></movie>'))
  await place('bob/2026-02-01/20260201_201500.mp4', SMALL_FIXTURE)
  await place('bob/avatar.png', FRAME)
  await place(
    'bob/streamer.json',
    json({ displayName: 'Bob', description: 'Hi', links: ['https://example.com/bob'] }),
  )
}

/** The movie with a `chpl` box: `moov` is the last box of this file. */
function withChpl(file: Buffer): Buffer {
  const start = Buffer.alloc(8)
  start.writeBigUInt64BE(30_000_000n)
  const entry = Buffer.concat([start, Buffer.from([4]), Buffer.from('Boss')])
  const udta = box('udta', box('chpl', u32(0x1000000, 0), Buffer.from([1]), entry))
  const at = file.indexOf('moov') - 4
  if (at + file.readUInt32BE(at) !== file.length) throw new Error('moov is not the last box')
  const movie = Buffer.concat([file.subarray(at), udta])
  movie.writeUInt32BE(movie.length, 0)
  return Buffer.concat([file.subarray(0, at), movie])
}

const named = (sessionId: string) => ({ streamer: 'alice', date: DATE, sessionId })

async function get(target: string, headers: Record<string, string> = {}): Promise<RawResponse> {
  return rawRequest(server.url, target, { headers })
}

async function sessionOf(sessionId: string): Promise<SessionResponse> {
  const { body } = await get(sessionApiPath(named(sessionId)))
  return parseExactly(sessionResponse, JSON.parse(body.toString()))
}

/** A busy server answers without what it reads from the recording. */
async function wholeSessionOf(sessionId: string): Promise<SessionResponse> {
  return vi.waitFor(async () => {
    const details = await sessionOf(sessionId)
    expect(details).toHaveProperty('durationSeconds')
    return details
  }, soon)
}

async function detailsOf(streamer: string): Promise<DetailsResponse> {
  const { body } = await get(detailsApiPath(streamer))
  return parseExactly(detailsResponse, JSON.parse(body.toString()))
}

describe('/api/session', () => {
  it('has text and chapters of the sidecar, which end with the session', async () => {
    const details = await wholeSessionOf('titled')
    const { durationSeconds = 0 } = details
    expect(durationSeconds).toBeGreaterThan(9)
    expect(details).toMatchObject({
      title: '<img src=x onerror=alert(1)>',
      game: '<b>Chess</b>',
      description: 'First\nsecond',
      startTime: '2026-01-31T20:15:00.000Z',
      growing: false,
      chapters: [
        { startSeconds: 0, endSeconds: 5, title: 'Intro' },
        { startSeconds: 5, endSeconds: durationSeconds, title: 'Game' },
      ],
      tracks: { audio: [{ label: expect.any(String) }], subtitles: [] },
    })
  })

  it('has the chapters of the container, at the time of their part', async () => {
    const { durationSeconds = 0, chapters } = await wholeSessionOf('chaptered')
    expect(chapters).toEqual([{ startSeconds: 3, title: 'Boss' }])
    const parts = await wholeSessionOf('parts')
    expect(parts.title).toBe('Parts')
    expect(parts.durationSeconds).toBeCloseTo(2 * durationSeconds, 1)
    expect(parts.chapters).toHaveLength(1)
    expect(parts.chapters[0]?.startSeconds).toBeCloseTo(3 + durationSeconds, 1)
  })

  it('has the tracks of the playlist, and subtitles as WebVTT', async () => {
    const { tracks } = await wholeSessionOf('subtitled')
    expect(tracks.audio).toHaveLength(2)
    const [first] = tracks.subtitles
    const response = await get(first?.url ?? '')
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/vtt; charset=utf-8')
    expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(response.body.toString()).toMatch(/^WEBVTT\n\n[\d:.]+ --> [\d:.]+\n\S/)
    expect((await get((first?.url ?? '').replace(/text-\d+/, 'text-99'))).status).toBe(404)
  })

  it('names the older and the newer session, without unplayable and hidden ones', async () => {
    const links = async (id: string) => {
      const { previous, next } = await sessionOf(id)
      return [previous, next].map((link) => link && [link.sessionId, link.title])
    }
    const title = '<img src=x onerror=alert(1)>'
    // In natural order: chaptered, parts, subtitled, titled.
    await expect.poll(() => links('chaptered'), soon).toEqual([undefined, ['parts', 'Parts']])
    await expect
      .poll(() => links('subtitled'), soon)
      .toEqual([
        ['parts', 'Parts'],
        ['titled', title],
      ])
    const run = async (command: string) =>
      runInProcess([command, `alice/${DATE}/parts`, '--data', library.data], {
        workingFolder: library.folder,
      })
    await run('hide')
    const neighbour = ['chaptered', undefined]
    await expect.poll(() => links('subtitled'), soon).toEqual([neighbour, ['titled', title]])
    expect((await get(sessionApiPath(named('parts')))).status).toBe(410)
    await run('unhide')
    await expect.poll(() => links('chaptered'), soon).toEqual([undefined, ['parts', 'Parts']])
  })

  it('shows a changed sidecar soon', async () => {
    const target = `alice/${DATE}/chaptered.chapters.vtt`
    await library.place(target, Buffer.from('WEBVTT\n\n00:01.000 --> 00:02.000\nNew\n'))
    await expect
      .poll(async () => (await wholeSessionOf('chaptered')).chapters, soon)
      .toEqual([{ startSeconds: 1, endSeconds: 2, title: 'New' }])
    await appendFile(library.pathOf(target), '\n00:03.000 --> 00:04.000\nNewer\n')
    await expect
      .poll(
        async () => (await wholeSessionOf('chaptered')).chapters.map(({ title }) => title),
        soon,
      )
      .toEqual(['New', 'Newer'])
  })

  it('can be revalidated, and has the tags of the session', async () => {
    const first = await get(sessionApiPath(named('titled')))
    expect(first.headers['cache-control']).toBe('no-cache')
    expect(first.headers['surrogate-key']).toMatch(/^session-\w+ streamer-\w+$/)
    const again = await get(sessionApiPath(named('titled')), {
      'if-none-match': String(first.headers.etag),
    })
    expect(again.status).toBe(304)
    expect(again.headers['surrogate-key']).toBe(first.headers['surrogate-key'])
  })

  it('responds to unknown, unplayable and malformed names as playlists do', async () => {
    const error = async (target: string) => {
      const response = await get(target)
      const body = parseExactly(errorResponse, JSON.parse(response.body.toString()))
      return [response.status, body.error.code]
    }
    expect(await error(sessionApiPath(named('absent')))).toEqual([404, 'not_found'])
    expect(await error(sessionApiPath(named('broken')))).toEqual([422, 'unplayable'])
    expect(await error('/api/session/alice/%00/1')).toEqual([400, 'invalid'])
    expect(await error(detailsApiPath('absent'))).toEqual([404, 'not_found'])
  })

  it('has no duration and no tracks of a recording that has only just begun', async () => {
    const bytes = readFileSync(fixturePath(TS)).subarray(0, 20_000)
    await library.place(`alice/${DATE}/begun.ts`, bytes, new Date())
    await library.place(`alice/${DATE}/begun.nfo`, Buffer.from('<a><title>Begun</title></a>'))
    const nothing = { growing: true, chapters: [], tracks: { audio: [], subtitles: [] } }
    await expect
      .poll(async () => (await get(sessionApiPath(named('begun')))).status, soon)
      .toBe(200)
    const begun = { title: 'Begun', ...nothing }
    await expect.poll(async () => sessionOf('begun'), soon).toMatchObject(begun)
    expect(await sessionOf('begun')).not.toHaveProperty('durationSeconds')
  })

  it('is growing while the recording is, and has no time of the file', async () => {
    const place = `alice/${DATE}/live.mp4`
    await library.place(place, SMALL_FIXTURE, new Date())
    await vi.waitFor(async () => expect(await sessionOf('live')).toHaveProperty('growing', true), {
      ...soon,
    })
    expect(await sessionOf('live')).not.toHaveProperty('startTime')
    expect(liveIn(await detailsOf('alice'))).toMatchObject({ growing: true })
    const recorded = new Date('2026-02-01T00:00:00Z')
    await utimes(library.pathOf(place), recorded, recorded)
    await expect.poll(async () => (await sessionOf('live')).growing, soon).toBe(false)
  })
})

const liveIn = ({ sessions }: DetailsResponse) =>
  sessions.find(({ sessionId }) => sessionId === 'live')

describe('/api/details', () => {
  it('has the profile of the streamer, and start times of names', async () => {
    const startTime = new Date(2026, 1, 1, 20, 15).toISOString()
    expect(await detailsOf('bob')).toEqual({
      displayName: 'Bob',
      description: 'Hi',
      avatarUrl: streamerThumbnailApiPath('bob'),
      links: [{ label: 'example.com', url: 'https://example.com/bob' }],
      sessions: [{ date: '2026-02-01', sessionId: '20260201_201500', startTime }],
    })
  })

  it('lists the sessions in the order of the list', async () => {
    const { sessions, ...profile } = await detailsOf('alice')
    expect(profile).toEqual({})
    const ids = sessions.map(({ sessionId }) => sessionId)
    const settled = ['titled', 'subtitled', 'parts', 'chaptered']
    expect(ids.filter((id) => settled.includes(id))).toEqual(settled)
  })

  it('has the titles and start times of sidecars, which change soon', async () => {
    const titleOf = async (id: string) => {
      const { sessions } = await detailsOf('alice')
      const { title, startTime, game } = sessions.find(({ sessionId }) => sessionId === id) ?? {}
      return [title, startTime, ...(game === undefined ? [] : [game])]
    }
    await expect
      .poll(() => titleOf('titled'), soon)
      .toEqual(['<img src=x onerror=alert(1)>', '2026-01-31T20:15:00.000Z', '<b>Chess</b>'])
    await expect.poll(() => titleOf('parts'), soon).toEqual(['Parts', undefined])
    const page = (await get(playerPagePath(named('titled')))).body.toString()
    const title = '&lt;img src=x onerror=alert(1)&gt; · alice - 2026-01-31 - titled'
    expect(page).toContain(`<title>${title} · Aftercast</title>`)
    expect(page).toContain(`<meta property="og:title" content="${title}`)
    expect(page).not.toContain('<img src=x')
    await library.place(`alice/${DATE}/parts/parts.info.json`, Buffer.from('{"title":"New"}'))
    await expect.poll(() => titleOf('parts'), soon).toEqual(['New', undefined])
  })

  it('can be revalidated, has a tag, and shows a changed profile soon', async () => {
    const first = await get(detailsApiPath('bob'))
    expect(first.headers['cache-control']).toBe('no-cache')
    expect(first.headers['surrogate-key']).toMatch(/^streamer-\w+$/)
    const headers = { 'if-none-match': String(first.headers.etag) }
    expect((await get(detailsApiPath('bob'), headers)).status).toBe(304)
    await library.place('bob/streamer.json', Buffer.from('{"displayName":"Robert"}'))
    await expect.poll(async () => (await detailsOf('bob')).displayName, soon).toBe('Robert')
  })
})
