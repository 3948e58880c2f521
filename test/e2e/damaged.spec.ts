// Recordings that were cut off or damaged play in the browser up to the break, or past the damage, without an error.
import { readFile } from 'node:fs/promises'
import { expect, test } from '@playwright/test'
import { createRandom } from '../support/damage.ts'
import { readReferencePackets } from '../support/reference-packets.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { createTempLibrary, fixturePath, type TempLibrary } from '../support/temp-library.ts'
import { watchToEnd } from './watch-to-end.ts'

const day = 'Hurt/2026-01-31'
const fixtures = {
  ts: 'ts-h264-aac-clean-hls-concat.ts',
  mkv: 'mkv-h264-aac-60s.mkv',
  fmp4: 'fmp4-h264-aac-18frag.mp4',
  flv: 'flv-h264-aac.flv',
} as const
type Container = keyof typeof fixtures
const containers = ['ts', 'mkv', 'fmp4', 'flv'] as const

/** A cut-off recording ends with its last whole element; of fragmented MP4 that is a second of pictures. */
const splitSlackSeconds = 1.2
/** Damage costs the segment that it is in at most, or two where it crosses their joint. */
const lostSeconds = 13
const endSlackSeconds = 0.5
/** Chromium refuses its segment in the middle, 12.6 s long, as a whole: the sizes of units in it lie. */
const lying = { file: 'mp4-h264-aac51-moov-last-bframes.mp4', seconds: 30.02, lostSeconds: 14 }
/** Chromium gives up at a picture or sound that is noise; the player goes on behind it. */
const repairMs = 8000

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(120_000)
  library = await createTempLibrary('hurt')
  for (const container of containers) {
    const bytes = await readFile(fixturePath(fixtures[container]))
    await library.place(
      pathOf('cut', container),
      bytes.subarray(0, Math.floor(bytes.length * 0.61)),
    )
    await library.place(pathOf('damaged', container), withHole(bytes))
  }
  await library.place(`${day}/lying.mp4`, withHole(await readFile(fixturePath(lying.file))))
  server = await startServer({ args: library.args })
})

test.afterAll(async () => {
  await server.stop()
  await library.remove()
})

for (const container of containers) {
  test(`plays a cut-off ${container} recording up to the break`, async ({ page }) => {
    const file = library.pathOf(pathOf('cut', container))
    const seconds = await lengthOf(file)
    await page.goto(`${server.url}/p/${day}/cut-${container}`)
    const watched = await watchToEnd(page.locator('video'), { rate: 8 })
    expect(watched).toMatchObject({ reached: 'ended', stepsBack: 0, error: '' })
    expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(splitSlackSeconds)
    expect(watched.frames).toBeGreaterThan(0)
    expect(watched.audioBytes).toBeGreaterThan(0)
  })

  test(`plays a ${container} recording past damage in its middle`, async ({ page }) => {
    const seconds = await lengthOf(fixturePath(fixtures[container]))
    await page.goto(`${server.url}/p/${day}/damaged-${container}`)
    const watched = await watchToEnd(page.locator('video'), { rate: 8, stallMs: 10_000, repairMs })
    expect(watched).toMatchObject({ reached: 'ended', error: '' })
    expect(watched.longestJump).toBeLessThan(lostSeconds)
    expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(endSlackSeconds)
    expect(watched.frames).toBeGreaterThan(0)
    expect(watched.audioBytes).toBeGreaterThan(0)
  })
}

test('leaves out a segment that the browser refuses, instead of loading it for ever', async ({
  page,
}) => {
  let segmentRequests = 0
  page.on('request', (request) => {
    if (request.url().endsWith('.m4s')) segmentRequests += 1
  })
  await page.goto(`${server.url}/p/${day}/lying`)
  const watched = await watchToEnd(page.locator('video'), { rate: 8, stallMs: 10_000, repairMs })
  expect(watched).toMatchObject({ reached: 'ended', error: '' })
  expect(watched.longestJump).toBeLessThan(lying.lostSeconds)
  expect(Math.abs(watched.currentTime - lying.seconds)).toBeLessThan(endSlackSeconds)
  expect(segmentRequests).toBeLessThan(12)
})

function pathOf(kind: 'cut' | 'damaged', container: Container): string {
  const ending = fixtures[container].split('.').at(-1) ?? ''
  return `${day}/${kind}-${container}.${ending}`
}

/** The recording with two hundredths of it, from its half on, in noise. */
function withHole(bytes: Uint8Array): Uint8Array {
  const random = createRandom(20_260_131)
  const start = Math.floor(bytes.length * 0.5)
  const hurt = Uint8Array.from(bytes)
  hurt.subarray(start, start + Math.floor(bytes.length * 0.02)).forEach((_, at, hole) => {
    hole[at] = random(256)
  })
  return hurt
}

/** Seconds from the first packet to the end of the last one, as FFmpeg reads them. */
async function lengthOf(file: string): Promise<number> {
  const packets = await readReferencePackets(file)
  const shown = packets.filter(({ kind, ptsSeconds }) => kind !== 'other' && !isNaN(ptsSeconds))
  const begin = Math.min(...shown.map(({ ptsSeconds }) => ptsSeconds))
  return Math.max(...shown.map((packet) => packet.ptsSeconds + packet.durationSeconds)) - begin
}
