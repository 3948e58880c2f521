// The browser's own controls are drawn as soon as there is something to control, and where nothing can be played as well.
import type { Locator } from '@playwright/test'
import { patienceMs } from '../support/patience.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'

const path = `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}`

test('draws the controls over the first picture', async ({ page }) => {
  await page.goto(`${path}/mp4-h264-aac-moov-first`)
  const video = page.locator('video')
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.readyState))
    .toBeGreaterThan(1)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await expect.poll(() => controlsAreDrawn(video), { timeout: patienceMs }).toBe(true)
})

test('draws the controls where no picture comes', async ({ page }) => {
  await page.route('**/playlist.m3u8', (route) => route.abort())
  await page.goto(`${path}/mp4-h264-aac-moov-first`)
  const video = page.locator('video')
  await expect.poll(() => controlsAreDrawn(video), { timeout: patienceMs }).toBe(true)
})

/** Whether it looks otherwise than without them, time and again, and nothing else has changed meanwhile. They fade in. */
async function controlsAreDrawn(video: Locator): Promise<boolean> {
  await video.hover()
  const looks: string[] = []
  for (const isOn of [true, false, true, false]) {
    await video.evaluate((element: HTMLVideoElement, on) => void (element.controls = on), isOn)
    looks.push((await video.screenshot()).toString('base64'))
  }
  await video.evaluate((element: HTMLVideoElement) => void (element.controls = true))
  const [withThem, without, again, withoutAgain] = looks
  return without === withoutAgain && withThem !== without && again !== without
}
