// Folders with segments and a playlist of a recorder: every packet is served, and nothing from
// outside.
import { createCipheriv, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sessionResponse, sessionsResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionApiPath } from '../shared/paths.ts'
import { splitPackets } from './support/make/split-packets.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { readReferencePackets } from './support/verify/reference-packets.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const TS = 'ts-h264-aac-clean-hls-concat.ts'
const FMP4 = 'fmp4-h264-aac-18frag.mp4'
const CHUNKS = 6
const HEAD = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:6']

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('recorded')
  const chunks = splitPackets(await readFile(fixturePath(TS)), CHUNKS)
  await placeSession('plain', chunks, { lines: (i) => ['#EXTINF:6,', `${i}.ts`] })
  await placeEncrypted('encrypted', chunks)
  await placeSession('broken', chunks.slice(0, 2), {
    lines: (i) => ['#EXT-X-DISCONTINUITY', '#EXTINF:6,', `${i}.ts`],
  })
  await placeSession('timed', chunks.slice(0, 3), {
    lines: (i) => [
      '#EXT-X-DISCONTINUITY',
      ...(i === 2 ? [] : [`#EXT-X-PROGRAM-DATE-TIME:2026-01-31T2${i}:15:00.500Z`]),
      '#EXTINF:6,',
      `${i}.ts`,
    ],
  })
  await placeSession('future', chunks.slice(0, 2), {
    head: ['#EXT-X-PROGRAM-DATE-TIME:+275760-09-13T00:00:00.000Z'],
    lines: (i) => ['#EXT-X-DISCONTINUITY', '#EXTINF:6,', `${i}.ts`],
  })
  await placeByteRanges('ranges', await readFile(fixturePath(FMP4)))
  await placeSession('outside', chunks.slice(0, 1), {
    lines: () => ['#EXTINF:6,', '../plain/0.ts'],
  })
  await placeSession('remote', chunks.slice(0, 1), {
    lines: () => ['#EXTINF:6,', 'http://127.0.0.1:9/0.ts'],
  })
  server = await startServer({ args: library.args })
})

async function placeSession(
  name: string,
  chunks: Uint8Array[],
  { head = [], lines }: { head?: string[]; lines: (chunk: number) => string[] },
): Promise<void> {
  const folder = `alice/2026-01-31/${name}`
  for (const [i, chunk] of chunks.entries()) await library.place(`${folder}/${i}.ts`, chunk)
  const text = [...HEAD, ...head, ...chunks.flatMap((_, i) => lines(i)), '#EXT-X-ENDLIST', '']
  await library.place(`${folder}/playlist.m3u8`, Buffer.from(text.join('\n')))
}

/** Like ffmpeg's hls_key_info_file: one key in the folder, the media sequence number as IV. */
async function placeEncrypted(name: string, chunks: Uint8Array[]): Promise<void> {
  const key = randomBytes(16)
  await library.place(`alice/2026-01-31/${name}/key.bin`, key)
  const encrypted = chunks.map((chunk, i) => {
    const iv = Buffer.alloc(16)
    iv.writeUInt32BE(i + 3, 12)
    const cipher = createCipheriv('aes-128-cbc', key, iv)
    return Buffer.concat([cipher.update(chunk), cipher.final()])
  })
  await placeSession(name, encrypted, {
    head: [
      '#EXT-X-MEDIA-SEQUENCE:3',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:15:00.000Z',
      '#EXT-X-KEY:METHOD=AES-128,URI="key.bin"',
    ],
    lines: (i) => ['#EXTINF:6,', `${i}.ts`],
  })
}

/** Like ffmpeg's single_file: one file, its init and fragments as byte ranges. */
async function placeByteRanges(name: string, bytes: Buffer): Promise<void> {
  const starts: number[] = []
  for (let at = bytes.indexOf('moof'); at !== -1; at = bytes.indexOf('moof', at + 4))
    starts.push(at - 4)
  const mfra = bytes.indexOf('mfra')
  const end = mfra === -1 ? bytes.length : mfra - 4
  const text = [
    ...HEAD,
    `#EXT-X-MAP:URI="all.mp4",BYTERANGE="${starts[0] ?? 0}@0"`,
    ...starts.flatMap((start, i) => [
      '#EXTINF:1,',
      `#EXT-X-BYTERANGE:${(starts[i + 1] ?? end) - start}@${start}`,
      'all.mp4',
    ]),
    '#EXT-X-ENDLIST',
    '',
  ]
  await library.place(`alice/2026-01-31/${name}/all.mp4`, bytes)
  await library.place(`alice/2026-01-31/${name}/index.m3u8`, Buffer.from(text.join('\n')))
}

async function servedPackets(name: string) {
  const playlist = await fetchPlaylist(
    `${server.url}/api/video/alice/2026-01-31/${name}/playlist.m3u8`,
  )
  const packets = []
  for (const [i, segment] of playlist.segments.entries()) {
    const file = path.join(library.folder, `${name}-${i}.${segment.initUrl ? 'mp4' : 'ts'}`)
    await writeFile(file, await fetchSegment(segment))
    packets.push(...(await readReferencePackets(file)))
  }
  return { playlist, packets }
}

async function etagOf(target: string): Promise<string | null> {
  const response = await fetch(server.url + target)
  return response.headers.get('etag')
}

function hashes(packets: Awaited<ReturnType<typeof readReferencePackets>>, kind: string): string[] {
  return packets.filter((packet) => packet.kind === kind).map(({ sha1 }) => sha1)
}

describe('a folder with a playlist', () => {
  test.each([
    ['plain', TS],
    ['encrypted', TS],
    ['ranges', FMP4],
  ])('%s: plays packet for packet, with true lengths', async (name, file) => {
    const source = await readReferencePackets(fixturePath(file))
    const { playlist, packets } = await servedPackets(name)
    for (const kind of ['video', 'audio']) {
      expect(hashes(packets, kind)).toEqual(hashes(source, kind))
    }
    expect(playlist.isEnded).toBe(true)
    expect(playlist.text).toContain('METHOD=AES-128')
    const seconds = playlist.segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    expect(seconds).toBeCloseTo(file === TS ? 36 : 15.5, 0)
  })

  test('is one session, and its segments are not sessions', async () => {
    const list = async () => {
      const answer = await fetch(`${server.url}/api/sessions/alice`)
      const sessions = parseExactly(sessionsResponse, await answer.json())
      return sessions.map(({ sessionId }) => sessionId)
    }
    // Unplayable sessions are removed from the list once they are inspected.
    const playable = ['timed', 'ranges', 'plain', 'future', 'encrypted', 'broken']
    await expect.poll(list).toEqual(playable)
  })

  test('preserves the date and time of the recorded playlist', async () => {
    const { playlist } = await servedPackets('encrypted')
    expect(playlist.text).toContain('#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:15:00.000Z')
  })

  test('has no time if that of the recorded playlist is the last of all', async () => {
    const { playlist } = await servedPackets('future')
    expect(playlist.text).not.toContain('DATE-TIME')
  })

  test('has a time after each discontinuity, which a sidecar corrects', async () => {
    const target = { streamer: 'alice', date: '2026-01-31', sessionId: 'timed' }
    const details = async () => {
      const response = await fetch(server.url + sessionApiPath(target))
      const { startTime, startTimeFrom } = parseExactly(sessionResponse, await response.json())
      return [startTime, startTimeFrom]
    }
    const playlist = async (quality: string) =>
      fetchPlaylist(`${server.url}${playlistApiPath(target)}?quality=${quality}`)
    const times = async (quality = 'original') => {
      const { segments } = await playlist(quality)
      for (const [at, { startMs, isDiscontinuity }] of segments.entries())
        expect(startMs !== undefined).toBe(isDiscontinuity || at === 0)
      return segments.flatMap(({ startMs }) => startMs ?? [])
    }
    const [first = 0, second = 0, third = 0] = await times()
    expect(first).toBe(Date.UTC(2026, 0, 31, 20, 15, 0, 500))
    expect(second).toBe(first + 3_600_000)
    // It starts where the previous one ends.
    const { segments } = await playlist('original')
    const of = (startMs: number) => segments.findIndex((segment) => segment.startMs === startMs)
    const between = segments.slice(of(second), of(third))
    const seconds = between.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
    expect(third - second).toBe(Math.floor(seconds * 1000))
    for (const quality of ['saver', 'audio'])
      expect(await times(quality)).toEqual([first, second, third])
    expect(await details()).toEqual([new Date(first).toISOString(), 'playlist'])

    const etag = await etagOf(playlistApiPath(target))
    const info = Buffer.from(JSON.stringify({ timestamp: first / 1000 + 7 }))
    await library.place('alice/2026-01-31/timed/timed.info.json', info)
    await expect
      .poll(() => times(), soon)
      .toEqual([first, second, third].map((startMs) => startMs + 7000))
    expect(await details()).toEqual([new Date(first + 7000).toISOString(), 'metadata'])
    expect(await etagOf(playlistApiPath(target))).not.toBe(etag)
  })

  test('preserves the discontinuities of the recorded playlist', async () => {
    const { playlist } = await servedPackets('broken')
    expect(playlist.segments.some(({ isDiscontinuity }) => isDiscontinuity)).toBe(true)
  })

  test.each([
    ['outside', 'is outside of its folder'],
    ['remote', 'is a URL of another server'],
  ])('%s: 422 with the reason', async (name, why) => {
    const answer = await fetch(`${server.url}/api/video/alice/2026-01-31/${name}/playlist.m3u8`)
    expect(answer.status).toBe(422)
    expect(await answer.json()).toEqual({
      error: {
        code: 'unplayable',
        reason: 'playlist-name-rejected',
        message: `a file name in the playlist ${why}`,
      },
    })
  })

  test('has a thumbnail', async () => {
    const answer = await fetch(`${server.url}/api/thumbnail/alice/2026-01-31/plain`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^image\//)
  })
})
