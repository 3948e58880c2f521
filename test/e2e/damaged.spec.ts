// Truncated and corrupt recordings play in the browser to where they are truncated, or past the
// corrupt part, without an error.
import { readFile } from 'node:fs/promises'
import { createRandom } from '../support/make/corrupt.ts'
import { readReferencePackets } from '../support/verify/reference-packets.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, fixturePath, type TempLibrary } from '../support/temp-library.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'

const day = 'Corrupt/2026-01-31'
const fixtures = {
  ts: 'ts-h264-aac-clean-hls-concat.ts',
  mkv: 'mkv-h264-aac-60s.mkv',
  fmp4: 'fmp4-h264-aac-18frag.mp4',
  flv: 'flv-h264-aac.flv',
} as const
type Container = keyof typeof fixtures
const containers = ['ts', 'mkv', 'fmp4', 'flv'] as const

/**
 * A truncated recording ends with its last complete element; in fragmented MP4 that is a second of
 * video.
 */
const truncatedSlackSeconds = 1.2
/** A corrupt range costs its segment, or two where it crosses their boundary. */
const lostSeconds = 13
const endSlackSeconds = 0.5
/**
 * Chromium refuses the middle segment as a whole, 12.6 s long: the sizes of its NAL units are
 * wrong.
 */
const refused = {
  file: 'mp4-h264-aac51-moov-last-bframes.mp4',
  seconds: 30.02,
  lostSeconds: 14,
  insideSeconds: 15,
}
const rate = 8

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  library = await createTempLibrary('corrupt')
  for (const container of containers) {
    const bytes = await readFile(fixturePath(fixtures[container]))
    await library.place(
      pathOf('truncated', container),
      bytes.subarray(0, Math.floor(bytes.length * 0.61)),
    )
    await library.place(pathOf('corrupt', container), withNoise(bytes))
  }
  await library.place(`${day}/refused.mp4`, withNoise(await readFile(fixturePath(refused.file))))
  server = await startServer({ args: library.args })
})

for (const container of containers) {
  test(`plays a truncated ${container} recording to its last element`, async ({ page }) => {
    const file = library.pathOf(pathOf('truncated', container))
    const seconds = await lengthOf(file)
    await page.goto(`${server.url}/p/${day}/truncated-${container}`)
    const watched = await watchToEnd(page.locator('video'), rate)
    expect(watched).toMatchObject({ reached: 'ended', stepsBack: [], error: '' })
    expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(truncatedSlackSeconds)
    expect(watched.frames).toBeGreaterThan(0)
    expect(watched.audioBytes).toBeGreaterThan(0)
  })

  test(`plays a ${container} recording past a corrupt range in its middle`, async ({ page }) => {
    const seconds = await lengthOf(fixturePath(fixtures[container]))
    await page.goto(`${server.url}/p/${day}/corrupt-${container}`)
    const watched = await watchToEnd(page.locator('video'), rate)
    expect(watched).toMatchObject({ reached: 'ended', error: '' })
    expect(watched.longestJump).toBeLessThan(lostSeconds)
    expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(endSlackSeconds)
    expect(watched.frames).toBeGreaterThan(0)
    expect(watched.audioBytes).toBeGreaterThan(0)
  })
}

test('skips a segment that the browser refuses, and does not load it again and again', async ({
  page,
}) => {
  let segmentRequests = 0
  page.on('request', (request) => {
    if (request.url().endsWith('.m4s')) segmentRequests += 1
  })
  await page.goto(`${server.url}/p/${day}/refused`)
  const watched = await watchToEnd(page.locator('video'), rate)
  expect(watched).toMatchObject({ reached: 'ended', error: '' })
  expect(watched.longestJump).toBeLessThan(refused.lostSeconds)
  expect(Math.abs(watched.currentTime - refused.seconds)).toBeLessThan(endSlackSeconds)
  expect(segmentRequests).toBeLessThan(12)
})

test('continues after a refused segment that a visitor opens', async ({ page }) => {
  await page.goto(`${server.url}/p/${day}/refused?t=${refused.insideSeconds}`)
  const video = page.locator('video')
  const watched = await watchToEnd(video, rate)
  expect(watched).toMatchObject({ reached: 'ended', error: '' })
  const firstPlayed = await video.evaluate((element: HTMLVideoElement) => element.played.start(0))
  expect(firstPlayed).toBeGreaterThan(refused.insideSeconds)
})

function pathOf(kind: 'truncated' | 'corrupt', container: Container): string {
  const ending = fixtures[container].split('.').at(-1) ?? ''
  return `${day}/${kind}-${container}.${ending}`
}

/** The recording with noise in place of two percent of its bytes, from the middle on. */
function withNoise(bytes: Uint8Array): Uint8Array {
  const random = createRandom(20_260_131)
  const start = Math.floor(bytes.length * 0.5)
  const corrupt = Uint8Array.from(bytes)
  corrupt.subarray(start, start + Math.floor(bytes.length * 0.02)).forEach((_, at, range) => {
    range[at] = random(256)
  })
  return corrupt
}

/** Seconds from the first packet to the end of the last one, as FFmpeg demuxes them. */
async function lengthOf(file: string): Promise<number> {
  const packets = await readReferencePackets(file)
  const shown = packets.filter(({ kind, ptsSeconds }) => kind !== 'other' && !isNaN(ptsSeconds))
  const begin = Math.min(...shown.map(({ ptsSeconds }) => ptsSeconds))
  return Math.max(...shown.map((packet) => packet.ptsSeconds + packet.durationSeconds)) - begin
}
