// Recordings that are still being written, asked of the real program: what was listed stays, under the same URLs, and the
// end comes by itself.
import { createHash } from 'node:crypto'
import { appendFile, readFile, rename, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/hls-client.ts'
import type { ListedPlaylist } from './support/hls-client.ts'
import { makeLongTs } from './support/make-long-ts.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from './support/make-ts.ts'
import { rawRequest } from './support/raw-request.ts'
import { readReferencePackets } from './support/reference-packets.ts'
import type { ReferencePacket } from './support/reference-packets.ts'
import { startServer } from './support/start-server.ts'
import type { StartedServer } from './support/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { packetsOfPid } from './support/ts-segments.ts'
import { patienceMs } from './support/patience.ts'

const SETTLE_SECONDS = 3
/** Longer than a growing recording is not looked at again. */
const LOOK_AGAIN_MS = 1100
/** TARGETDURATION of all that grows. */
const PROMISE_SECONDS = 12

let library: TempLibrary
let server: StartedServer
/** Two minutes of MPEG-TS. */
let recording: Buffer

beforeAll(async () => {
  library = await createTempLibrary('growing')
  const made = `${library.folder}/made.ts`
  await makeLongTs(made, 120)
  recording = await readFile(made)
  await writeFile(
    `${library.folder}/config.json`,
    JSON.stringify({ library: { settleSeconds: SETTLE_SECONDS } }),
  )
  server = await serve()
})

afterAll(async () => {
  await server.stop()
  await library.remove()
})

async function serve(workers = '1', config = 'config.json'): Promise<StartedServer> {
  return startServer({
    args: [...library.args, '--config', `${library.folder}/${config}`],
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

/** The playlist, once the recording is known and has something to list. */
async function listed(sessionId: string, of = server): Promise<ListedPlaylist> {
  return vi.waitFor(() => fetchPlaylist(playlistUrl(sessionId, of)), {
    timeout: patienceMs,
    interval: 200,
  })
}

async function begin(path: string, bytes: Uint8Array): Promise<void> {
  await library.place(path, bytes, new Date())
}

/** Waits until it is known and has nothing to list, and keeps it from counting as finished before that. */
async function seenYoung(id: string, place: string): Promise<void> {
  await vi.waitFor(
    async () => {
      await utimes(library.pathOf(`alice/2026-01-31/${place}`), new Date(), new Date())
      expect(await statusOf(playlistUrl(id))).toBe(503)
    },
    { timeout: patienceMs, interval: 200 },
  )
}

async function append(path: string, bytes: Uint8Array): Promise<void> {
  await appendFile(library.pathOf(path), bytes)
}

async function settled(): Promise<void> {
  await sleep(SETTLE_SECONDS * 1000 + 300)
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

describe.concurrent('a recording that grows', () => {
  it('is appended to, byte for byte, until it is still; then it ends by itself', async () => {
    const path = 'alice/2026-01-31/live.ts'
    const step = Math.ceil(recording.length / 9)
    await begin(path, recording.subarray(0, step + 77))
    const subtitles: string[] = []
    const hashes: string[][] = []
    for (let at = step + 77; at < recording.length; at += step) {
      const playlist = await listed('live')
      expect(playlist.isEnded).toBe(false)
      expect(playlist.targetDuration).toBe(PROMISE_SECONDS)
      subtitles.push(playlist.text)
      hashes.push(await segmentHashes(playlist))
      await append(path, recording.subarray(at, at + step))
      await sleep(LOOK_AGAIN_MS)
    }
    await settled()
    const last = await fetchPlaylist(playlistUrl('live'))
    subtitles.push(last.text)
    hashes.push(await segmentHashes(last))
    expect(last.isEnded).toBe(true)
    expect(last.text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n')
    expect(last.text).not.toContain('INDEPENDENT-SEGMENTS')
    subtitles.slice(1).forEach((text, i) => expect(text.startsWith(subtitles[i] ?? '')).toBe(true))
    hashes.slice(1).forEach((now, i) => {
      const before = hashes[i] ?? []
      expect(now.slice(0, before.length)).toEqual(before)
    })
    expect(new Set(subtitles).size).toBe(subtitles.length)
    for (const { durationSeconds } of last.segments)
      expect(Math.round(durationSeconds)).toBeLessThanOrEqual(PROMISE_SECONDS)
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
    '%s: has every picture and sound in the end, nothing twice',
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
      await sleep(LOOK_AGAIN_MS)
      const between = await listed(id)
      await append(path, bytes.subarray(second))
      await settled()
      const after = await fetchPlaylist(playlistUrl(id))
      expect(after.isEnded).toBe(true)
      expect(between.text.startsWith(before.text)).toBe(true)
      expect(after.text.startsWith(between.text)).toBe(true)
      expect((await segmentHashes(after)).slice(0, hashes.length)).toEqual(hashes)
      const source = await readReferencePackets(fixturePath(fixture))
      const served: ReferencePacket[] = []
      for (const segment of after.segments) {
        const chunk = `${library.folder}/${id}.segment`
        await writeFile(chunk, await fetchSegment(segment))
        served.push(...(await readReferencePackets(chunk)))
      }
      for (const kind of ['video', 'audio'] as const) {
        const payloads = (packets: ReferencePacket[]): string[] =>
          packets.filter((packet) => packet.kind === kind).map(({ sha1 }) => sha1)
        expect(payloads(served)).toEqual(payloads(source))
      }
    },
  )

  it('may be kept for two seconds, and for an hour when it has ended', async () => {
    const path = 'alice/2026-01-31/kept.ts'
    await begin(path, recording.subarray(0, recording.length / 2))
    await listed('kept')
    const { origin, pathname } = new URL(playlistUrl('kept'))
    const growing = await rawRequest(origin, pathname)
    expect(growing.headers['cache-control']).toBe('public, max-age=2')
    await settled()
    const ended = await rawRequest(origin, pathname)
    expect(ended.headers['cache-control']).toBe('public, max-age=3600')
  })

  it('asks to come again while there is nothing to list', async () => {
    await begin('alice/2026-01-31/young.ts', recording.subarray(0, 10_000))
    const { origin, pathname } = new URL(playlistUrl('young'))
    const answer = await vi.waitFor(
      async () => {
        const found = await rawRequest(origin, pathname)
        expect(found.status).toBe(503)
        return found
      },
      { timeout: 5000 },
    )
    expect(answer.headers['retry-after']).toBe('1')
    await append('alice/2026-01-31/young.ts', recording.subarray(10_000, 100_000))
    await vi.waitFor(async () => expect(await statusOf(playlistUrl('young'))).toBe(200), {
      timeout: 5000,
    })
  })

  it('cuts a group of pictures that is too long, and only where it must', async () => {
    const whole = longGroups()
    const path = 'alice/2026-01-31/long-groups.ts'
    await begin(path, whole.subarray(0, Math.floor(whole.length * 0.6)))
    const before = await listed('long-groups')
    await append(path, whole.subarray(Math.floor(whole.length * 0.6)))
    await settled()
    const after = await fetchPlaylist(playlistUrl('long-groups'))
    expect(after.text.startsWith(before.text)).toBe(true)
    expect(after.targetDuration).toBe(PROMISE_SECONDS)
    const durations = after.segments.map(({ durationSeconds }) => durationSeconds)
    expect(Math.max(...durations)).toBeLessThanOrEqual(PROMISE_SECONDS)
    // Where groups are short, segments are as long as ever.
    expect(durations.slice(0, 3)).toEqual([6, 6, 6])
    expect(packetsOfPid(await segmentBytes(after), VIDEO_PID)).toEqual(
      packetsOfPid(whole, VIDEO_PID),
    )
  })
})

/** Eighteen seconds with a key frame each two seconds, then a minute without one, then ten seconds more. */
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

/** A packet that carries nothing (ISO/IEC 13818-1 2.4.1). */
function nullPacket(): Buffer {
  return Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)])
}

describe.concurrent('the URLs of a recording that grows', () => {
  it('never name two things where it goes on after its end', async () => {
    const path = 'alice/2026-01-31/resumed.ts'
    const half = Math.floor(recording.length / 2)
    await begin(path, recording.subarray(0, half))
    await listed('resumed')
    await settled()
    const ended = await fetchPlaylist(playlistUrl('resumed'))
    expect(ended.isEnded).toBe(true)
    const hashes = await segmentHashes(ended)
    await append(path, recording.subarray(half))
    await settled()
    const resumed = await fetchPlaylist(playlistUrl('resumed'))
    expect(resumed.segments.length).toBeGreaterThan(ended.segments.length)
    const now = new Map(
      (await segmentHashes(resumed)).map((hash, i) => [resumed.segments[i]?.url, hash]),
    )
    const kept = ended.segments.filter(({ url }) => now.has(url))
    expect(kept.length).toBeGreaterThan(ended.segments.length - 3)
    ended.segments.forEach(({ url }, i) => expect([undefined, hashes[i]]).toContain(now.get(url)))
    expect(packetsOfPid(await segmentBytes(resumed), VIDEO_PID)).toEqual(
      packetsOfPid(recording, VIDEO_PID),
    )
  })

  it('are others where it was cut off and written anew, and the old ones are gone', async () => {
    const path = 'alice/2026-01-31/anew.ts'
    const other = Buffer.from(longGroups())
    await begin(path, recording.subarray(0, 200_000))
    const before = await listed('anew')
    await truncate(library.pathOf(path), 0)
    await append(path, other)
    const after = await vi.waitFor(
      async () => {
        const now = await fetchPlaylist(playlistUrl('anew'))
        expect(now.segments[0]?.url).not.toBe(before.segments[0]?.url)
        return now
      },
      { timeout: patienceMs, interval: 200 },
    )
    for (const { url } of before.segments) expect(await statusOf(url)).toBe(404)
    const served = packetsOfPid(await segmentBytes(after), VIDEO_PID)
    expect(served).toEqual(packetsOfPid(other, VIDEO_PID).slice(0, served.length))
  })

  it('are others where its end was cut off and other pictures follow', async () => {
    const path = 'alice/2026-01-31/branch.ts'
    const splitPoint = 188 * 500
    await begin(path, recording.subarray(0, 188 * 1200))
    const before = await listed('branch')
    await truncate(library.pathOf(path), splitPoint)
    await append(path, Buffer.concat([recording.subarray(188 * 700)]))
    const after = await vi.waitFor(
      async () => {
        const now = await fetchPlaylist(playlistUrl('branch'))
        expect(now.segments[0]?.url).not.toBe(before.segments[0]?.url)
        return now
      },
      { timeout: patienceMs, interval: 200 },
    )
    await Promise.all(after.segments.map(fetchSegment))
    for (const { url } of before.segments) expect(await statusOf(url)).toBe(404)
  })

  it('lead to its own bytes, however alike another one has begun', async () => {
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

  it('answer at once under the last name that its recorder gives it', async () => {
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
  ])('ask to come again while there are only empty files (%s)', async (id, place) => {
    await begin(`alice/2026-01-31/${place}`, new Uint8Array(0))
    await seenYoung(id, place)
    await settled()
    expect(await statusOf(playlistUrl(id))).toBe(422)
  })

  it('are none where the only file of its folder was emptied', async () => {
    const path = 'alice/2026-01-31/emptied/1.ts'
    await begin(path, recording)
    const { segments } = await listed('emptied')
    await truncate(library.pathOf(path), 0)
    await sleep(LOOK_AGAIN_MS)
    expect(await statusOf(playlistUrl('emptied'))).toBe(503)
    expect(await statusOf(segments[0]?.url ?? '')).toBe(404)
    await settled()
    expect(await statusOf(playlistUrl('emptied'))).toBe(422)
  })

  it('are answered where the recorder sets the time of the broadcast when all is written', async () => {
    const path = 'alice/2026-01-31/dated.ts'
    await begin(path, recording)
    // The scan indexes it while it counts as growing; nobody asks for it.
    await sleep(2 * LOOK_AGAIN_MS)
    const broadcast = new Date('2026-01-31T20:00:00Z')
    await utimes(library.pathOf(path), broadcast, broadcast)
    const playlist = await listed('dated')
    expect(playlist.isEnded).toBe(true)
    expect((await segmentBytes(playlist)).length).toBeGreaterThan(recording.length * 0.9)
  })

  it('are those of a finished recording where nobody saw it grow', async () => {
    await library.place('alice/2026-01-31/finished.ts', recording)
    const { text, isEnded } = await listed('finished')
    expect(isEnded).toBe(true)
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
    // Its time alone changes: it is listed as one that grows from now on, and stays so.
    const now = new Date()
    await utimes(library.pathOf('alice/2026-01-31/finished.ts'), now, now)
    const fresh = await listed('finished')
    expect(fresh.isEnded).toBe(false)
    await settled()
    const ended = await fetchPlaylist(playlistUrl('finished'))
    expect(ended.text.startsWith(fresh.text)).toBe(true)
    expect(ended.isEnded).toBe(true)
    expect((await stat(library.pathOf('alice/2026-01-31/finished.ts'))).size).toBe(recording.length)
  })
})

describe('the URLs of a recording that grows, where processes come and go', () => {
  it('stay over a kill, in other processes, under another name, and when it has ended', async () => {
    const path = 'alice/2026-01-31/stays.ts'
    const half = Math.floor(recording.length / 2)
    await begin(path, recording.subarray(0, half))
    const before = await listed('stays')
    await server.kill()
    server = await serve('2')
    const restarted = await listed('stays')
    expect(restarted.text.startsWith(before.text)).toBe(true)
    // Each connection may come to another process.
    for (const { url } of [...before.segments, ...before.segments])
      expect(await statusOf(url.replace(/^http:\/\/[^/]+/, server.url))).toBe(200)
    await append(path, recording.subarray(half))
    await rename(library.pathOf(path), library.pathOf('alice/2026-01-31/stays.m2ts'))
    await vi.waitFor(async () => expect((await listed('stays')).segments.length).toBe(20), {
      timeout: patienceMs,
    })
    const ended = await fetchPlaylist(playlistUrl('stays'))
    expect(ended.isEnded).toBe(true)
    expect(ended.text.startsWith(before.text)).toBe(true)
    await server.stop()
    server = await serve()
    expect((await listed('stays')).text).toBe(ended.text)
  })

  it('lead in each process to what any of them has listed', async () => {
    // Nothing may count as finished between two of its writes, however slow the machine is.
    const patient = JSON.stringify({ library: { settleSeconds: 60 } })
    await writeFile(`${library.folder}/patient.json`, patient)
    const several = await serve('2', 'patient.json')
    try {
      const places = { alone: 'alone.ts', together: 'together/1.ts' }
      const asked = Object.entries(places).map(async ([id, place]) =>
        growAndAsk(id, place, several),
      )
      for (const count of await Promise.all(asked)) expect(count).toBeGreaterThan(10)
    } finally {
      await several.stop()
    }
  })

  it('make nobody wait who asks for what nobody listed', async () => {
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
    const begunMs = performance.now()
    const answers = await Promise.all(
      unknown.flatMap((url) => Array.from({ length: 20 }, async () => statusOf(url))),
    )
    expect(new Set(answers)).toEqual(new Set([404]))
    expect(performance.now() - begunMs).toBeLessThan(1500)
  })
})

/** Writes a session step by step and asks for each segment twice as soon as it is listed; how many there were. */
async function growAndAsk(id: string, place: string, of: StartedServer): Promise<number> {
  const path = `alice/2026-01-31/${place}`
  const size = Math.floor(recording.length / 25)
  const asked = new Set<string>()
  await begin(path, recording.subarray(0, 5 * size))
  for (let at = 5 * size; at < recording.length; at += size) {
    await append(path, recording.subarray(at, at + size))
    const { segments } = await listed(id, of)
    const unknown = segments.filter(({ url }) => !asked.has(url))
    for (const { url } of unknown) {
      asked.add(url)
      // Each connection may come to another process.
      expect([await statusOf(url), await statusOf(url)]).toEqual([200, 200])
    }
    await sleep(60)
  }
  return asked.size
}
