// HLS over HTTP through the program: playlists, ranges, caching, versions, and misbehaving clients.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rename, truncate, utimes, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchBytes, fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist, ListedSegment } from './support/servers/hls-client.ts'
import { LARGE_SEGMENT_BYTES, makeLargeRecording } from './support/make/make-large-recording.ts'
import { AVC_C, avc1, box, ftyp, moov } from './support/make/make-mp4.ts'
import {
  adtsFrames,
  AAC_STREAM,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from './support/make/make-ts.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { soon } from './support/patience.ts'

const SECRET = 'a secret that two nodes share'
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Sessions of alice, and their fixtures. */
const SESSIONS = {
  mp4: 'mp4-h264-aac51-moov-last-bframes.mp4',
  ts: 'ts-h264-aac-clean-hls-concat.ts',
  hevc: 'mp4-hevc-hev1-aac.mp4',
  small: SMALL_FIXTURE,
} as const

const large = makeLargeRecording()
let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('hls')
  await placeSessions(library)
  await library.place('alice/2026-01-31/large.ts', large)
  server = await serve(library)
})

async function placeSessions(to: TempLibrary, modified?: Date): Promise<void> {
  for (const [id, fixture] of Object.entries(SESSIONS))
    await to.place(`alice/2026-01-31/${id}${/\.\w+$/.exec(fixture)?.[0]}`, fixture, modified)
  await to.place('alice/2026-01-31/m2ts.m2ts', shortRecording(192), modified)
  await to.place('alice/2026-01-31/packets.ts', shortRecording(188), modified)
  await to.place('alice/2026-01-31/audio.ts', audioRecording(), modified)
  await to.place('alice/2026-01-31/changing.mp4', changingRecording(), modified)
}

async function serve(
  from: TempLibrary,
  environment: NodeJS.ProcessEnv = {},
  settings: object = {},
): Promise<StartedServer> {
  return startServer({
    args: from.args,
    settings,
    environment: { AFTERCAST_HLS_SECRET: SECRET, ...environment },
  })
}

/** Twelve seconds of small frames and audio. */
function shortRecording(packetBytes: 188 | 192): Uint8Array {
  const maker = createTsMaker()
  const packets = [...maker.pat(), ...maker.pmt([H264_STREAM, AAC_STREAM])]
  for (let at = 0; at < 120; at += 1) {
    const pts = 90_000 + at * 9000
    const frame = h264Frame(at % 20 === 0 ? 'key' : 'plain', 3000 + at)
    packets.push(...maker.pes(VIDEO_PID, { pts }, frame))
    packets.push(...maker.pes(AUDIO_PID, { pts }, adtsFrames(5)))
  }
  return joinPackets(packets, packetBytes)
}

/** Twenty seconds without video. */
function audioRecording(): Uint8Array {
  const maker = createTsMaker()
  const packets = [...maker.pat(), ...maker.pmt([AAC_STREAM])]
  const ticks = (10 * 1024 * 90_000) / 48_000
  for (let at = 0; at < 94; at += 1)
    packets.push(...maker.pes(AUDIO_PID, { pts: 90_000 + at * ticks }, adtsFrames(10)))
  return joinPackets(packets)
}

/** Twelve seconds; the second half has another frame size: two sample descriptions. */
function changingRecording(): Uint8Array {
  const count = 120
  const sampleBytes = 100
  const moovFor = (mediaStart: number): Buffer =>
    moov([
      {
        kind: 'video',
        timescale: 1000,
        sampleEntries: [avc1(AVC_C, 320, 180), avc1(AVC_C, 160, 90)],
        durations: [[count, 100]],
        syncs: [1, 21, 41, 61, 81, 101],
        sizes: Array.from({ length: count }, () => sampleBytes),
        chunkRuns: [
          [1, 1, 1],
          [61, 1, 2],
        ],
        chunkOffsets: Array.from({ length: count }, (_, at) => mediaStart + at * sampleBytes),
      },
    ])
  const mediaStart = ftyp().length + moovFor(0).length + 8
  const media = Uint8Array.from({ length: count * sampleBytes }, (_, at) => at % 251)
  return Buffer.concat([ftyp(), moovFor(mediaStart), box('mdat', media)])
}

function playlistUrl(sessionId: string, of = server): string {
  return of.url + playlistApiPath({ streamer: 'alice', date: '2026-01-31', sessionId })
}

async function playlistOf(sessionId: string, of = server): Promise<ListedPlaylist> {
  return fetchPlaylist(playlistUrl(sessionId, of))
}

async function firstSegment(sessionId: string, of = server): Promise<ListedSegment> {
  const [first] = (await playlistOf(sessionId, of)).segments
  if (first === undefined) throw new Error(`${sessionId} has no segment`)
  return first
}

async function ask(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const { origin, pathname } = new URL(url)
  return rawRequest(origin, pathname, { headers, method })
}

const everySession = [...Object.keys(SESSIONS), 'm2ts', 'packets', 'changing', 'audio']

describe('playlists', () => {
  it.each(everySession)('%s: is a complete VOD playlist with relative URLs', async (id) => {
    const { text, segments, isEnded, targetDuration } = await playlistOf(id)
    const lines = text.trimEnd().split('\n')
    expect(lines[0]).toBe('#EXTM3U')
    expect(lines.at(-1)).toBe('#EXT-X-ENDLIST')
    expect(isEnded).toBe(true)
    expect(lines).toContain('#EXT-X-PLAYLIST-TYPE:VOD')
    expect(lines).toContain('#EXT-X-INDEPENDENT-SEGMENTS')
    expect(lines.filter((line) => line.startsWith('#EXT-X-TARGETDURATION:')).length).toBe(1)
    expect(Number.isInteger(targetDuration)).toBe(true)
    for (const { durationSeconds } of segments)
      expect(Math.round(durationSeconds)).toBeLessThanOrEqual(targetDuration)
    const uris = lines.flatMap((line) =>
      line.startsWith('#') ? (/URI="(?<uri>[^"]*)"/.exec(line)?.groups?.uri ?? []) : line,
    )
    for (const uri of uris) expect(uri).toMatch(/^[\w-]+\/[\w.-]+$/)
  })

  it('declares the version of its features', async () => {
    expect((await playlistOf('mp4')).text).toContain('#EXT-X-VERSION:6\n')
    expect((await playlistOf('packets')).text).toContain('#EXT-X-VERSION:3\n')
  })

  it.each(everySession)('%s: gives every segment a key and its own IV', async (id) => {
    const { segments } = await playlistOf(id)
    const ivs = segments.map(({ key }) => key?.iv.toString('hex'))
    expect(ivs).not.toContain(undefined)
    expect(new Set(ivs).size).toBe(segments.length)
  })

  it.each(['mp4', 'hevc', 'changing'])('%s: does not encrypt inits', async (id) => {
    const { text, segments } = await playlistOf(id)
    // A key also applies to later maps, so NONE (or no key) must precede each.
    const marks = text.match(/#EXT-X-MAP|METHOD=[\w-]+/g) ?? []
    const before = marks.flatMap((mark, at) => (mark === '#EXT-X-MAP' ? (marks[at - 1] ?? '') : []))
    expect(before.filter((mark) => mark !== '' && mark !== 'METHOD=NONE')).toEqual([])
    expect(before.length).toBeGreaterThan(0)
    const inits = new Set(segments.map(({ initUrl }) => initUrl))
    for (const init of inits) {
      const bytes = await fetchBytes(init ?? '')
      expect(bytes.toString('latin1', 4, 8)).toBe('ftyp')
      expect(bytes.includes('moov')).toBe(true)
    }
  })

  it('has hvc1 for HEVC in fMP4, as Apple requires', async () => {
    const { initUrl } = await firstSegment('hevc')
    const init = await fetchBytes(initUrl ?? '')
    expect(init.includes('hvc1')).toBe(true)
    expect(init.includes('hev1')).toBe(false)
  })

  it('splits audio without video like video', async () => {
    const { segments } = await playlistOf('audio')
    expect(segments.length).toBeGreaterThan(2)
    const total = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    expect(total).toBeCloseTo((940 * 1024) / 48_000, 2)
  })

  it('marks a change of the frame size with a discontinuity and a new init', async () => {
    const { segments } = await playlistOf('changing')
    expect(segments.filter(({ isDiscontinuity }) => isDiscontinuity).length).toBeGreaterThan(0)
    expect(new Set(segments.map(({ initUrl }) => initUrl)).size).toBeGreaterThan(1)
  })

  it('may be cached for an hour and has its media type', async () => {
    const { headers } = await ask(playlistUrl('mp4'))
    expect(headers['content-type']).toBe('application/vnd.apple.mpegurl')
    expect(headers['cache-control']).toBe('public, max-age=3600')
    expect(headers.vary).toMatch(/Accept-Encoding/)
  })
})

describe('media', () => {
  it.each(everySession)(
    '%s: has its media type and is immutable; the key is never cached',
    async (id) => {
      const { url, initUrl, key } = await firstSegment(id)
      const type = initUrl === undefined ? 'video/mp2t' : 'video/mp4'
      for (const media of [url, initUrl].filter((each) => each !== undefined)) {
        const { status, headers, body } = await ask(media)
        expect(status).toBe(200)
        expect(headers['content-type']).toBe(type)
        expect(headers['cache-control']).toBe(IMMUTABLE)
        expect(headers['content-length']).toBe(String(body.length))
      }
      const answer = await ask(key?.url ?? '')
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.body.length).toBe(16)
    },
  )

  it.each(['mp4', 'packets', 'm2ts'])('%s: serves byte ranges', async (id) => {
    const { url } = await firstSegment(id)
    const whole = (await ask(url)).body
    const size = whole.length
    const wanted: [string, number, number][] = [
      ['bytes=0-0', 0, 1],
      ['bytes=0-', 0, size],
      ['bytes=1-3', 1, 4],
      ['bytes=15-16', 15, 17],
      ['bytes=187-570', 187, 571],
      [`bytes=${size - 1}-`, size - 1, size],
      [`bytes=${size - 40}-${size + 1000}`, size - 40, size],
      ['bytes=-17', size - 17, size],
      [`bytes=-${size * 2}`, 0, size],
    ]
    for (const [range, start, end] of wanted) {
      const { status, headers, body } = await ask(url, { range })
      expect(status, range).toBe(206)
      expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/${size}`)
      expect(headers['content-length']).toBe(String(end - start))
      expect(body.equals(whole.subarray(start, end)), range).toBe(true)
    }
    for (const range of [`bytes=${size}-`, `bytes=${size + 5}-${size + 9}`, 'bytes=-0']) {
      const { status, headers, body } = await ask(url, { range })
      expect(status, range).toBe(416)
      expect(headers['content-range']).toBe(`bytes */${size}`)
      expect(body.length).toBe(0)
    }
    for (const range of ['bytes=9-3', 'lines=0-5', 'bytes=a-b'])
      expect((await ask(url, { range })).body.equals(whole), range).toBe(true)
    expect((await ask(url)).headers['accept-ranges']).toBe('bytes')
  })

  it.each(['mp4', 'packets', 'm2ts'])(
    '%s: supports If-Range, If-None-Match and HEAD',
    async (id) => {
      const { url } = await firstSegment(id)
      const { headers, body } = await ask(url)
      const etag = headers.etag ?? ''
      expect(etag).toMatch(/^"[^"]+"$/)
      const part = await ask(url, { range: 'bytes=0-9', 'if-range': etag })
      expect(part.status).toBe(206)
      const whole = await ask(url, { range: 'bytes=0-9', 'if-range': '"other"' })
      expect(whole.status).toBe(200)
      expect(whole.body.equals(body)).toBe(true)
      const known = await ask(url, { 'if-none-match': `"x", ${etag}` })
      expect([known.status, known.body.length]).toEqual([304, 0])
      expect(known.headers.etag).toBe(etag)
      expect(known.headers['cache-control']).toBe(IMMUTABLE)
      const head = await ask(url, { range: 'bytes=0-9' }, 'HEAD')
      expect([head.status, head.headers['content-range'], head.body.length]).toEqual([
        200,
        undefined,
        0,
      ])
      for (const ranges of [{}, { range: 'bytes=0-9' }, { range: `bytes=${body.length}-` }])
        expect((await ask(url, ranges, 'HEAD')).headers['content-length']).toBe(String(body.length))
    },
  )

  it('serves packets of 192 bytes like those of 188', async () => {
    const pair = await Promise.all(['m2ts', 'packets'].map((id) => playlistOf(id)))
    const [m2ts = [], packets = []] = await Promise.all(
      pair.map(({ segments }) => Promise.all(segments.map(fetchSegment))),
    )
    expect(m2ts.length).toBe(packets.length)
    expect(m2ts.map(hashOf)).toEqual(packets.map(hashOf))
  })

  it('responds 404 for names that no playlist lists', async () => {
    const { segments } = await playlistOf('mp4')
    const base = new URL('.', segments[0]?.url).href
    const names = [
      `${segments.length}.m4s`,
      '999999999.m4s',
      '99999999999999999999.m4s',
      '-1.m4s',
      '00.m4s',
      '1e0.m4s',
      '0.ts',
      '0.mp4',
      'init-1.mp4',
      'init-999.mp4',
      'init.mp4',
      'Key',
      'key.bin',
      '0.m4s.bak',
    ]
    for (const name of names) {
      const { status, body } = await ask(base + name)
      expect(status, name).toBe(404)
      expect(JSON.parse(body.toString())).toHaveProperty('error.code', 'not_found')
    }
    expect((await ask(base.replace(/[^/]+\/$/, 'x/0.m4s'))).status).toBe(404)
  })
})

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Every HLS response of a session, by path. */
async function everything(sessionId: string, of: StartedServer): Promise<Record<string, string>> {
  const { text, segments } = await playlistOf(sessionId, of)
  const urls = segments.flatMap(({ url, initUrl, key }) => [url, initUrl, key?.url])
  const hashes: Record<string, string> = { playlist: hashOf(Buffer.from(text)) }
  for (const url of new Set(urls))
    if (url !== undefined) hashes[new URL(url).pathname] = hashOf(await fetchBytes(url))
  return hashes
}

describe('other servers', () => {
  it('serve the same bytes under the same URLs from a copy if they share the secret', async () => {
    const copy = await createTempLibrary('hls-copy')
    await placeSessions(copy, new Date('2025-07-07T07:07:07Z'))
    const other = await serve(copy)
    for (const id of everySession)
      expect(await everything(id, other)).toEqual(await everything(id, server))
  })

  it('without encryption have no key and serve plain bytes under other URLs', async () => {
    const plain = await serve(await smallLibrary(), { AFTERCAST_HLS_ENCRYPTION: 'none' })
    for (const id of ['small', 'packets']) {
      const { text, segments } = await playlistOf(id, plain)
      expect(text).not.toContain('#EXT-X-KEY')
      const encrypted = (await playlistOf(id)).segments
      expect(pathsOf(segments)).not.toEqual(pathsOf(encrypted))
      expect((await Promise.all(segments.map(fetchSegment))).map(hashOf)).toEqual(
        (await Promise.all(encrypted.map(fetchSegment))).map(hashOf),
      )
      const base = new URL('.', segments[0]?.url).href
      expect((await ask(`${base}key`)).status).toBe(404)
    }
    const { url } = await firstSegment('packets', plain)
    const whole = (await ask(url)).body
    const { body, status } = await ask(url, { range: 'bytes=100-999' })
    expect(status).toBe(206)
    expect(body.equals(whole.subarray(100, 1000))).toBe(true)
  })

  it('with another secret, or other settings, have other URLs', async () => {
    const own = pathsOf((await playlistOf('small')).segments)
    const secret = await serve(await smallLibrary(), {
      AFTERCAST_HLS_SECRET: 'quite another secret',
    })
    expect(pathsOf((await playlistOf('small', secret)).segments)).not.toEqual(own)
    expect((await ask(secret.url + own[0])).status).toBe(404)

    const shorter = await serve(await smallLibrary(), {}, { hls: { segmentSeconds: 2 } })
    const { segments } = await playlistOf('packets', shorter)
    const known = (await playlistOf('packets')).segments
    expect(segments.length).toBeGreaterThan(known.length)
    expect(pathsOf(segments)[0]).not.toBe(pathsOf(known)[0])
  })
})

async function smallLibrary(): Promise<TempLibrary> {
  const small = await createTempLibrary('hls-small')
  await small.place('alice/2026-01-31/small.mp4', SESSIONS.small)
  await small.place('alice/2026-01-31/packets.ts', shortRecording(188))
  return small
}

function pathsOf(segments: readonly ListedSegment[]): string[] {
  return segments.map(({ url }) => new URL(url).pathname)
}

describe('a changed recording', () => {
  it('has other URLs after a replacement, and the old ones are gone', async () => {
    const path = 'alice/2026-01-31/replaced.mp4'
    await library.place(path, SESSIONS.small)
    await vi.waitFor(() => playlistOf('replaced'), soon)
    const before = await playlistOf('replaced')
    await library.place('alice/2026-01-31/.incoming', 'mp4-h264-vfr.mp4')
    await rename(library.pathOf('alice/2026-01-31/.incoming'), library.pathOf(path))
    const after = await playlistOf('replaced')
    expect(after.segments[0]?.url).not.toBe(before.segments[0]?.url)
    for (const { url, initUrl, key } of before.segments)
      for (const old of [url, initUrl ?? url, key?.url ?? url])
        expect([404, 410]).toContain((await ask(old)).status)
    await Promise.all(after.segments.map(fetchSegment))
  })

  it('has the same URLs if only its time changes', async () => {
    const before = await playlistOf('small')
    const now = new Date('2026-03-01T00:00:00Z')
    await utimes(library.pathOf('alice/2026-01-31/small.mp4'), now, now)
    expect((await playlistOf('small')).text).toBe(before.text)
  })

  it('never sends a short body as complete if it is truncated during a download', async () => {
    const path = 'alice/2026-01-31/cut.ts'
    await library.place(path, large)
    await vi.waitFor(() => playlistOf('cut'), soon)
    for (const ending of ['in the middle', 'to nothing'] as const) {
      await library.place(path, large)
      const { url } = await firstSegment('cut')
      const response = await open(url)
      response.pause()
      await sleep(300)
      const keep = ending === 'to nothing' ? 0 : LARGE_SEGMENT_BYTES / 2
      await truncate(library.pathOf(path), keep)
      const { bytes, isWhole } = await readToEnd(response)
      expect(isWhole).toBe(false)
      expect(bytes).toBeLessThan(Number(response.headers['content-length']))
      expect([404, 410, 422]).toContain((await ask(url)).status)
    }
    expect((await playlistOf('small')).isEnded).toBe(true)
  })

  it('never sends mixed bytes as complete if it is overwritten during a download', async () => {
    const path = 'alice/2026-01-31/over.ts'
    await library.place(path, large)
    await vi.waitFor(() => playlistOf('over'), soon)
    const { url } = await firstSegment('over')
    const response = await open(url)
    response.pause()
    await sleep(300)
    // like `cp`: into the same file, of the same size
    await writeFile(library.pathOf(path), Buffer.alloc(large.length, 0x47), { flag: 'r+' })
    expect((await readToEnd(response)).isWhole).toBe(false)
  })

  it('is sent to its end if it is replaced or removed during a download', async () => {
    const path = library.pathOf('alice/2026-01-31/going.ts')
    await library.place('alice/2026-01-31/going.ts', large)
    await vi.waitFor(() => playlistOf('going'), soon)
    const { url } = await firstSegment('going')
    const expected = hashOf(await fetchBytes(url))
    const response = await open(url)
    response.pause()
    await sleep(200)
    await rename(path, library.pathOf('alice/2026-01-31/.gone'))
    const { hash, isWhole } = await readToEnd(response)
    expect(isWhole).toBe(true)
    expect(hash).toBe(expected)
    expect((await ask(url)).status).toBe(404)
  })
})

async function open(url: string): Promise<IncomingMessage> {
  const request = get(url, { agent: false })
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject)
  })
}

async function* chunksOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const chunk of response) yield Buffer.from(chunk)
}

async function readToEnd(response: IncomingMessage) {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of chunksOf(response)) {
      bytes += chunk.length
      hash.update(chunk)
    }
  } catch {
    // Some of these tests expect a reset connection; `isWhole` is false then.
  }
  return { bytes, hash: hash.digest('hex'), isWhole: response.complete }
}

async function openFiles(): Promise<number> {
  return (await readdir(`/proc/${server.pid}/fd`)).length
}

async function residentMebibytes(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(?<size>\d+)/m.exec(status)?.groups?.size) / 1024
}

/** A client that sends bytes and reads next to nothing. */
function connectTo(origin: string, bytes: string): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => socket.write(bytes))
  return socket.on('error', () => undefined)
}

describe('clients', () => {
  it('that read slowly get every byte', async () => {
    const { url } = await firstSegment('large')
    const expected = await ask(url)
    const response = await open(url)
    const hash = createHash('sha256')
    let pauses = 0
    for await (const chunk of chunksOf(response)) {
      hash.update(chunk)
      if (pauses < 20 && (pauses += 1)) await sleep(50)
    }
    expect(hash.digest('hex')).toBe(hashOf(expected.body))
    expect(expected.body.length).toBeGreaterThan(LARGE_SEGMENT_BYTES * 0.9)
  })

  it('that disconnect in the middle leak no files', async () => {
    const urls = [(await firstSegment('large')).url, (await firstSegment('mp4')).url]
    await ask(urls[1] ?? '')
    await sleep(300)
    const before = await openFiles()
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const response = await open(urls[i % 2] ?? '')
          if (i % 3 === 0) await once(response, 'readable')
          response.destroy()
        }),
      )
    }
    await vi.waitFor(async () => expect(await openFiles()).toBeLessThanOrEqual(before + 3), soon)
    expect((await ask(urls[1] ?? '')).status).toBe(200)
  })

  it('that pipeline open nothing before the turn of a request', async () => {
    const { pathname } = new URL((await firstSegment('large')).url)
    const before = await openFiles()
    const heads = `GET ${pathname} HTTP/1.1\r\nHost: here\r\n\r\n`.repeat(300)
    const clients = Array.from({ length: 10 }, () => connectTo(server.url, heads))
    for (const client of clients) await once(client, 'readable')
    // The response of another request shows that the server has read those heads.
    expect((await ask(`${server.url}/api/streamers`)).status).toBe(200)
    // A connection, the recording and perhaps the cached segment of each.
    expect(await openFiles()).toBeLessThan(before + 3 * clients.length + 10)
    for (const client of clients) client.destroy()
    await vi.waitFor(async () => expect(await openFiles()).toBeLessThanOrEqual(before + 3), soon)
  })

  it('that read no image share its bytes', async () => {
    const poster = Buffer.alloc(10 * 1024 * 1024, 7)
    poster.set([0xff, 0xd8, 0xff, 0xe0])
    await library.place('alice/2026-01-31/small.jpg', poster)
    const target = '/api/thumbnail/alice/2026-01-31/small'
    await vi.waitFor(async () => {
      expect((await ask(server.url + target)).body.length).toBe(poster.length)
    }, soon)
    const before = await residentMebibytes()
    const head = `GET ${target} HTTP/1.1\r\nHost: here\r\n\r\n`
    const clients = Array.from({ length: 60 }, () => connectTo(server.url, head))
    for (const client of clients) await once(client, 'readable')
    expect(await residentMebibytes()).toBeLessThan(before + 150)
    for (const client of clients) client.destroy()
    expect((await ask(server.url + target)).body.equals(poster)).toBe(true)
  })

  it('of a hundred concurrent requests all get the same', async () => {
    const { segments } = await playlistOf('mp4')
    const urls = segments.map(({ url }) => url)
    const expected = await Promise.all(urls.map(async (url) => hashOf(await fetchBytes(url))))
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const at = i % urls.length
        return hashOf(await fetchBytes(urls[at] ?? '')) === expected[at]
      }),
    )
    expect(answers.every(Boolean)).toBe(true)
  })
})
