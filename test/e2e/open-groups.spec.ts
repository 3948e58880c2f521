// Recordings whose groups of pictures are open (x264's open-gop, broadcasts) play on after a seek.
import { mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'
import { expect, test, type Locator } from '@playwright/test'
import { makeEncodedTs } from '../support/make-encoded-ts.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { createTempLibrary, RECORDED_AT, type TempLibrary } from '../support/temp-library.ts'
import { patienceMs } from '../support/patience.ts'

const day = 'Open/2026-01-31'
/**
 * Only the first picture is an IDR picture. `pyramid`: pictures behind each further I picture name some before it, at which
 * Chromium's decoder fails when it begins there; the visitor ends up at the nearest place where it can.
 */
const recordings = {
  plain: 'open-gop=1:bframes=3:b-pyramid=none:keyint=50:scenecut=0',
  pyramid: 'open-gop=1:bframes=3:b-pyramid=normal:keyint=50:scenecut=0',
}
const seconds = 90
const soughtSeconds = 41

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(120_000)
  library = await createTempLibrary('open')
  for (const [name, params] of Object.entries(recordings)) {
    const file = library.pathOf(`${day}/${name}.ts`)
    await mkdir(path.dirname(file), { recursive: true })
    const video = { encoder: 'libx264', options: { 'x264-params': params } } as const
    await makeEncodedTs(file, { seconds, video, audioTracks: [{ encoder: 'aac', channels: 2 }] })
    await utimes(file, RECORDED_AT, RECORDED_AT)
  }
  server = await startServer({ args: library.args })
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
    await expect.poll(() => position(video), { timeout: patienceMs }).toBeGreaterThan(0.5)
    await video.evaluate((element: HTMLVideoElement, to) => {
      element.currentTime = to
    }, soughtSeconds)
    const played = await playsFor(video, 3)
    expect(played).toMatchObject({ error: '' })
    expect(played.frames).toBeGreaterThan(20)
    if (name === 'plain') expect(played.startSeconds).toBeGreaterThanOrEqual(soughtSeconds)
  })
}

/** Waits until it has played for so long without a stop, and tells from where on, and how many pictures came. */
function playsFor(video: Locator, wantedSeconds: number): Promise<Played> {
  return video.evaluate(
    (element: HTMLVideoElement, wanted) =>
      new Promise<Played>((resolve) => {
        const from = { seconds: element.currentTime, frames: 0, atMs: performance.now() }
        const beganMs = from.atMs
        const timer = setInterval(() => {
          const { currentTime, seeking, error } = element
          const frames = element.getVideoPlaybackQuality().totalVideoFrames
          const nowMs = performance.now()
          const played = currentTime - from.seconds
          // The position goes with the clock, or playback began anew.
          if (seeking || error || played < 0 || played > (nowMs - from.atMs) / 1000 + 0.5) {
            Object.assign(from, { seconds: currentTime, frames, atMs: nowMs })
          } else if (played >= wanted || nowMs - beganMs > 20_000) {
            clearInterval(timer)
            const isLate = played < wanted
            resolve({
              startSeconds: from.seconds,
              frames: frames - from.frames,
              error: isLate ? 'does not play' : '',
            })
          }
        }, 50)
      }),
    wantedSeconds,
  )
}

interface Played {
  startSeconds: number
  frames: number
  error: string
}

function position(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}
