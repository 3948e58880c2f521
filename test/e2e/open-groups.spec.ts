// Recordings with open GOPs (x264's open-gop, broadcasts) continue after a seek.
import { mkdir, utimes } from 'node:fs/promises'
import path from 'node:path'
import type { Locator } from '@playwright/test'
import { makeEncodedTs } from '../support/make/make-encoded-ts.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, RECORDED_AT, type TempLibrary } from '../support/temp-library.ts'
import { patienceMs } from '../support/patience.ts'
import { expect, test } from './site.ts'
import { position } from './video-position.ts'

const day = 'Open/2026-01-31'
/**
 * Only the first frame is an IDR frame. `pyramid`: frames after each further I frame refer to
 * frames before it, and Chromium's decoder fails when it starts there; playback continues at the
 * nearest position that it can decode.
 */
const recordings = {
  plain: 'open-gop=1:bframes=3:b-pyramid=none:keyint=50:scenecut=0',
  pyramid: 'open-gop=1:bframes=3:b-pyramid=normal:keyint=50:scenecut=0',
}
const seconds = 90
const targetSeconds = 41

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
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

for (const name of Object.keys(recordings)) {
  test(`continues after a seek: ${name}`, async ({ page }) => {
    await page.goto(`${server.url}/p/${day}/${name}`)
    const video = page.locator('video')
    await video.evaluate((element: HTMLVideoElement) => {
      element.muted = true
      void element.play()
    })
    await expect.poll(() => position(video)).toBeGreaterThan(0.5)
    await video.evaluate((element: HTMLVideoElement, to) => {
      element.currentTime = to
    }, targetSeconds)
    const played = await playsFor(video, 3)
    expect(played).toMatchObject({ error: '' })
    expect(played.frames).toBeGreaterThan(20)
    if (name === 'plain') expect(played.startSeconds).toBeGreaterThanOrEqual(targetSeconds)
  })
}

/** Waits until it has played so long without interruption. */
function playsFor(video: Locator, wantedSeconds: number): Promise<Played> {
  return video.evaluate(
    (element: HTMLVideoElement, { wanted, limitMs }) =>
      new Promise<Played>((resolve) => {
        const from = { seconds: element.currentTime, frames: 0, atMs: performance.now() }
        const startMs = from.atMs
        const timer = setInterval(() => {
          const { currentTime, seeking, error } = element
          const frames = element.getVideoPlaybackQuality().totalVideoFrames
          const nowMs = performance.now()
          const played = currentTime - from.seconds
          // The position follows the clock, or this is a new start.
          if (seeking || error || played < 0 || played > (nowMs - from.atMs) / 1000 + 0.5) {
            Object.assign(from, { seconds: currentTime, frames, atMs: nowMs })
          } else if (played >= wanted || nowMs - startMs > limitMs) {
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
    { wanted: wantedSeconds, limitMs: patienceMs },
  )
}

interface Played {
  /** Where playback without interruption starts. */
  startSeconds: number
  /** Frames since then. */
  frames: number
  error: string
}
