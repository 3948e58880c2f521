// Growing recordings play in the browser, continue as they grow, and end when they are finished,
// without a reload.
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { settleSeconds } from '../support/growing-file.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, fixturePath } from '../support/temp-library.ts'
import { growingSessions, segments, type GrowingSession } from './growing-sessions.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'

/** Faster than the recordings grow: each is played to where it ends so far, and waits there. */
const rate = 8
/** More than any gap between two parts, less than any jump to the live edge. */
const jumpSeconds = 2

let day: string
let server: StartedServer

test.beforeAll(async () => {
  const library = await createTempLibrary('growing')
  day = library.pathOf('Live/2026-01-31')
  await mkdir(day, { recursive: true })
  server = await startServer({
    args: library.args,
    settings: { library: { settleSeconds } },
    environment: { AFTERCAST_WORKERS: '2' },
  })
})

test('continues while recordings grow, and to their end', async ({ context }) => {
  await Promise.all(
    growingSessions.map(async (session) => {
      const page = await context.newPage()
      const played = Promise.withResolvers<void>()
      await Promise.all([
        session.write(day, played.promise),
        playWhileGrowing(page, session, () => played.resolve()).catch((error: unknown) => {
          played.reject(error)
          throw error
        }),
      ])
      await page.close()
    }),
  )
})

test('waits at the live edge while the playlist is loaded again', async ({ page }) => {
  const still = Promise.withResolvers<void>()
  const session = segments('waiting')
  const written = session.write(day, still.promise)
  await expect.poll(() => statusOf('waiting')).toBe(200)
  await page.goto(`${server.url}/p/Live/2026-01-31/waiting`)
  const video = page.locator('video')
  await expect.poll(() => currentTime(page)).toBeGreaterThan(0.2)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 11))
  await expect.poll(() => isAtEdge(page)).toBe(true)
  await runAhead(video)
  const aheadSeconds = await currentTime(page)
  expect(aheadSeconds).toBeGreaterThan(12.1)
  for (let loads = 0; loads < 2; loads += 1) {
    await page.waitForResponse((response) => response.url().endsWith('/playlist.m3u8'))
  }
  expect(await video.evaluate(() => 'movedTo' in window)).toBe(false)
  const waitedSeconds = await currentTime(page)
  expect(waitedSeconds).toBeGreaterThanOrEqual(aheadSeconds)
  still.resolve()
  await written
  await expect.poll(() => currentTime(page)).toBeGreaterThan(waitedSeconds)
})

test('starts soon after there is a segment, on a page opened before that', async ({ page }) => {
  const bytes = await readFile(fixturePath('ts-h264-aac-clean-hls-concat.ts'))
  const file = path.join(day, 'young.ts')
  await writeFile(file, bytes.subarray(0, 10_000))
  await expect.poll(() => statusOf('young')).toBe(503)
  const statuses: number[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('/playlist.m3u8')) statuses.push(response.status())
  })
  await page.goto(`${server.url}/p/Live/2026-01-31/young`)
  let writtenBytes = 10_000
  for (let seen = 0; seen <= 3; seen = statuses.length) {
    // Still before the end of the first GOP, but growing.
    await appendFile(file, bytes.subarray(writtenBytes, (writtenBytes += 1000)))
    await expect.poll(() => statuses.length).toBeGreaterThan(seen)
  }
  expect(new Set(statuses)).toEqual(new Set([503]))
  await appendFile(file, bytes.subarray(writtenBytes))
  await expect.poll(() => currentTime(page)).toBeGreaterThan(0.2)
})

test('jumps to the live edge, where the speed returns to normal', async ({ page }) => {
  const bytes = await readFile(fixturePath('mkv-h264-aac-60s.mkv'))
  await writeFile(path.join(day, 'late.mkv'), bytes.subarray(0, Math.floor(bytes.length * 0.9)))
  await expect.poll(() => statusOf('late')).toBe(200)
  await page.goto(`${server.url}/p/Live/2026-01-31/late`)
  const jump = page.getByRole('button', { name: 'Jump to live' })
  const moments = page.getByRole('region', { name: 'Moments' })
  await expect(moments).toContainText(/Live −0:00:\d\d/)
  await jump.click()
  await expect.poll(() => currentTime(page)).toBeGreaterThan(30)
  await expect(jump).toHaveCount(0)
  await expect(moments).toContainText(/Live\d/)
  const video = page.locator('video')
  await video.evaluate((element: HTMLVideoElement) => void (element.playbackRate = 2))
  await expect(video).toHaveJSProperty('playbackRate', 1)
})

/** The clock of a browser that waits at a high rate may be after the last segment. */
async function runAhead(video: Locator): Promise<void> {
  await video.evaluate((element: HTMLVideoElement) => {
    const clock = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'currentTime')
    Object.defineProperty(element, 'currentTime', {
      get: () => Number(clock?.get?.call(element)) + 2,
      set(movedTo: number) {
        Object.assign(window, { movedTo })
      },
    })
  })
}

async function statusOf(session: string): Promise<number> {
  const { status } = await fetch(`${server.url}/api/video/Live/2026-01-31/${session}/playlist.m3u8`)
  return status
}

function currentTime(page: Page): Promise<number> {
  return page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
}

/** Plays the session from its first part to its end; calls `onEdge` when it waits for more. */
async function playWhileGrowing(
  page: Page,
  { name, seconds }: GrowingSession,
  onEdge: () => void,
): Promise<void> {
  await expect.poll(() => statusOf(name), { message: `${name} is listed` }).toBe(200)
  await page.goto(`${server.url}/p/Live/2026-01-31/${name}`)
  await page.evaluate(() => Object.assign(window, { wasNotReloaded: true }))
  const video = page.locator('video')
  const watching = watchToEnd(video, rate)
  await expect.poll(() => isAtEdge(page), { message: `${name} waits at its end` }).toBe(true)
  const firstSeconds = await video.evaluate(({ duration }: HTMLVideoElement) => duration)
  onEdge()
  const watched = await watching
  expect(watched, name).toMatchObject({ reached: 'ended', stepsBack: [], error: '' })
  expect(watched.longestJump, name).toBeLessThan(jumpSeconds)
  expect(Math.abs(watched.currentTime - seconds), name).toBeLessThan(0.5)
  expect(watched.duration - firstSeconds, `${name} grows`).toBeGreaterThan(1)
  expect(await page.evaluate(() => 'wasNotReloaded' in window), name).toBe(true)
}

/** Whether all that is listed has been played. */
function isAtEdge(page: Page): Promise<boolean> {
  return page
    .locator('video')
    .evaluate(
      ({ currentTime, readyState }: HTMLVideoElement) =>
        currentTime > 1 && readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
    )
}
