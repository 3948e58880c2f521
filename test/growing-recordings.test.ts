// Growing recordings, through the real program: what was listed stays, under the same URLs, and the
// playlist ends once the recording is settled. A test settles a recording by its modification time,
// so no test depends on how fast it runs.
import { createHash } from 'node:crypto'
import { appendFile, readFile, rename, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import type { ListedPlaylist } from './support/servers/hls-client.ts'
import { makeLongTs } from './support/make/make-long-ts.ts'
import {
  AAC_TRACK,
  cluster,
  clusters,
  filmBlocks,
  H264_TRACK,
  mkvFile,
  SRT_TRACK,
} from './support/make/make-mkv.ts'
import type { BlockPlan } from './support/make/make-mkv.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from './support/make/make-ts.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { readReferencePackets } from './support/verify/reference-packets.ts'
import type { ReferencePacket } from './support/verify/reference-packets.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { packetsOfPid } from './support/verify/ts-segments.ts'
import { patienceMs, soon } from './support/patience.ts'

/** Longer than any test takes: nothing settles by itself. */
const SETTLE_SECONDS = 3600
/** For the test in which a recording settles by itself. */
const SHORT_SETTLE_SECONDS = 1
/** Long enough that the next lookup of a growing recording reads the file again. */
const REFRESH_MS = 1100
/** TARGETDURATION of growing recordings. */
const GROWING_TARGET_SECONDS = 12
const SETTLED_AT = new Date('2026-01-31T20:00:00Z')

let library: TempLibrary
let server: StartedServer
/** Two minutes of MPEG-TS. */
let recording: Buffer

beforeAll(async () => {
  library = await createTempLibrary('growing')
  const made = `${library.folder}/made.ts`
  await makeLongTs(made, 120)
  recording = await readFile(made)
  server = await serve()
})

async function serve(
  workers = '1',
  { settleSeconds = SETTLE_SECONDS, data = 'data' } = {},
): Promise<StartedServer> {
  return startServer({
    args: [library.recordings, '--data', `${library.folder}/${data}`],
    settings: { library: { settleSeconds } },
    environment: { AFTERCAST_WORKERS: workers },
  })
}

function playlistUrl(sessionId: string, of = server): string {
  return of.url + playlistApiPath({ streamer: 'alice', date: '2026-01-31', sessionId })
}

async function statusOf(url: string): Promise<number> {
  const { origin, pathname } = new URL(url)
  return (await rawRequest(origin, pathname)).status
}

/** The playlist, once the recording is in the catalog and has segments. */
async function listed(sessionId: string, of = server): Promise<ListedPlaylist> {
  return vi.waitFor(() => fetchPlaylist(playlistUrl(sessionId, of)), soon)
}

/** The playlist, once it has more than `before`. */
async function grown(sessionId: string, before: ListedPlaylist): Promise<ListedPlaylist> {
  return vi.waitFor(async () => {
    const playlist = await listed(sessionId)
    expect(playlist.text).not.toBe(before.text)
    return playlist
  }, soon)
}

/**
 * Settles the recording and returns its playlist, once it has ended with more segments than
 * `before`.
 */
async function ended(
  sessionId: string,
  file: string,
  before?: ListedPlaylist,
): Promise<ListedPlaylist> {
  await settle(file)
  return vi.waitFor(async () => {
    const playlist = await fetchPlaylist(playlistUrl(sessionId))
    expect(playlist.isEnded).toBe(true)
    expect(playlist.segments.length).toBeGreaterThan(before?.segments.length ?? 0)
    return playlist
  }, soon)
}

async function begin(path: string, bytes: Uint8Array): Promise<void> {
  await library.place(path, bytes, new Date())
}

async function append(path: string, bytes: Uint8Array): Promise<void> {
  await appendFile(library.pathOf(path), bytes)
}

/** Gives the file the time of a recording that was finished long ago. */
async function settle(path: string): Promise<void> {
  await utimes(library.pathOf(path), SETTLED_AT, SETTLED_AT)
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function segmentHashes({ segments }: ListedPlaylist): Promise<string[]> {
  const hashes: string[] = []
  for (const segment of segments) hashes.push(hashOf(await fetchSegment(segment)))
  return hashes
}

async function segmentBytes({ segments }: ListedPlaylist): Promise<Buffer> {
  const bytes: Buffer[] = []
  for (const segment of segments) bytes.push(await fetchSegment(segment))
  return Buffer.concat(bytes)
}

describe.concurrent('a growing recording', () => {
  it('is appended to, byte for byte, until it is settled', async () => {
    const path = 'alice/2026-01-31/live.ts'
    const step = Math.ceil(recording.length / 9)
    await begin(path, recording.subarray(0, step + 77))
    const playlists: string[] = []
    const hashes: string[][] = []
    const qualities: Record<string, { text: string; hashes: string[] }[]> = { saver: [], audio: [] }
    const readQualities = async (): Promise<void> => {
      for (const [quality, seen] of Object.entries(qualities)) {
        const playlist = await fetchPlaylist(`${playlistUrl('live')}?quality=${quality}`)
        seen.push({ text: playlist.text, hashes: await segmentHashes(playlist) })
      }
    }
    for (let at = step + 77; at < recording.length; at += step) {
      const playlist = await listed('live')
      await readQualities()
      expect(playlist.isEnded).toBe(false)
      expect(playlist.targetDuration).toBe(GROWING_TARGET_SECONDS)
      playlists.push(playlist.text)
      hashes.push(await segmentHashes(playlist))
      await append(path, recording.subarray(at, at + step))
      await grown('live', playlist)
    }
    const last = await ended('live', path)
    playlists.push(last.text)
    hashes.push(await segmentHashes(last))
    expect(last.text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n')
    expect(last.text).not.toContain('INDEPENDENT-SEGMENTS')
    playlists.slice(1).forEach((text, i) => expect(text.startsWith(playlists[i] ?? '')).toBe(true))
    hashes.slice(1).forEach((now, i) => {
      const before = hashes[i] ?? []
      expect(now.slice(0, before.length)).toEqual(before)
    })
    expect(new Set(playlists).size).toBe(playlists.length)
    for (const { durationSeconds } of last.segments)
      expect(Math.round(durationSeconds)).toBeLessThanOrEqual(GROWING_TARGET_SECONDS)
    await readQualities()
    for (const seen of Object.values(qualities)) {
      expect(seen.at(-1)?.hashes.length).toBe(last.segments.length)
      seen.slice(1).forEach((now, i) => {
        const before = seen[i] ?? { text: '', hashes: [] }
        expect(now.text.startsWith(before.text)).toBe(true)
        expect(now.hashes.slice(0, before.hashes.length)).toEqual(before.hashes)
      })
    }
    const served = await segmentBytes(last)
    for (const pid of [VIDEO_PID, AUDIO_PID])
      expect(packetsOfPid(served, pid)).toEqual(packetsOfPid(recording, pid))
  })

  it.each([
    ['mkv-h264-aac-60s.mkv', 0.7],
    ['fmp4-h264-aac-18frag.mp4', 0.7],
    ['flv-h264-aac.flv', 0.9],
    ['ts-h264-aac-clean-hls-concat.ts', 0.7],
  ] as const)(
    '%s: has every frame of both tracks in the end, none twice',
    async (fixture, share) => {
      const bytes = await readFile(fixturePath(fixture))
      const [id = '', ending = ''] = fixture.split('.')
      const path = `alice/2026-01-31/${id}.${ending}`
      const first = Math.floor(bytes.length * share)
      const second = Math.floor((first + bytes.length) / 2)
      await begin(path, bytes.subarray(0, first))
      const before = await listed(id)
      const hashes = await segmentHashes(before)
      await append(path, bytes.subarray(first, second))
      await sleep(REFRESH_MS)
      const between = await listed(id)
      await append(path, bytes.subarray(second))
      const after = await ended(id, path)
      expect(between.text.startsWith(before.text)).toBe(true)
      expect(after.text.startsWith(between.text)).toBe(true)
      expect((await segmentHashes(after)).slice(0, hashes.length)).toEqual(hashes)
      const source = await readReferencePackets(fixturePath(fixture))
      const served: ReferencePacket[] = []
      for (const segment of after.segments) {
        const file = `${library.folder}/${id}.segment`
        await writeFile(file, await fetchSegment(segment))
        served.push(...(await readReferencePackets(file)))
      }
      for (const kind of ['video', 'audio'] as const) {
        const payloads = (packets: ReferencePacket[]): string[] =>
          packets.filter((packet) => packet.kind === kind).map(({ sha1 }) => sha1)
        expect(payloads(served)).toEqual(payloads(source))
      }
    },
  )

  it('may be cached for two seconds, and for an hour once it has ended', async () => {
    const path = 'alice/2026-01-31/cached.ts'
    await begin(path, recording.subarray(0, recording.length / 2))
    await listed('cached')
    const { origin, pathname } = new URL(playlistUrl('cached'))
    const growing = await rawRequest(origin, pathname)
    expect(growing.headers['cache-control']).toBe('public, max-age=2')
    await ended('cached', path)
    const response = await rawRequest(origin, pathname)
    expect(response.headers['cache-control']).toBe('public, max-age=3600')
  })

  it('has subtitles that are in the file after the end of their segment', async () => {
    const path = 'alice/2026-01-31/late-text.mkv'
    const cue = (text: string): BlockPlan => ({
      track: 3,
      time: 500,
      frames: [Buffer.from(text)],
      form: 'group',
      duration: 1000,
    })
    const early = clusters([cue('early'), ...filmBlocks({ seconds: 20 })])
    await begin(path, mkvFile([H264_TRACK, AAC_TRACK, SRT_TRACK], early))
    await listed('late-text')
    const { origin, pathname: master } = new URL(playlistUrl('late-text'))
    const { body } = await rawRequest(origin, master)
    const list = /TYPE=SUBTITLES.*URI="(?<uri>[^"]+)"/.exec(body.toString())?.groups?.['uri'] ?? ''
    const [segment] = (await fetchPlaylist(new URL(list, playlistUrl('late-text')).href)).segments
    const { pathname } = new URL(segment?.url ?? '')
    const expectText = async (maxAge: number, cues: string[]) => {
      await rawRequest(origin, master)
      const { headers, body: text } = await rawRequest(origin, pathname)
      expect(headers['cache-control']).toBe(`public, max-age=${maxAge}`)
      expect(text.toString().match(/early|late/g)).toEqual(cues)
    }
    await expectText(2, ['early'])
    const blocks = filmBlocks({ seconds: 10, startMs: 20_000 })
    await append(path, cluster(blocks.toSpliced(1, 0, cue('late'))))
    await vi.waitFor(() => expectText(2, ['early', 'late']), soon)
    await settle(path)
    await vi.waitFor(() => expectText(3600, ['early', 'late']), soon)
  })

  it('sends Retry-After while there is nothing to list', async () => {
    await begin('alice/2026-01-31/young.ts', recording.subarray(0, 2000))
    await vi.waitFor(async () => expect(await statusOf(playlistUrl('young'))).toBe(503), soon)
    const { origin, pathname } = new URL(playlistUrl('young'))
    const response = await rawRequest(origin, pathname)
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1'])
    await append('alice/2026-01-31/young.ts', recording.subarray(2000, 100_000))
    await vi.waitFor(async () => expect(await statusOf(playlistUrl('young'))).toBe(200), soon)
  })

  it('splits a GOP that is too long, and nothing else', async () => {
    const whole = longGroups()
    const path = 'alice/2026-01-31/long-groups.ts'
    await begin(path, whole.subarray(0, Math.floor(whole.length * 0.6)))
    const before = await listed('long-groups')
    await append(path, whole.subarray(Math.floor(whole.length * 0.6)))
    const after = await ended('long-groups', path)
    expect(after.text.startsWith(before.text)).toBe(true)
    expect(after.targetDuration).toBe(GROWING_TARGET_SECONDS)
    const durations = after.segments.map(({ durationSeconds }) => durationSeconds)
    expect(Math.max(...durations)).toBeLessThanOrEqual(GROWING_TARGET_SECONDS)
    // Where GOPs are short, segments have their usual length.
    expect(durations.slice(0, 4)).toEqual([2, 4, 6, 6])
    expect(packetsOfPid(await segmentBytes(after), VIDEO_PID)).toEqual(
      packetsOfPid(whole, VIDEO_PID),
    )
  })
})

/**
 * Eighteen seconds with a key frame every two seconds, a minute without one, then ten more seconds.
 */
function longGroups(): Uint8Array {
  const maker = createTsMaker()
  const packets = [...maker.pat(), ...maker.pmt([H264_STREAM, AAC_STREAM])]
  for (let at = 0; at < 90 * 5; at += 1) {
    const seconds = at / 5
    const isKey = seconds <= 18 || seconds >= 80 ? at % 10 === 0 : false
    const pts = 90_000 + at * 18_000
    packets.push(...maker.pes(VIDEO_PID, { pts }, h264Frame(isKey ? 'key' : 'plain', 200 + at)))
    packets.push(...maker.pes(AUDIO_PID, { pts }, adtsFrames(9)))
  }
  return joinPackets(packets)
}

/** A null packet (ISO/IEC 13818-1 2.4.1). */
function nullPacket(): Buffer {
  return Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)])
}

describe.concurrent('the URLs of a growing recording', () => {
  it('never name two contents if it grows again after its end', async () => {
    const path = 'alice/2026-01-31/resumed.ts'
    const half = Math.floor(recording.length / 2)
    await begin(path, recording.subarray(0, half))
    await listed('resumed')
    const first = await ended('resumed', path)
    const hashes = await segmentHashes(first)
    await append(path, recording.subarray(half))
    const resumed = await ended('resumed', path, first)
    const now = new Map(
      (await segmentHashes(resumed)).map((hash, i) => [resumed.segments[i]?.url, hash]),
    )
    const unchanged = first.segments.filter(({ url }) => now.has(url))
    expect(unchanged.length).toBeGreaterThan(first.segments.length - 3)
    first.segments.forEach(({ url }, i) => expect([undefined, hashes[i]]).toContain(now.get(url)))
    expect(packetsOfPid(await segmentBytes(resumed), VIDEO_PID)).toEqual(
      packetsOfPid(recording, VIDEO_PID),
    )
  })

  it('change if it is truncated and rewritten, and the old ones are gone', async () => {
    const path = 'alice/2026-01-31/anew.ts'
    const other = Buffer.from(longGroups())
    await begin(path, recording.subarray(0, 200_000))
    const before = await listed('anew')
    await truncate(library.pathOf(path), 0)
    await append(path, other)
    const after = await vi.waitFor(async () => {
      const now = await fetchPlaylist(playlistUrl('anew'))
      expect(now.segments[0]?.url).not.toBe(before.segments[0]?.url)
      return now
    }, soon)
    for (const { url } of before.segments) expect(await statusOf(url)).toBe(404)
    const served = packetsOfPid(await segmentBytes(after), VIDEO_PID)
    expect(served).toEqual(packetsOfPid(other, VIDEO_PID).slice(0, served.length))
  })

  it('change if its end is replaced by other frames', async () => {
    const path = 'alice/2026-01-31/branch.ts'
    const sizeBytes = 188 * 500
    await begin(path, recording.subarray(0, 188 * 1200))
    const before = await listed('branch')
    await truncate(library.pathOf(path), sizeBytes)
    await append(path, Buffer.concat([recording.subarray(188 * 700)]))
    const after = await vi.waitFor(async () => {
      const now = await fetchPlaylist(playlistUrl('branch'))
      expect(now.segments[0]?.url).not.toBe(before.segments[0]?.url)
      return now
    }, soon)
    await Promise.all(after.segments.map(fetchSegment))
    for (const { url } of before.segments) expect(await statusOf(url)).toBe(404)
  })

  it('serve its own bytes, even if another one starts alike', async () => {
    const at = 188 * 1000
    const others = {
      plain: recording,
      longer: Buffer.concat([recording.subarray(0, at), nullPacket(), recording.subarray(at)]),
    }
    for (const [id, bytes] of Object.entries(others)) {
      await begin(`alice/2026-01-31/${id}.ts`, bytes)
      const served = packetsOfPid(await segmentBytes(await listed(id)), VIDEO_PID)
      expect(served.length).toBeGreaterThan(0)
      expect(served).toEqual(packetsOfPid(bytes, VIDEO_PID).slice(0, served.length))
    }
  })

  it('work at once under the final file name of its recorder', async () => {
    const path = 'alice/2026-01-31/renamed.tmp.ts'
    const half = Math.floor(recording.length / 2)
    await begin(path, recording.subarray(0, half))
    const { segments, text } = await listed('renamed')
    const [first] = segments
    await rename(library.pathOf(path), library.pathOf('alice/2026-01-31/renamed.ts'))
    expect((await fetchPlaylist(playlistUrl('renamed'))).text).toBe(text)
    expect(await statusOf(first?.url ?? '')).toBe(200)
  })

  it.each([
    ['empty', 'empty.ts'],
    ['hollow', 'hollow/1.ts'],
    ['no-playlist-yet', 'no-playlist-yet/init.mp4'],
  ])('respond 503 while there are only empty files (%s)', async (id, place) => {
    await begin(`alice/2026-01-31/${place}`, new Uint8Array(0))
    await vi.waitFor(async () => expect(await statusOf(playlistUrl(id))).toBe(503), soon)
    await settle(`alice/2026-01-31/${place}`)
    await vi.waitFor(async () => expect(await statusOf(playlistUrl(id))).toBe(422), soon)
  })

  it('are gone if the only file of its folder is truncated to nothing', async () => {
    const path = 'alice/2026-01-31/emptied/1.ts'
    await begin(path, recording)
    const { segments } = await listed('emptied')
    await truncate(library.pathOf(path), 0)
    await vi.waitFor(async () => expect(await statusOf(playlistUrl('emptied'))).toBe(503), soon)
    expect(await statusOf(segments[0]?.url ?? '')).toBe(404)
    await settle(path)
    await vi.waitFor(async () => expect(await statusOf(playlistUrl('emptied'))).toBe(422), soon)
  })

  it('work if the recorder sets the file time to the broadcast at the end', async () => {
    const path = 'alice/2026-01-31/dated.ts'
    await begin(path, recording)
    // The scan indexes it while it is growing; no request does.
    await sleep(2 * REFRESH_MS)
    const broadcast = new Date('2026-01-31T20:00:00Z')
    await utimes(library.pathOf(path), broadcast, broadcast)
    const playlist = await listed('dated')
    expect(playlist.isEnded).toBe(true)
    expect((await segmentBytes(playlist)).length).toBeGreaterThan(recording.length * 0.9)
  })

  it('are those of a finished recording if it was never seen growing', async () => {
    await library.place('alice/2026-01-31/finished.ts', recording)
    const { text, isEnded } = await listed('finished')
    expect(isEnded).toBe(true)
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
    // Only its time changes: from now on it is listed as growing.
    const now = new Date()
    await utimes(library.pathOf('alice/2026-01-31/finished.ts'), now, now)
    const fresh = await listed('finished')
    expect(fresh.isEnded).toBe(false)
    const last = await ended('finished', 'alice/2026-01-31/finished.ts')
    expect(last.text.startsWith(fresh.text)).toBe(true)
    expect((await stat(library.pathOf('alice/2026-01-31/finished.ts'))).size).toBe(recording.length)
  })
})

describe('the URLs of a growing recording across processes', () => {
  it('survive a kill, a restart with more workers, a rename, and their end', async () => {
    const path = 'alice/2026-01-31/stays.ts'
    const half = Math.floor(recording.length / 2)
    await begin(path, recording.subarray(0, half))
    const before = await listed('stays')
    await server.kill()
    server = await serve('2')
    const restarted = await listed('stays')
    expect(restarted.text.startsWith(before.text)).toBe(true)
    // Each connection may reach another process.
    for (const { url } of [...before.segments, ...before.segments])
      expect(await statusOf(url.replace(/^http:\/\/[^/]+/, server.url))).toBe(200)
    await append(path, recording.subarray(half))
    await rename(library.pathOf(path), library.pathOf('alice/2026-01-31/stays.m2ts'))
    const last = await ended('stays', 'alice/2026-01-31/stays.m2ts', before)
    expect(last.segments.length).toBe(21)
    expect(last.text.startsWith(before.text)).toBe(true)
    await server.stop()
    server = await serve()
    expect((await listed('stays')).text).toBe(last.text)
  })

  it('work in each process once any of them has listed them', async () => {
    const several = await serve('2', { data: 'several' })
    const paths = ['alice/2026-01-31/alone.ts', 'alice/2026-01-31/together/1.ts']
    const asked = paths.map(async (path) => growAndAsk(path, several, 10))
    for (const count of await Promise.all(asked)) expect(count).toBeGreaterThanOrEqual(10)
  })

  it('end by themselves once nothing has been written for settleSeconds', async () => {
    await begin('alice/2026-01-31/alone-by-itself.ts', recording)
    const impatient = await serve('1', { settleSeconds: SHORT_SETTLE_SECONDS, data: 'impatient' })
    const isEnded = async () => (await listed('alone-by-itself', impatient)).isEnded
    await expect.poll(isEnded, soon).toBe(true)
  })

  it('are refused without a wait where they were never listed', async () => {
    await begin('alice/2026-01-31/asked.ts', recording)
    const { segments } = await listed('asked')
    const known = segments[0]?.url ?? ''
    const unknown = [
      known.replace(/\d+\.ts$/, 'x.ts'),
      known.replace(/\d+\.ts$/, '0.m4s'),
      known.replace(/\d+\.ts$/, 'main.m3u8').replace(/[^/]+(?=\/main)/, 'longer-than-versions-are'),
      known.replace(/\d+\.ts$/, '9999.ts'),
      known.replace(/[^/]+(?=\/\d+\.ts$)/, 'AAAAAAAAAAAAAAAA'),
    ]
    // Requests share the throttled lookup; a lookup for each of them would take 400 s.
    const requests = unknown.flatMap((url) => Array.from({ length: 80 }, async () => statusOf(url)))
    const responses = await Promise.race([Promise.all(requests), sleep(patienceMs, undefined)])
    expect(new Set(responses)).toEqual(new Set([404]))
  })
})

/**
 * Writes a session step by step and requests each segment twice once it is listed. Returns the
 * number of segments, once there are at least as many.
 */
async function growAndAsk(path: string, of: StartedServer, atLeast: number): Promise<number> {
  const id = path.split('/')[2]?.replace('.ts', '') ?? ''
  const size = Math.floor(recording.length / 25)
  const asked = new Set<string>()
  const ask = async (): Promise<number> => {
    const { segments } = await listed(id, of)
    const unknown = segments.filter(({ url }) => !asked.has(url))
    for (const { url } of unknown) {
      asked.add(url)
      // Each connection may reach another process.
      expect([await statusOf(url), await statusOf(url)]).toEqual([200, 200])
    }
    return asked.size
  }
  await begin(path, recording.subarray(0, 5 * size))
  for (let at = 5 * size; at < recording.length; at += size) {
    await append(path, recording.subarray(at, at + size))
    await ask()
    await sleep(60)
  }
  await expect.poll(ask, soon).toBeGreaterThanOrEqual(atLeast)
  return asked.size
}
