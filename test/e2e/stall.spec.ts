// The spinner over the video: only while playback waits for data, and not in the visitor's way.
import type { Locator, Page } from '@playwright/test'
import { expect, mainVideo, overlay, overrideAds, playerPath, position, test } from './ad-site.ts'

/** How long playback waits before the spinner appears. */
const delayMs = 500

test('shows a spinner while playback waits, and leaves the controls usable', async ({ page }) => {
  await overrideAds(page, { zones: {} })
  // From 30 s on.
  const release = await holdSegments(page, await lastSegment(page))
  await page.goto(playerPath)
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
  await expect(page.getByRole('slider')).toBeVisible()
  await mainVideo(page).evaluate((video: HTMLVideoElement) => void (video.currentTime = 33))
  await expect.poll(() => isWaiting(page)).toBe(true)
  const spinner = page.getByRole('status').filter({ hasText: 'Loading…' })
  await expect(spinner).toHaveCount(0)
  await showAfterDelay(page, spinner)
  const box = await spinner.boundingBox()
  const target = await page.evaluate(
    ([x = 0, y = 0]) => document.elementFromPoint(x, y)?.localName,
    box ? [box.x + box.width / 2, box.y + box.height / 2] : [],
  )
  expect(target).toBe('video')
  await page.keyboard.press('k')
  await expect(spinner).toHaveCount(0)
  await page.keyboard.press('k')
  await showAfterDelay(page, spinner)
  release()
  await expect
    .poll(() => mainVideo(page).evaluate((video: HTMLVideoElement) => video.currentTime))
    .toBeGreaterThan(33)
  await expect(spinner).toHaveCount(0)
})

test('is quietly paused while the network is away, and goes on by itself', async ({ page }) => {
  await overrideAds(page, { zones: {} })
  const last = await lastSegment(page)
  let isAway = true
  await page.route(/\.(?:ts|m4s)$/, (route) =>
    isAway && route.request().url().endsWith(last)
      ? route.abort('internetdisconnected')
      : route.continue(),
  )
  await page.goto(playerPath)
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
  await expect(page.getByRole('slider')).toBeVisible()
  await mainVideo(page).evaluate((video: HTMLVideoElement) => void (video.currentTime = 33))
  const stall = page.locator('[data-stall]')
  await showAfterDelay(page, stall.getByText('Waiting for the network…'))
  await expect(stall.getByText('Loading…')).toHaveCount(0)
  isAway = false
  await page.clock.resume()
  await expect.poll(() => position(page)).toBeGreaterThan(33)
  await expect(stall).toHaveCount(0)
})

test('stays while the playlist is requested in vain, and the session starts after all', async ({
  page,
}) => {
  await overrideAds(page, { zones: {} })
  let failures = 0
  let isAway = true
  await page.route('**/playlist.m3u8', async (route) => {
    if (!isAway) return route.continue()
    await route.abort('internetdisconnected')
    failures += 1
  })
  await page.goto(playerPath)
  const stall = page.locator('[data-stall]')
  const advanceUntil = (isReached: () => Promise<boolean>) =>
    expect
      .poll(async () => {
        await page.clock.runFor(100)
        return isReached()
      })
      .toBe(true)
  await advanceUntil(async () => (await stall.count()) === 1)
  const changes = await stall.evaluateHandle((element) => {
    const found: string[] = []
    new MutationObserver((all) => found.push(...all.map(({ type }) => type))).observe(element, {
      attributeFilter: ['data-stall'],
    })
    return found
  })
  const before = failures
  await advanceUntil(async () => failures > before + 3)
  expect(await changes.jsonValue()).toEqual([])
  isAway = false
  await page.clock.resume()
  await expect.poll(() => position(page)).toBeGreaterThan(0)
  await expect(stall).toHaveCount(0)
})

test('shows no spinner over the pre-roll', async ({ page }) => {
  await overrideAds(page, { zones: { video: 'film-long.mp4' } })
  const release = await holdSegments(page, '')
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  // The controls load without a first frame.
  await page.clock.runFor(1000)
  await expect(page.getByRole('slider')).toBeVisible()
  await page.clock.runFor(delayMs)
  await expect(page.locator('[data-stall]')).toHaveCount(0)
  release()
})

/** The delay begins when the page has noticed the state of the video. */
async function showAfterDelay(page: Page, spinner: Locator): Promise<void> {
  await expect(async () => {
    await page.clock.runFor(delayMs)
    await expect(spinner).toBeVisible({ timeout: 1000 })
  }).toPass({ intervals: [100] })
}

/** Holds segments whose URL ends so, until the returned function is called. */
async function holdSegments(page: Page, end: string): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route(/\.(?:ts|m4s)$/, async (route) => {
    if (route.request().url().endsWith(end)) await released.promise
    await route.continue()
  })
  return released.resolve
}

/** The name of the last segment in the playlist of the session. */
async function lastSegment(page: Page): Promise<string> {
  const response = await page.request.get(
    `${playerPath.replace('/p/', '/api/video/')}/playlist.m3u8`,
  )
  const lines = (await response.text()).split('\n')
  return lines.findLast((line) => line !== '' && !line.startsWith('#')) ?? ''
}

function isWaiting(page: Page): Promise<boolean> {
  return mainVideo(page).evaluate(
    (video: HTMLVideoElement) => !video.paused && video.readyState < video.HAVE_FUTURE_DATA,
  )
}
