// Storyboards through the program: the cues cover each session, and each tile shows the key frame
// at or before the start of its cue.
import { appendFile, utimes } from 'node:fs/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { errorResponse, sessionResponse } from '../shared/contract.ts'
import { playlistApiPath, sessionApiPath, storyboardApiPath } from '../shared/paths.ts'
import { encodeVideo } from './support/make/encode-video.ts'
import { writeVideo } from './support/make/write-video.ts'
import type { WrittenContainer, WrittenVideo } from './support/make/write-video.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import type { RawResponse } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, RECORDED_AT } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { readJpeg } from './support/verify/read-jpeg.ts'

const DATE = '2026-01-31'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const TILE_WIDTH = 160
const MAX_CUES = 200
/** Seconds from frame to frame, and frames from key frame to key frame. */
const FRAME_SECONDS = 1
const GOP_FRAMES = 3
const FRAMES = 60
/** As `writeVideo` writes it. */
const LAST_FRAME_SECONDS = 0.04
/** Of the second part. */
const SECOND_FRAMES = 30
const CONTAINERS: WrittenContainer[] = ['mp4', 'fmp4', 'ts', 'mkv', 'flv']
/** Key frames of a recording differ by 3.5. */
const LUMA_TOLERANCE = 1.7
/** Of the growing recording, in which each frame is a key frame. */
const GROWING_FRAME_SECONDS = 2

let library: TempLibrary
let server: StartedServer
/** Video whose frame n has the luma 16 + n. */
let video: WrittenVideo
let growing: { bytes: Buffer; startBytes: number }

beforeAll(async () => {
  const timeMs = (number: number): number => number * FRAME_SECONDS * 1000
  const encode = (codec: 'h264' | 'hevc'): WrittenVideo => ({
    codec,
    frames: encodeVideo({ codec, frames: FRAMES, gop: GOP_FRAMES }),
    timeMs,
  })
  video = encode('h264')
  growing = makeGrowing()
  library = await createTempLibrary('storyboards')
  const place = async (name: string, content: string | Uint8Array, modified?: Date) =>
    library.place(`alice/${DATE}/${name}`, content, modified)
  for (const container of CONTAINERS) {
    const extension = container === 'fmp4' ? 'mp4' : container
    await place(`${container}.${extension}`, writeVideo(container, video))
  }
  await place('hevc.mp4', writeVideo('mp4', encode('hevc')))
  await place('parts/1.mp4', writeVideo('mp4', video))
  const second = encodeVideo({ codec: 'h264', frames: SECOND_FRAMES, gop: GOP_FRAMES })
  await place('parts/2.mp4', writeVideo('mp4', { ...video, frames: second }))
  await place('portrait.mp4', 'mp4-av1-10bit-aac-portrait.mp4')
  await place('odd.webm', 'webm-vp9-odd-size-161x121.webm')
  await place('corrupt.mp4', 'mp4-h264-aac-bitstream-corrupted.mp4')
  await place('audio.ts', 'ts-ac3-51-audio-only.ts')
  await place('broken.mp4', BROKEN_FIXTURE)
  await place('growing.ts', growing.bytes.subarray(0, growing.startBytes), new Date())
  // Longer than the test takes: nothing settles by itself.
  server = await startServer({ args: library.args, settings: { library: { settleSeconds: 3600 } } })
})

/** 300 s of MPEG-TS, then 100 s more. */
function makeGrowing(): { bytes: Buffer; startBytes: number } {
  const frames = encodeVideo({ codec: 'h264', frames: 200, gop: 1 })
  const timeMs = (number: number): number => number * GROWING_FRAME_SECONDS * 1000
  const start = writeVideo('ts', { codec: 'h264', frames: frames.slice(0, 150), timeMs })
  return { bytes: writeVideo('ts', { codec: 'h264', frames, timeMs }), startBytes: start.length }
}

const named = (sessionId: string) => ({ streamer: 'alice', date: DATE, sessionId })

interface Cue {
  startMs: number
  endMs: number
  /** Path of the sheet. */
  sheet: string
  region: { x: number; y: number; width: number; height: number }
}

async function get(target: string, headers: Record<string, string> = {}): Promise<RawResponse> {
  return rawRequest(server.url, target, { headers })
}

/** The cues, once the session is indexed. */
async function cuesOf(sessionId: string): Promise<Cue[]> {
  const target = storyboardApiPath(named(sessionId))
  const { body } = await vi.waitFor(async () => {
    const response = await get(target)
    expect(response.status, response.body.toString()).toBe(200)
    return response
  }, soon)
  return parseCues(body.toString(), target)
}

function parseCues(text: string, target: string): Cue[] {
  expect(text).toMatch(/^WEBVTT\n\n/)
  return text
    .split('\n\n')
    .slice(1)
    .map((block) => {
      const [times = '', url = ''] = block.split('\n')
      const [startMs = NaN, endMs = NaN] = times.split(' --> ').map(parseTime)
      const [file = '', region = ''] = url.split('#xywh=')
      const [x = NaN, y = NaN, width = NaN, height = NaN] = region.split(',').map(Number)
      const sheet = new URL(file, server.url + target).pathname
      return { startMs, endMs, sheet, region: { x, y, width, height } }
    })
}

function parseTime(text: string): number {
  const [hours = NaN, minutes = NaN, seconds = NaN] = text.split(':').map(Number)
  return Math.round(1000 * (3600 * hours + 60 * minutes + seconds))
}

async function durationOf(sessionId: string): Promise<number> {
  // A busy server answers without what it reads from the recording.
  return vi.waitFor(async () => {
    const { body } = await get(sessionApiPath(named(sessionId)))
    const details = parseExactly(sessionResponse, JSON.parse(body.toString()))
    expect(details.storyboard).toEqual({ url: storyboardApiPath(named(sessionId)) })
    return details.durationSeconds ?? NaN
  }, soon)
}

/** The brightness of each tile. */
async function lumaOf(cues: readonly Cue[]): Promise<number[]> {
  const sheets = new Map<string, ReturnType<typeof readJpeg>>()
  for (const sheet of new Set(cues.map((cue) => cue.sheet))) {
    const { status, headers, body } = await get(sheet)
    expect([status, headers['content-type']]).toEqual([200, 'image/jpeg'])
    sheets.set(sheet, readJpeg(body))
  }
  return cues.map(({ sheet, region }) => {
    const image = sheets.get(sheet)
    expect(region.x + region.width).toBeLessThanOrEqual(image?.width ?? 0)
    expect(region.y + region.height).toBeLessThanOrEqual(image?.height ?? 0)
    return image?.meanLuma(region) ?? NaN
  })
}

/** The key frame at or before a time of a recording. */
function keyFrameAt(seconds: number): number {
  const frame = Math.floor(seconds / FRAME_SECONDS)
  return frame - (frame % GOP_FRAMES)
}

/** One cue after another, from the start to the end. */
function expectContiguous(cues: readonly Cue[], durationSeconds: number): void {
  expect(cues.length).toBeLessThanOrEqual(MAX_CUES)
  for (const [i, { startMs, endMs, region }] of cues.entries()) {
    expect(startMs).toBe(cues[i - 1]?.endMs ?? 0)
    expect(endMs).toBeGreaterThan(startMs)
    expect(region.width).toBe(TILE_WIDTH)
  }
  expect(cues.at(-1)?.endMs).toBe(Math.round(1000 * durationSeconds))
}

/** The cues whose tile has not the brightness of the frame, in full range. */
function differences(luma: readonly number[], frames: readonly number[]): string[] {
  return frames.flatMap((frame, i) => {
    const expected = (frame * 255) / 219
    const actual = luma[i] ?? NaN
    const isEqual = Math.abs(actual - expected) < LUMA_TOLERANCE
    return isEqual ? [] : [`cue ${i}: ${actual}, not ${expected}`]
  })
}

describe('each cue shows the key frame at or before its start', () => {
  it.each([...CONTAINERS, 'hevc'])('%s', async (sessionId) => {
    const cues = await cuesOf(sessionId)
    expectContiguous(cues, await durationOf(sessionId))
    expect(cues).toHaveLength(FRAMES / 5)
    const frames = cues.map(({ startMs }) => keyFrameAt(startMs / 1000))
    expect(differences(await lumaOf(cues), frames)).toEqual([])
  })

  it('in a folder of parts', async () => {
    const cues = await cuesOf('parts')
    expectContiguous(cues, await durationOf('parts'))
    const secondPart = (FRAMES - 1) * FRAME_SECONDS + LAST_FRAME_SECONDS
    const frames = cues.map(({ startMs }) => {
      const seconds = startMs / 1000
      return keyFrameAt(seconds >= secondPart ? seconds - secondPart : seconds)
    })
    expect(differences(await lumaOf(cues), frames)).toEqual([])
  })

  it.each([
    ['portrait', 284, 5],
    ['odd', 120, 5],
    // Its only key frame is black.
    ['corrupt', 90, 0],
  ])('%s, in tiles with the aspect ratio of the video', async (sessionId, height, leastLuma) => {
    const cues = await cuesOf(sessionId)
    expectContiguous(cues, await durationOf(sessionId))
    for (const { region } of cues) expect(region.height).toBe(height)
    expect(Math.max(...(await lumaOf(cues)))).toBeGreaterThanOrEqual(leastLuma)
  })
})

describe('responses', () => {
  it('of the file are compressed, revalidated, and cached for an hour', async () => {
    await cuesOf('mp4')
    const target = storyboardApiPath(named('mp4'))
    const { headers, body } = await get(target, { 'accept-encoding': 'gzip' })
    expect(headers).toMatchObject({
      'content-type': 'text/vtt; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=3600',
      vary: 'Accept-Encoding',
    })
    expect(headers['surrogate-key']).toMatch(/^session-\S+ streamer-\S+$/)
    const { etag = '' } = headers
    expect((await get(target, { 'if-none-match': etag })).status).toBe(304)
    const head = await rawRequest(server.url, target, { method: 'HEAD' })
    expect([head.status, head.body.length]).toEqual([200, 0])
    expect(body.length).toBeGreaterThan(0)
  })

  it('of a sheet are immutable, and equal for each request', async () => {
    const [cue] = await cuesOf('ts')
    const target = cue?.sheet ?? ''
    const { headers, body } = await get(target)
    expect(headers).toMatchObject({
      'cache-control': IMMUTABLE,
      'content-length': String(body.length),
      'x-content-type-options': 'nosniff',
    })
    const { etag = '' } = headers
    expect((await get(target)).body.equals(body)).toBe(true)
    const revalidated = await get(target, { 'if-none-match': etag })
    expect([revalidated.status, revalidated.headers['cache-control']]).toEqual([304, IMMUTABLE])
    const head = await rawRequest(server.url, target, { method: 'HEAD' })
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
      200,
      String(body.length),
      0,
    ])
  })

  it('of other names are errors', async () => {
    const [cue] = await cuesOf('ts')
    const other = (cue?.sheet ?? '').split('/').at(-1) ?? ''
    const below = (sessionId: string, file: string): string =>
      storyboardApiPath(named(sessionId)).replace('storyboard.vtt', file)
    const wrong = other.replace(/-[\da-f]{32}/, `-${'0'.repeat(32)}`)
    await vi.waitFor(async () => {
      expect((await get(storyboardApiPath(named('broken')))).status).toBe(422)
      expect((await get(playlistApiPath(named('audio')))).status).toBe(200)
    }, soon)
    for (const [target, status] of [
      [storyboardApiPath(named('none')), 404],
      [storyboardApiPath(named('audio')), 404],
      [below('audio', other), 404],
      // The sheet of another session.
      [below('mp4', other), 404],
      [below('broken', other), 422],
      [below('ts', wrong), 404],
      [below('ts', 'tile-0.jpg'), 404],
      [below('ts', other.replace('tile-0', 'tile-1')), 404],
      [below('ts', '..%2fstoryboard.vtt'), 400],
      [`/api/storyboard/alice/${DATE}/%2e%2e%2f/storyboard.vtt`, 400],
    ] as const) {
      const response = await get(target)
      expect([target, response.status]).toEqual([target, status])
      parseExactly(errorResponse, JSON.parse(response.body.toString()))
      expect(response.headers['cache-control']).toBe('no-store')
    }
    const { body } = await get(sessionApiPath(named('audio')))
    expect(JSON.parse(body.toString())).not.toHaveProperty('storyboard')
  })
})

it('grows with its recording: complete sheets stay, earlier ones remain available', async () => {
  const file = library.pathOf(`alice/${DATE}/growing.ts`)
  const before = await cuesOf('growing')
  const target = storyboardApiPath(named('growing'))
  expect((await get(target)).headers['cache-control']).toBe('public, max-age=2')
  const sheets = [...new Set(before.map(({ sheet }) => sheet))]
  expect(sheets).toHaveLength(2)
  const [complete, incomplete] = await Promise.all(sheets.map(async (sheet) => get(sheet)))
  expect(complete?.headers['cache-control']).toBe(IMMUTABLE)
  expect(incomplete?.headers['cache-control']).toBe('public, max-age=60')

  await appendFile(file, growing.bytes.subarray(growing.startBytes))
  const after = await vi.waitFor(async () => {
    const cues = await cuesOf('growing')
    expect(cues.length).toBeGreaterThan(before.length + 5)
    return cues
  }, soon)
  expectContiguous(after, await durationOf('growing'))
  expect(after.slice(0, 25)).toEqual(before.slice(0, 25))
  expect(after[25]?.sheet).not.toBe(sheets[1])
  const frames = after.map(({ startMs }) => startMs / (1000 * GROWING_FRAME_SECONDS))
  expect(differences(await lumaOf(after), frames)).toEqual([])
  for (const [i, sheet] of sheets.entries()) {
    const { status, body } = await get(sheet)
    expect([status, body.equals([complete, incomplete][i]?.body ?? Buffer.alloc(0))]).toEqual([
      200,
      true,
    ])
  }

  await utimes(file, RECORDED_AT, RECORDED_AT)
  const ended = await vi.waitFor(async () => {
    expect((await get(target)).headers['cache-control']).toBe('public, max-age=3600')
    return cuesOf('growing')
  }, soon)
  expect(ended.slice(0, 25)).toEqual(after.slice(0, 25))
  const last = await get(ended.at(-1)?.sheet ?? '')
  expect([last.status, last.headers['cache-control']]).toEqual([200, IMMUTABLE])
})

it('a hidden session has no storyboard', async () => {
  const [cue] = await cuesOf('flv')
  const hide = ['hide', `alice/${DATE}/flv`, '--data', library.data]
  expect((await runInProcess(hide, { workingFolder: library.folder })).code).toBe(0)
  await expect.poll(async () => (await get(cue?.sheet ?? '')).status, soon).toBe(410)
  expect((await get(storyboardApiPath(named('flv')))).status).toBe(410)
})
