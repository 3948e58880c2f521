// The browser's own controls are drawn with the first frame, and also where nothing can be played.
import type { Locator } from '@playwright/test'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'

const path = `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}`

test('draws the controls over the first frame', async ({ page }) => {
  await page.goto(`${path}/mp4-h264-aac-moov-first`)
  const video = page.locator('video')
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.readyState))
    .toBeGreaterThan(1)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await expect.poll(() => controlsAreDrawn(video)).toBe(true)
})

test('draws the controls where no frame arrives', async ({ page }) => {
  await page.route('**/playlist.m3u8', (route) => route.abort())
  await page.goto(`${path}/mp4-h264-aac-moov-first`)
  const video = page.locator('video')
  await expect.poll(() => controlsAreDrawn(video)).toBe(true)
})

/** Whether screenshots with and without controls differ, twice, and nothing else has changed. */
async function controlsAreDrawn(video: Locator): Promise<boolean> {
  await video.hover()
  const without = await screenshotWithout(video)
  for (let time = 1; time <= 2; time += 1) {
    await showControls(video, true)
    const withControls = await screenshot(video)
    if (withControls === without || (await screenshotWithout(video)) !== without) return false
  }
  await showControls(video, true)
  return true
}

/** Controls fade out, and their loading indicator turns to the end of its circle. */
async function screenshotWithout(video: Locator): Promise<string> {
  await showControls(video, false)
  for (let last = await screenshot(video); ;) {
    const next = await screenshot(video)
    if (next === last) return next
    last = next
  }
}

function showControls(video: Locator, on: boolean): Promise<void> {
  return video.evaluate((element: HTMLVideoElement, on) => void (element.controls = on), on)
}

async function screenshot(video: Locator): Promise<string> {
  return (await video.screenshot()).toString('base64')
}
