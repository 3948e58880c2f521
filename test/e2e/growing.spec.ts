// Recordings that are still being written play in the browser, go on as they grow, and end when they are finished: no reload.
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test, type Page } from '@playwright/test'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { fixturePath } from '../support/temp-library.ts'
import { growingSessions, type GrowingSession } from './growing-sessions.ts'
import { watchToEnd } from './watch-to-end.ts'
import { patienceMs } from '../support/patience.ts'

const settleSeconds = 4
/** Faster than they are written, so that all are played up to where they end for now, and wait there. */
const rate = 3
/** Until a recording has settled and the player has asked again, nothing moves. */
const stallMs = 30_000
/** More than any hole between two parts; less than any way to the live edge. */
const jumpSeconds = 2

let folder: string
let day: string
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(120_000)
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-growing-'))
  const config = path.join(folder, 'aftercast.config.json')
  await writeFile(config, JSON.stringify({ library: { settleSeconds } }))
  const library = path.join(folder, 'library')
  day = path.join(library, 'Live/2026-01-31')
  await mkdir(day, { recursive: true })
  const args = [library, '--data', path.join(folder, 'data'), '--config', config]
  server = await startServer({ args })
})

test.afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

test('plays on while recordings grow, and to their end', async ({ context }) => {
  test.setTimeout(180_000)
  await Promise.all(
    growingSessions.map(async (session) => {
      const page = await context.newPage()
      const begun = begin(page, session)
      await Promise.all([session.write(day, begun), watchToItsEnd(page, { session, begun })])
      await page.close()
    }),
  )
})

test('begins soon after there is something to play, where its page was opened before', async ({
  page,
}) => {
  test.setTimeout(60_000)
  const bytes = await readFile(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  const file = path.join(day, 'young.ts')
  await writeFile(file, bytes.subarray(0, 10_000))
  await expect.poll(() => statusOf('young'), { timeout: patienceMs }).toBe(503)
  const answers: number[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('/playlist.m3u8')) answers.push(response.status())
  })
  await page.goto(`${server.url}/p/Live/2026-01-31/young`)
  let writtenBytes = 10_000
  await expect(async () => {
    // Still far from the end of the first group of pictures, but being written.
    await appendFile(file, bytes.subarray(writtenBytes, (writtenBytes += 1000)))
    expect(answers.length).toBeGreaterThan(3)
  }).toPass({ intervals: [500], timeout: patienceMs })
  expect(new Set(answers)).toEqual(new Set([503]))
  await appendFile(file, bytes.subarray(writtenBytes))
  await expect.poll(() => currentTime(page), { timeout: patienceMs }).toBeGreaterThan(0.2)
})

async function statusOf(session: string): Promise<number> {
  const { status } = await fetch(`${server.url}/api/video/Live/2026-01-31/${session}/playlist.m3u8`)
  return status
}

function currentTime(page: Page): Promise<number> {
  return page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
}

/** Opens its page, and answers how long it is when it has begun to play. */
async function begin(page: Page, { name }: GrowingSession): Promise<number> {
  await expect
    .poll(() => statusOf(name), { timeout: patienceMs, message: `${name} is there` })
    .toBe(200)
  await page.goto(`${server.url}/p/Live/2026-01-31/${name}`)
  await page.evaluate(() => Object.assign(window, { wasNotReloaded: true }))
  await expect
    .poll(() => currentTime(page), { timeout: patienceMs, message: `${name} begins` })
    .toBeGreaterThan(0.2)
  return page.locator('video').evaluate((video: HTMLVideoElement) => video.duration)
}

interface Growth {
  session: GrowingSession
  /** Its length when it begins to play. */
  begun: Promise<number>
}

/** Says what went wrong on the way. */
async function watchToItsEnd(page: Page, { session, begun }: Growth): Promise<void> {
  const { name, seconds } = session
  const first = await begun
  const watched = await watchToEnd(page.locator('video'), { rate, stallMs })
  expect(watched, name).toMatchObject({ reached: 'ended', stepsBack: 0, error: '' })
  expect(watched.longestJump, name).toBeLessThan(jumpSeconds)
  expect(Math.abs(watched.currentTime - seconds), name).toBeLessThan(0.5)
  expect(watched.duration - first, `${name} grows`).toBeGreaterThan(1)
  expect(await page.evaluate(() => 'wasNotReloaded' in window), name).toBe(true)
}
