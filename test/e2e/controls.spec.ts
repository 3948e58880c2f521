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

/**
 * Whether screenshots with and without controls differ, twice, and nothing else has changed.
 * Controls fade in.
 */
async function controlsAreDrawn(video: Locator): Promise<boolean> {
  await video.hover()
  const screenshots: string[] = []
  for (const isOn of [true, false, true, false]) {
    await video.evaluate((element: HTMLVideoElement, on) => void (element.controls = on), isOn)
    screenshots.push((await video.screenshot()).toString('base64'))
  }
  await video.evaluate((element: HTMLVideoElement) => void (element.controls = true))
  const [withControls, without, again, withoutAgain] = screenshots
  return without === withoutAgain && withControls !== without && again !== without
}
