// A server that is unreachable for longer than the buffer lasts: playback continues soon after it
// is back.
import type { Page } from '@playwright/test'
import { playerPagePath } from '../../shared/paths.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'

/** Segments after the first two: they are not loaded when playback starts. */
const laterSegments = /\/(?:[2-9]|\d\d)\.(?:m4s|ts)$/
/** After the fifth attempt of an exponential backoff, whose sixth would be 15 s later. */
const outageMs = 17_000
/** Longest time from the server's return to the next attempt. */
const retryWithinMs = 2000
const stepMs = 100

test('continues within two seconds of the return of an unreachable server', async ({ page }) => {
  let isReachable = false
  const pending = new Set<unknown>()
  let failures = 0
  let successes = 0
  page.on('requestfailed', (request) => pending.delete(request))
  page.on('requestfinished', (request) => pending.delete(request))
  await page.route(laterSegments, async (route) => {
    pending.add(route.request())
    if (isReachable) {
      successes += 1
      return route.continue()
    }
    failures += 1
    return route.abort('connectionrefused')
  })
  await page.clock.install()
  const session = { streamer: fixtureStreamer, date: fixtureDate, sessionId: 'mkv-h264-aac-60s' }
  await page.goto(playerPagePath(session))
  const video = page.locator('video')
  await video.evaluate((element: HTMLVideoElement) => {
    element.muted = true
    element.playbackRate = 4
  })
  const position = () => video.evaluate((element: HTMLVideoElement) => element.currentTime)
  const isWaiting = () =>
    video.evaluate(
      ({ currentTime, readyState }: HTMLVideoElement) =>
        currentTime > 1 && readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
    )
  await expect.poll(() => failures > 0 && isWaiting()).toBe(true)
  await pauseClock(page)
  const stoppedAt = await position()

  /** Advances the page's clock, but never while the page waits for a response. */
  const step = async (): Promise<void> => {
    await expect.poll(() => pending.size, { intervals: [5] }).toBe(0)
    await page.clock.runFor(stepMs)
  }
  for (let elapsedMs = 0; elapsedMs < outageMs; elapsedMs += stepMs) await step()
  expect(failures).toBeGreaterThan(5)
  expect(await position()).toBe(stoppedAt)
  await expect.poll(() => pending.size).toBe(0)
  await hasFailed(page)
  isReachable = true
  for (let elapsedMs = 0; elapsedMs < retryWithinMs; elapsedMs += stepMs) {
    if (successes === 0) await step()
  }
  // The page's clock is stopped, but its request may not have arrived yet.
  await expect.poll(() => successes).toBeGreaterThan(0)
  await page.clock.resume()
  await expect.poll(position).toBeGreaterThan(stoppedAt + 0.2)
})

/** Resolves once the page knows of all failures so far: they arrive in order. */
async function hasFailed(page: Page): Promise<void> {
  await page.route('**/last-failure', (route) => route.abort('connectionrefused'))
  await page.evaluate(() => fetch('/last-failure').catch(() => undefined))
}

/** Stops the page's clock half a minute from now: it fails where that time is over already. */
async function pauseClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 30_000)
}
