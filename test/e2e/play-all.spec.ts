// Every recording plays to its end in the browser: time moves on, pictures come, nothing is said in the console.
import type { Locator } from '@playwright/test'
import { fixtureDate, fixtureStreamer, playableFixtures, sessionIdOf } from './library.ts'
import { expect, test } from './site.ts'

const speed = 4
/** Longest time without progress that is not yet a stall on a busy machine. */
const stallMs = 5000

/** What was seen of a video that was played to its end. */
interface Watched {
  reached: 'ended' | 'stalled' | 'failed'
  currentTime: number
  duration: number
  stepsBack: number
  frames: number
  dropped: number
  error: string
}

test.describe.configure({ timeout: 90_000 })

for (const fixture of playableFixtures) {
  test(`plays ${fixture.file} to its end`, async ({ page, consoleErrors }, info) => {
    const sessionId = sessionIdOf(fixture)
    await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/${sessionId}`)
    const watched = await watchToEnd(page.locator('video'))
    const seen = `${watched.frames} frames, ${watched.dropped} dropped`
    info.annotations.push({ type: 'played', description: seen })

    expect(watched).toMatchObject({ reached: 'ended', stepsBack: 0, error: '' })
    const slackSeconds = fixture.slackSeconds ?? 0.25
    expect(Math.abs(watched.duration - fixture.seconds)).toBeLessThan(slackSeconds)
    expect(watched.duration - watched.currentTime).toBeLessThan(0.25)
    expect(watched.frames).toBeGreaterThan(0)
    // At four times the speed a screen of 60 Hz cannot show every picture; most losses beyond that mean broken decoding.
    expect(watched.dropped).toBeLessThanOrEqual(watched.frames * 0.8)
    expect(consoleErrors.list()).toEqual([])
  })
}

test('plays on after a jump into the middle', async ({ page, consoleErrors }) => {
  await page.goto(
    `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/mp4-h264-aac51-moov-last-bframes`,
  )
  const video = page.locator('video')
  await expect.poll(() => currentTime(video), { timeout: 20_000 }).toBeGreaterThan(0.2)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 20))
  await expect.poll(() => currentTime(video), { timeout: 20_000 }).toBeGreaterThan(20.5)
  expect(consoleErrors.list()).toEqual([])
})

test('begins at the start of the recording', async ({ page }) => {
  await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/ts-h264-aac-cea608`)
  const first = await page.locator('video').evaluate(
    (element: HTMLVideoElement) =>
      new Promise<number>((resolve) => {
        const look = (): void => resolve(element.currentTime)
        if (element.readyState > 0) look()
        else element.addEventListener('loadeddata', look, { once: true })
      }),
  )
  expect(first).toBeLessThan(1)
})

function currentTime(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}

/** Plays at speed and watches until the end, an error, or a stall. */
function watchToEnd(video: Locator): Promise<Watched> {
  return video.evaluate(
    (element: HTMLVideoElement, { rate, stallLimitMs }) =>
      new Promise<Watched>((resolve) => {
        let last = 0
        let movedAt = performance.now()
        let stepsBack = 0
        element.muted = true
        const timer = setInterval(() => {
          if (element.readyState > 0) element.playbackRate = rate
          if (element.paused && !element.ended) element.play().catch(() => undefined)
          if (element.currentTime < last) stepsBack += 1
          if (element.currentTime > last) movedAt = performance.now()
          last = element.currentTime
          if (element.ended) finish('ended')
          else if (element.error) finish('failed')
          else if (performance.now() - movedAt > stallLimitMs) finish('stalled')
        }, 100)
        const finish = (reached: Watched['reached']): void => {
          clearInterval(timer)
          const quality = element.getVideoPlaybackQuality()
          resolve({
            reached,
            currentTime: element.currentTime,
            duration: element.duration,
            stepsBack,
            frames: quality.totalVideoFrames,
            dropped: quality.droppedVideoFrames,
            error: element.error?.message ?? '',
          })
        }
      }),
    { rate: speed, stallLimitMs: stallMs },
  )
}
