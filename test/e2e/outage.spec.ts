// A server that is away for longer than what was loaded lasts: playback goes on by itself, soon after it is back.
import { playerPagePath } from '../../shared/paths.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'
import { patienceMs } from '../support/patience.ts'

/** Segments behind the first two: they are not loaded when playback begins. */
const LATER_SEGMENTS = /\/(?:[2-9]|\d\d)\.(?:m4s|ts)$/
/** Behind the fifth try of a pause that doubles, whose sixth would come 15 s later. */
const AWAY_MS = 17_000
/** The promise is 2 s; the rest is for a machine that does much else besides. */
const BACK_WITHIN_MS = 5000

test('plays on within seconds of the return of a server that was away', async ({ page }) => {
  test.setTimeout(90_000)
  let isAway = true
  const failures: number[] = []
  await page.route(LATER_SEGMENTS, async (route) => {
    if (!isAway) return route.continue()
    failures.push(Date.now())
    return route.abort('connectionrefused')
  })
  const session = { streamer: fixtureStreamer, date: fixtureDate, sessionId: 'mkv-h264-aac-60s' }
  await page.goto(playerPagePath(session))
  const position = () =>
    page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
  await page.locator('video').evaluate((video: HTMLVideoElement) => {
    video.muted = true
    video.playbackRate = 4
  })
  await expect.poll(() => failures.length).toBeGreaterThan(0)
  await expect
    .poll(() => Date.now() - (failures[0] ?? NaN), { timeout: patienceMs })
    .toBeGreaterThan(AWAY_MS)
  const stoodAt = await position()
  expect(await position()).toBe(stoodAt)
  isAway = false
  await expect
    .poll(position, { timeout: BACK_WITHIN_MS, intervals: [100] })
    .toBeGreaterThan(stoodAt + 0.2)
})
