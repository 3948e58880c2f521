// Recordings whose groups of pictures are open (x264's open-gop, broadcasts) play on after a seek.
import { mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'
import { expect, test, type Locator } from '@playwright/test'
import { makeEncodedTs } from '../support/make-encoded-ts.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { createTempLibrary, RECORDED_AT, type TempLibrary } from '../support/temp-library.ts'

const day = 'Open/2026-01-31'
/** Only the first picture is an IDR picture. `pyramid`: pictures behind the others take back what was before those. */
const recordings = {
  plain: 'open-gop=1:bframes=3:b-pyramid=none:keyint=50:scenecut=0',
  pyramid: 'open-gop=1:bframes=3:b-pyramid=normal:keyint=50:scenecut=0',
}
const seconds = 90
const soughtSeconds = 41
/** The browser tries at most so many segments that it cannot begin with. */
const skippedSeconds = 3 * 6 + 2

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(120_000)
  library = await createTempLibrary('open')
  for (const [name, params] of Object.entries(recordings)) {
    const file = library.pathOf(`${day}/${name}.ts`)
    await mkdir(path.dirname(file), { recursive: true })
    const video = { encoder: 'libx264', options: { 'x264-params': params } } as const
    await makeEncodedTs(file, { seconds, video, sounds: [{ encoder: 'aac', channels: 2 }] })
    await utimes(file, RECORDED_AT, RECORDED_AT)
  }
  server = await startServer({ args: library.args, readyWithinMs: 60_000 })
})

test.afterAll(async () => {
  await server.stop()
  await library.remove()
})

for (const name of Object.keys(recordings)) {
  test(`plays on after a seek: ${name}`, async ({ page }) => {
    await page.goto(`${server.url}/p/${day}/${name}`)
    const video = page.locator('video')
    await video.evaluate((element: HTMLVideoElement) => {
      element.muted = true
      void element.play()
    })
    await expect.poll(() => position(video), { timeout: 20_000 }).toBeGreaterThan(0.5)
    await video.evaluate((element: HTMLVideoElement, to) => {
      element.currentTime = to
    }, soughtSeconds)
    const pictures = () =>
      video.evaluate((element: HTMLVideoElement, to) => {
        const { totalVideoFrames } = element.getVideoPlaybackQuality()
        return !element.seeking && element.currentTime > to + 1 ? totalVideoFrames : 0
      }, soughtSeconds)
    await expect.poll(pictures, { timeout: 20_000 }).toBeGreaterThan(20)
    expect(await position(video)).toBeLessThan(soughtSeconds + skippedSeconds + 20)
  })
}

function position(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}
