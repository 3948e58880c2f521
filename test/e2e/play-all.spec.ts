// Every recording plays to its end in the browser: the position advances, frames are decoded, the
// console has no errors.
import type { Locator } from '@playwright/test'
import { playlistApiPath } from '../../shared/paths.ts'
import { fetchPlaylist } from '../support/servers/hls-client.ts'
import { fixtureDate, fixtureStreamer, playableFixtures, sessionIdOf } from './library.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'

/** Of a sample; 1 is full scale. */
const audiblePeak = 0.01
/** The highest of Chromium, at which it still decodes every frame and all audio. */
const rate = 16

test.describe.configure({ mode: 'parallel' })

for (const fixture of playableFixtures) {
  test(`plays ${fixture.file} to its end`, async ({ page, siteUrl, consoleErrors }) => {
    if (fixture.audio === 'transcoded') await transcode(siteUrl, sessionIdOf(fixture))
    await page.goto(pathOf(sessionIdOf(fixture)))
    const watched = await watchToEnd(page.locator('video'), rate)
    expect(watched).toMatchObject({ reached: 'ended', stepsBack: [], error: '' })
    const slackSeconds = fixture.slackSeconds ?? 0.25
    expect(Math.abs(watched.duration - fixture.seconds)).toBeLessThan(slackSeconds)
    expect(watched.duration - watched.currentTime).toBeLessThan(0.25)
    expect(watched.frames).toBeGreaterThanOrEqual(fixture.frames)
    expect(watched.frames > 0, 'has video').toBe(fixture.frames > 0)
    expect(watched.audioBytes > 0, 'has audio').toBe(fixture.audio !== 'none')
    expect(consoleErrors.list()).toEqual([])
  })
}

for (const fixture of playableFixtures.filter(({ audio }) => audio === 'transcoded')) {
  test(`plays the transcoded audio of ${fixture.file}`, async ({ page }) => {
    await page.goto(pathOf(sessionIdOf(fixture)))
    const video = page.locator('video')
    await expect.poll(() => currentTime(video)).toBeGreaterThan(0)
    expect(await measurePeak(video)).toBeGreaterThan(audiblePeak)
  })
}

for (const id of ['ts-h264-aac-cea608', 'mkv-h264-aac-60s']) {
  test(`plays ${id} where no worker starts`, async ({ page, consoleErrors }) => {
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'Worker'))
    const demuxer = page.waitForResponse(/\/assets\/transmuxer-/)
    await page.goto(pathOf(id))
    await demuxer
    await expect.poll(() => currentTime(page.locator('video'))).toBeGreaterThan(1)
    expect(consoleErrors.list()).toEqual([])
  })
}

test('plays where the script of the worker fails', async ({ page }) => {
  await page.route(/\/assets\/hls\.worker-/, (route) => route.abort())
  await page.goto(pathOf('ts-h264-aac-cea608'))
  await expect.poll(() => currentTime(page.locator('video'))).toBeGreaterThan(1)
})

test('continues after a seek into the middle', async ({ page, consoleErrors }) => {
  await page.goto(pathOf('mp4-h264-aac51-moov-last-bframes'))
  const video = page.locator('video')
  await expect.poll(() => currentTime(video)).toBeGreaterThan(0.2)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 20))
  await expect.poll(() => currentTime(video)).toBeGreaterThan(20.5)
  expect(consoleErrors.list()).toEqual([])
})

test('starts at the beginning of the recording', async ({ page }) => {
  // A video that plays would be past its start when the test reads the position.
  await page.addInitScript(() => {
    HTMLMediaElement.prototype.play = () => Promise.resolve()
  })
  await page.goto(pathOf('ts-h264-aac-cea608'))
  const video = page.locator('video')
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.readyState))
    .toBeGreaterThanOrEqual(2)
  expect(await currentTime(video)).toBeLessThan(1)
})

/** On a busy machine, segments are 503 until their audio is transcoded. */
async function transcode(siteUrl: string, sessionId: string): Promise<void> {
  const session = { streamer: fixtureStreamer, date: fixtureDate, sessionId }
  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
  const playlist = siteUrl + playlistApiPath(session)
  await expect.poll(() => statusOf(playlist)).toBe(200)
  const { segments } = await fetchPlaylist(playlist)
  for (const { url } of segments) await expect.poll(() => statusOf(url)).toBe(200)
}

function pathOf(sessionId: string): string {
  return `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/${sessionId}`
}

function currentTime(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}

/**
 * Plays from the start until audio is audible, or to the end. Resolves with the largest sample; 1
 * is full scale.
 */
function measurePeak(video: Locator): Promise<number> {
  return video.evaluate(async (element: HTMLVideoElement, enough) => {
    const context = new AudioContext()
    const analyser = context.createAnalyser()
    const samples = new Float32Array(analyser.fftSize)
    context.createMediaElementSource(element).connect(analyser).connect(context.destination)
    await context.resume()
    element.muted = false
    element.currentTime = 0
    await element.play()
    let peak = 0
    while (peak <= enough && !element.ended) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      analyser.getFloatTimeDomainData(samples)
      for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
    }
    return peak
  }, audiblePeak)
}
