// Hostile libraries through the program: requests cost little, and nothing from outside is served.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readProcessSeconds } from '../bench/machine.ts'
import { playlistApiPath, sessionsApiPath, thumbnailApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { AVC_C, avc1, box, ftyp, fullBox, moov, u32 } from './support/make/make-mp4.ts'
import type { TrackPlan } from './support/make/make-mp4.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { SMALL_FIXTURE, createTempLibrary, fixturePath } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** Of the server's processor time: all requests of all tests take about three seconds. */
const MAX_CPU_SECONDS = 60
const SEGMENTS_ASKED = 5
/** Expected statuses; any other is a caught crash. */
const EXPECTED_STATUSES = [200, 404, 422, 502, 503]
const CANARY = 'a secret outside of the library'
const TS = 'ts-h264-aac-clean-hls-concat.ts'

type Patch = (bytes: Buffer, at: number) => void

/** The recording, patched after every occurrence of `mark`; `at` is the position after it. */
async function patched(fixture: string, mark: string, patch: Patch): Promise<Buffer> {
  const bytes = Buffer.from(await readFile(fixturePath(fixture)))
  const places: number[] = []
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) places.push(at)
  expect(places.length).toBeGreaterThan(0)
  for (const at of places) patch(bytes, at + mark.length)
  return bytes
}

const COSTLY_SAMPLES = 4_000_000
/** Peak of the server's memory, far above what it needs; one such segment took 1.9 GB. */
const MAX_PEAK_BYTES = 1.2e9

/** 17 MB with four million samples in one chunk, and one key frame. */
function costlyRecording(): Buffer {
  const track: TrackPlan = {
    kind: 'video',
    timescale: 15_360,
    sampleEntries: [avc1(AVC_C)],
    durations: [[COSTLY_SAMPLES, 15]],
    syncs: [1],
    sizes: new Uint32Array(COSTLY_SAMPLES).fill(1),
    chunkRuns: [[1, COSTLY_SAMPLES, 1]],
    chunkOffsets: [40],
  }
  return Buffer.concat([ftyp(), box('mdat', Buffer.alloc(COSTLY_SAMPLES)), moov([track])])
}

async function readPeakBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** File names, and bytes with wrong sizes and counts. */
async function bombs(): Promise<[name: string, bytes: Uint8Array][]> {
  const word = (offset: number, value: number) => (bytes: Buffer, at: number) =>
    void bytes.writeUInt32BE(value, at + offset)
  const nested = Array.from({ length: 10_000 }).reduce<Buffer>((inner) => {
    const head = Buffer.from('0000000066726565', 'hex')
    head.writeUInt32BE(inner.length + 8)
    return Buffer.concat([head, inner])
  }, Buffer.alloc(0))
  const sized = (high: number, low: number) =>
    Buffer.concat([u32(1), Buffer.from('moov'), u32(high, low)])
  const head = box('ftyp', Buffer.from('isom'), u32(0), Buffer.from('isom'))
  const ebml = (await readFile(fixturePath('mkv-h264-aac-60s.mkv'))).subarray(0, 1108)
  const packets = Buffer.from(await readFile(fixturePath(TS))).subarray(0, 188)
  return [
    ['stsz.mp4', await patched(SMALL_FIXTURE, 'stsz', word(8, 0xffffffff))],
    ['stts.mp4', await patched(SMALL_FIXTURE, 'stts', word(8, 0xffffffff))],
    ['ctts.mp4', await patched('mp4-h264-vfr.mp4', 'ctts', word(4, 0xffffffff))],
    ['timescale.mp4', await patched(SMALL_FIXTURE, 'mdhd', word(12, 0))],
    ['chunks.mp4', await patched(SMALL_FIXTURE, 'stco', word(8, 0xfffffff0))],
    ['size.mp4', await patched(SMALL_FIXTURE, 'tkhd', word(76, 0xffffffff))],
    ['nested.mp4', Buffer.concat([head, box('moov', nested)])],
    ['endless.mp4', Buffer.concat([head, sized(0x7fffffff, 0xffffffff)])],
    ['nothing.mp4', Buffer.concat([head, sized(0, 0)])],
    ['entries.mp4', Buffer.concat([head, box('moov', fullBox('mvhd', 0, Buffer.alloc(96)))])],
    ['samples.mp4', await patched('fmp4-h264-aac-18frag.mp4', 'trun', word(4, 0x00ffffff))],
    ['defaults.mp4', await patched('fmp4-h264-aac-18frag.mp4', 'trex', word(16, 0xffffffff))],
    [
      'clusters.mkv',
      Buffer.concat([ebml, Buffer.from('1f43b67501ffffffffffffff'.repeat(5000), 'hex')]),
    ],
    ['element.mkv', Buffer.concat([ebml, Buffer.from('1654ae6b08ffffffffffffff', 'hex')])],
    ['packets.ts', Buffer.concat(Array.from({ length: 5000 }, () => packets))],
    ['zeros.ts', Buffer.alloc(2_000_000, 0x47)],
    [
      'zeros.flv',
      Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1e6, 9)]),
    ],
  ]
}

let library: TempLibrary
let server: StartedServer
let names: string[]

beforeAll(async () => {
  library = await createTempLibrary('hostile')
  await library.place('bombs/2026-01-31/good.mp4', SMALL_FIXTURE)
  const made = await bombs()
  for (const [name, bytes] of made) await library.place(`bombs/2026-01-31/${name}`, bytes)
  names = made.map(([name]) => name)
  await library.place('costly/2026-01-31/long.mp4', costlyRecording())
  const wrongSize = (bytes: Buffer, at: number) => void bytes.writeUInt32BE(2 ** 30, at + 92)
  await library.place(
    'costly/2026-01-31/wrong.mp4',
    await patched(SMALL_FIXTURE, 'stsz', wrongSize),
  )
  await placeFolders()
  const environment = { AFTERCAST_WORKERS: '2' }
  server = await startServer({ args: library.args, environment })
})

const STRANGE = [
  '1 "quoted" .ts',
  '2 %2e%2e%2f.ts',
  '3 ...ts',
  '4 __proto__.ts',
  '5 \u202eab.ts',
  '6\n#EXT.ts',
]

async function placeFolders(): Promise<void> {
  const outside = path.join(library.folder, 'outside')
  await mkdir(outside)
  const media = await readFile(fixturePath(TS))
  for (const name of ['secret.ts', 'key.bin']) await writeFile(path.join(outside, name), CANARY)
  await writeFile(path.join(outside, 'media.ts'), media)
  const place = async (name: string, lines: string[]) => {
    const text = ['#EXTM3U', '#EXT-X-TARGETDURATION:6', ...lines, '#EXT-X-ENDLIST', ''].join('\n')
    await library.place(`folders/2026-01-31/${name}/a.ts`, TS)
    await library.place(`folders/2026-01-31/${name}/index.m3u8`, Buffer.from(text))
  }
  const link = (target: string, name: string) =>
    symlink(path.join(outside, target), library.pathOf(`folders/2026-01-31/${name}`))
  await place('linked', ['#EXTINF:6,', 'a.ts', '#EXTINF:6,', 'b.ts'])
  await link('secret.ts', 'linked/b.ts')
  await place('keyed', ['#EXT-X-KEY:METHOD=AES-128,URI="key.bin"', '#EXTINF:6,', 'a.ts'])
  await link('key.bin', 'keyed/key.bin')
  await place(
    'often',
    Array.from({ length: 50_000 }, () => '#EXTINF:6,\na.ts'),
  )
  await place('ranges', [
    '#EXTINF:6,',
    '#EXT-X-BYTERANGE:9007199254740991@9007199254740991',
    'a.ts',
  ])
  for (const name of STRANGE) await library.place(`folders/2026-01-31/strange/${name}`, TS)
  await library.place('folders/2026-01-31/parts/a.ts', TS)
  await link('media.ts', 'parts/b.ts')
  await symlink(outside, library.pathOf('folders/2026-01-31/parts/c'))
}

async function ask(target: string): Promise<{ status: number; body: Buffer }> {
  const answer = await fetch(new URL(target, server.url))
  const body = Buffer.from(await answer.arrayBuffer())
  expect(EXPECTED_STATUSES, `${target}: ${body.toString('utf8', 0, 200)}`).toContain(answer.status)
  expect(body.includes(CANARY), target).toBe(false)
  return { status: answer.status, body }
}

/** The playlist, or the refusal, once the session is inspected. */
async function settled(
  streamer: string,
  sessionId: string,
): Promise<{ status: number; url: string }> {
  const target = playlistApiPath({ streamer, date: '2026-01-31', sessionId })
  await expect.poll(async () => (await ask(target)).status).not.toBe(503)
  return { status: (await ask(target)).status, url: server.url + target }
}

describe('bombs', () => {
  test('are played or refused with a reason, and the server survives', async () => {
    const outcomes = new Map<string, number>()
    for (const name of names) {
      const [sessionId = ''] = name.split('.')
      const { status, url } = await settled('bombs', sessionId)
      outcomes.set(name, status)
      await ask(thumbnailApiPath({ streamer: 'bombs', date: '2026-01-31', sessionId }))
      if (status !== 200) continue
      const { segments } = await fetchPlaylist(url)
      for (const segment of segments.slice(0, SEGMENTS_ASKED)) await ask(segment.url)
    }
    expect([...outcomes.values()]).toContain(422)
    expect((await ask('/healthz')).status).toBe(200)
    const good = await settled('bombs', 'good')
    expect(good.status).toBe(200)
    const { segments } = await fetchPlaylist(good.url)
    for (const segment of segments) expect((await fetchSegment(segment)).length).toBeGreaterThan(0)
  })
})

describe('costly recordings', () => {
  test('with millions of samples play in segments of bounded cost', async () => {
    const { status, url } = await settled('costly', 'long')
    expect(status).toBe(200)
    const { segments } = await fetchPlaylist(url)
    expect(segments.length).toBeGreaterThan(COSTLY_SAMPLES / 100_000 - 1)
    for (const segment of segments) expect((await ask(segment.url)).status).toBe(200)
    expect(await readPeakBytes(server.pid)).toBeLessThan(MAX_PEAK_BYTES)
  })

  test('with a wrong size in each table play without the samples concerned', async () => {
    const { status, url } = await settled('costly', 'wrong')
    expect(status).toBe(200)
    const { segments } = await fetchPlaylist(url)
    for (const segment of segments) expect((await ask(segment.url)).status).toBe(200)
  })
})

describe('folders', () => {
  /** Length of the folder's session in seconds; undefined if it is refused. */
  async function secondsOf(name: string): Promise<number | undefined> {
    const { status, url } = await settled('folders', name)
    if (status !== 200) return undefined
    const { segments } = await fetchPlaylist(url)
    for (const segment of segments) expect((await ask(segment.url)).status).toBe(200)
    return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0)
  }

  test('play without parts that link outside', async () => {
    const alone = (await secondsOf('parts')) ?? 0
    expect(alone).toBeGreaterThan(1)
    expect(await secondsOf('linked')).toBeCloseTo(alone, 1)
  })

  test.each([
    ['keyed', 'a key outside of the folder'],
    ['often', 'the same segment thousands of times'],
    ['ranges', 'a range after the last byte'],
  ])('%s: are refused with %s', async (name) => {
    expect(await secondsOf(name)).toBeUndefined()
  })

  test('play all parts with unusual names', async () => {
    const alone = (await secondsOf('parts')) ?? 0
    expect(await secondsOf('strange')).toBeCloseTo(STRANGE.length * alone, 0)
  })

  test('are listed without their path on disk', async () => {
    const { body } = await ask(sessionsApiPath('folders'))
    expect(body.includes(library.folder)).toBe(false)
  })
})

test('all requests together cost little processor time', () => {
  expect(readProcessSeconds(server.pid)).toBeLessThan(MAX_CPU_SECONDS)
})
