// Feeds with enclosures, through the program: the audio of sessions as files with byte ranges.
import { readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseRssFeed } from 'feedsmith'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { playerPagePath, playlistApiPath, streamerFeedPath } from '../shared/paths.ts'
import { demux } from './demux/demux.ts'
import { PLAIN_MEDIA_AT, ftyp, moov, plainTrack } from './support/make/make-mp4.ts'
import { soon } from './support/patience.ts'
import { fetchBytes, fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import type { RawOptions } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { feedProblems } from './support/verify/check-feed.ts'
import { makeTempFolder } from './support/temp-folder.ts'

const DATE = '2026-01-31'
/** Sessions with a file, and their recordings. */
const FILES = {
  mp4: 'mp4-h264-aac51-moov-last-bframes.mp4',
  edited: SMALL_FIXTURE,
  fragments: 'fmp4-h264-aac-18frag.mp4',
  matroska: 'mkv-h264-aac-60s.mkv',
  flash: 'flv-h264-aac.flv',
  ts: 'ts-h264-aac-clean-hls-concat.ts',
} as const
const IDS = Object.keys(FILES)
/** Its audio is transcoded. */
const TRANSCODED = 'ts-ac3-51-audio-only.ts'
const FEED = streamerFeedPath('alice')

let library: TempLibrary
let server: StartedServer
let scratch: string

async function start(): Promise<StartedServer> {
  return startServer({
    args: library.args,
    settings: { feeds: { podcast: true }, library: { settleSeconds: 86_400 } },
  })
}

beforeAll(async () => {
  library = await createTempLibrary('podcasts')
  scratch = makeTempFolder('podcasts')
  for (const [id, fixture] of Object.entries(FILES)) {
    await library.place(`alice/${DATE}/${id}${path.extname(fixture)}`, fixture)
  }
  await library.place(`alice/${DATE}/transcoded.ts`, TRANSCODED)
  await library.place(`alice/${DATE}/parts/1.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${DATE}/parts/2.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${DATE}/growing.ts`, FILES.ts, new Date())
  server = await start()
  await waitForAll()
})

interface Enclosure {
  url: string
  length: number
  type: string
}

/** By session id, in the order of `FILES`. */
async function enclosures(): Promise<Map<string, Enclosure>> {
  const { body } = await rawRequest(server.url, FEED)
  const { items = [] } = parseRssFeed(body.toString())
  const found = new Map<string, Enclosure>()
  for (const id of [...IDS, 'transcoded', 'parts', 'growing', 'replaced']) {
    const link = server.url + playerPagePath({ streamer: 'alice', date: DATE, sessionId: id })
    const [file] = items.find((item) => item.link === link)?.enclosures ?? []
    if (file === undefined) continue
    found.set(id, { url: file.url ?? '', length: Number(file.length), type: file.type ?? '' })
  }
  return found
}

/** Once there is one. */
async function enclosureOf(id: string): Promise<Enclosure> {
  return vi.waitUntil(async () => (await enclosures()).get(id), soon)
}

async function waitForAll(): Promise<void> {
  await vi.waitFor(async () => expect([...(await enclosures()).keys()]).toEqual(IDS), soon)
}

async function ask({ url }: Enclosure, options: RawOptions = {}) {
  return rawRequest(server.url, new URL(url).pathname, options)
}

/** The decrypted segments of sound only. */
async function soundOnly(sessionId: string): Promise<{ init: Buffer; segments: Buffer }> {
  const playlist = playlistApiPath({ streamer: 'alice', date: DATE, sessionId })
  const { segments } = await fetchPlaylist(`${server.url}${playlist}?quality=audio`)
  const init = await fetchBytes(segments[0]?.initUrl ?? '')
  const bytes = await Promise.all(segments.map(fetchSegment))
  return { init, segments: Buffer.concat(bytes.map((each) => each.subarray(init.length))) }
}

async function packetsOf(bytes: Uint8Array) {
  const file = path.join(scratch, 'audio.m4a')
  await writeFile(file, bytes)
  return demux(file, 'all')
}

describe('the feed of a streamer', () => {
  it('has the audio of finished sessions of one recording, unless it is transcoded', async () => {
    const { body } = await rawRequest(server.url, FEED)
    expect(feedProblems(body.toString(), server.url + FEED)).toEqual([])
    await waitForAll()
  })

  it('measures a recording once: after a restart, what is stored is used', async () => {
    const before = await enclosures()
    const written = await tables()
    expect(written).toHaveLength(IDS.length)
    await server.stop()
    server = await start()
    await waitForAll()
    const paths = (all: Map<string, Enclosure>) =>
      [...all].map(([id, { url, length }]) => [id, new URL(url).pathname, length])
    expect(paths(await enclosures())).toEqual(paths(before))
    expect(await tables()).toEqual(written)
  })

  it('has no enclosures unless it is configured, and then there are no files', async () => {
    const { url } = await enclosureOf('mp4')
    const other = await startServer({
      args: [library.recordings, '--data', path.join(library.folder, 'other-data')],
    })
    await vi.waitFor(async () => {
      const { body } = await rawRequest(other.url, FEED)
      expect(body.toString().match(/<item>/g)).toHaveLength(IDS.length + 3)
    }, soon)
    const { body } = await rawRequest(other.url, FEED)
    expect(body.toString()).not.toContain('<enclosure')
    expect((await rawRequest(other.url, new URL(url).pathname)).status).toBe(404)
  })
})

/** What was measured: each file, and when it was written. */
async function tables(): Promise<string[]> {
  const folder = path.join(library.data, 'audio-tables')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(
    files.map(async ({ name, parentPath }) => {
      const { mtimeMs } = await stat(path.join(parentPath, name))
      return `${name} ${mtimeMs}`
    }),
  )
}

describe.each(IDS)('the audio file of a session: %s', (id) => {
  it('has the length of the feed, and the bytes of sound only after an index', async () => {
    const enclosure = await enclosureOf(id)
    const { status, headers, body } = await ask(enclosure)
    expect([status, headers['content-type'], enclosure.type]).toEqual([
      200,
      'audio/mp4',
      'audio/mp4',
    ])
    expect([headers['content-length'], body.length]).toEqual([
      String(enclosure.length),
      enclosure.length,
    ])
    const { init, segments } = await soundOnly(id)
    expect(body.subarray(-segments.length).equals(segments)).toBe(true)
    const head = body.subarray(0, -segments.length)
    expect(boxesOf(head).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'sidx'])
    // A player that reads it as a file gets what a player of the playlist gets.
    const { packets, tracks } = await packetsOf(body)
    const listed = await packetsOf(Buffer.concat([init, segments]))
    expect(packets).toEqual(listed.packets)
    expect(tracks.map(({ kind }) => kind)).toEqual(['audio'])
  })

  it('has an index of what follows: where each fragment is, and when', async () => {
    const { body } = await ask(await enclosureOf(id))
    const head = boxesOf(body).find(({ type }) => type === 'sidx')
    const sidx = head?.bytes ?? Buffer.alloc(0)
    const timescale = sidx.readUInt32BE(16)
    let at = (head?.end ?? 0) + Number(sidx.readBigUInt64BE(28))
    let ticks = Number(sidx.readBigUInt64BE(20))
    for (let number = 0; number < sidx.readUInt16BE(38); number += 1) {
      const [fragment] = boxesOf(body.subarray(at))
      expect(fragment?.type).toBe('moof')
      expect(firstDecodeTicks(body.subarray(at))).toBe(ticks)
      at += sidx.readUInt32BE(40 + number * 12)
      ticks += sidx.readUInt32BE(44 + number * 12)
    }
    expect(at).toBe(body.length)
    const { packets } = await packetsOf(body)
    const end = Math.max(...packets.map(({ pts }) => pts))
    // The last frame, and not more.
    expect(ticks).toBeGreaterThan(end)
    expect((ticks - end) / timescale).toBeLessThan(0.1)
  })
})

/** Boxes until the bytes end. */
function boxesOf(bytes: Buffer): { type: string; bytes: Buffer; end: number }[] {
  const boxes = []
  for (let at = 0; at + 8 <= bytes.length;) {
    const end = at + bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    boxes.push({ type, bytes: bytes.subarray(at, end), end })
    at = end
  }
  return boxes
}

/** Of the first tfdt. */
function firstDecodeTicks(fragment: Buffer): number {
  return Number(fragment.readBigUInt64BE(fragment.indexOf('tfdt') + 8))
}

it('lists a recording of two months and fragments of more than 32 bits', async () => {
  const folder = await createTempLibrary('long-podcast')
  const count = 120
  const syncs = Array.from({ length: count / 3 }, (_, at) => 3 * at + 1)
  const tracks = [
    plainTrack('video', count, { timescale: 24, durations: [[count, 1_000_000]], syncs }),
    plainTrack('audio', count, { timescale: 48_000, durations: [[count, 2_000_000_000]] }),
  ]
  const bytes = Buffer.alloc(PLAIN_MEDIA_AT + 10 * count)
  Buffer.concat([ftyp(), moov(tracks)]).copy(bytes)
  await folder.place(`alice/${DATE}/long.mp4`, bytes)
  const settings = { feeds: { podcast: true } }
  const { url } = await startServer({ args: folder.args, settings })
  const feed = await vi.waitUntil(async () => {
    const { status, body } = await rawRequest(url, FEED)
    if (status === 200 && !body.includes('<enclosure')) return undefined
    return { status, body: body.toString() }
  }, soon)
  expect(feed.status).toBe(200)
  const [item] = parseRssFeed(feed.body).items ?? []
  const { body } = await rawRequest(url, new URL(item?.enclosures?.[0]?.url ?? '').pathname)
  const mehd = body.indexOf('mehd') + 4
  expect(body.readUInt8(mehd)).toBe(1)
  expect(Number(body.readBigUInt64BE(mehd + 4))).toBe(5_000_000_000)
})

describe('a request for an audio file', () => {
  it('gets any range of it', async () => {
    const enclosure = await enclosureOf('ts')
    const { body, headers } = await ask(enclosure)
    const size = body.length
    const third = Math.floor(size / 3)
    const ranges = [
      [0, 1],
      [0, size],
      [1, 700],
      [third, 2 * third],
      [third - 1, third],
      [size - 1, size],
    ] as const
    for (const [start, end] of ranges) {
      const range = { range: `bytes=${start}-${end - 1}`, 'if-range': headers.etag ?? '' }
      const part = await ask(enclosure, { headers: range })
      expect(part.status).toBe(206)
      expect(part.headers['content-range']).toBe(`bytes ${start}-${end - 1}/${size}`)
      expect(part.body.equals(body.subarray(start, end))).toBe(true)
    }
    const suffix = await ask(enclosure, { headers: { range: 'bytes=-50' } })
    expect(suffix.body.equals(body.subarray(-50))).toBe(true)
    const after = await ask(enclosure, { headers: { range: `bytes=${size}-` } })
    expect([after.status, after.headers['content-range']]).toEqual([416, `bytes */${size}`])
    const other = { range: 'bytes=0-9', 'if-range': '"other"' }
    expect((await ask(enclosure, { headers: other })).status).toBe(200)
  })

  it('is cacheable for ever, and revalidates', async () => {
    const enclosure = await enclosureOf('mp4')
    const { headers, body } = await ask(enclosure, { method: 'HEAD' })
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
      'content-length': String(enclosure.length),
    })
    expect(headers['cache-tag']).toMatch(/^[\w-]+,[\w-]+$/)
    expect(body).toHaveLength(0)
    const again = await ask(enclosure, { headers: { 'if-none-match': headers.etag ?? '' } })
    expect(again.status).toBe(304)
  })

  it('is 404 for any other name, and for a session without one', async () => {
    const { url } = await enclosureOf('mp4')
    for (const name of ['0.m4a', 'AAAAAAAAAAAAAAAA.m4a']) {
      const target = new URL(name, url).pathname
      expect((await rawRequest(server.url, target)).status).toBe(404)
    }
    for (const id of ['transcoded', 'parts', 'growing']) {
      const target = new URL(url).pathname.replace('/mp4/', `/${id}/`)
      expect((await rawRequest(server.url, target)).status).toBe(404)
    }
  })

  it('is 404 once the recording is replaced: another one has another URL', async () => {
    await library.place(`alice/${DATE}/replaced.ts`, FILES.ts)
    const { url } = await enclosureOf('replaced')
    await library.place(`alice/${DATE}/replaced.ts`, fixturePath('ts-h264-aac-cea608.ts'))
    const target = new URL(url).pathname
    await vi.waitFor(async () => {
      expect((await rawRequest(server.url, target)).status).toBe(404)
    }, soon)
  })

  it('is 410 once the session is hidden', async () => {
    const { url } = await enclosureOf('edited')
    const words = ['hide', `alice/${DATE}/edited`, '--data', library.data]
    const { code, stderr } = await runInProcess(words, { workingFolder: library.folder })
    expect([code, stderr]).toEqual([0, ''])
    await vi.waitFor(async () => {
      expect((await rawRequest(server.url, new URL(url).pathname)).status).toBe(410)
    }, soon)
  })
})
