// Every recording plays to its end in the browser: time moves on, pictures come, nothing is said in the console.
import type { Locator } from '@playwright/test'
import { fixtureDate, fixtureStreamer, playableFixtures, sessionIdOf } from './library.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'
import { patienceMs } from '../support/patience.ts'

test.describe.configure({ mode: 'parallel' })

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
    expect(watched.frames > 0, 'has pictures').toBe(fixture.frames !== 'none')
    expect(watched.audioBytes > 0, 'has sound').toBe(fixture.audio !== 'none')
    // At four times the speed a screen of 60 Hz cannot show every picture; most losses beyond that mean broken decoding.
    const mostLost = fixture.framesPerSecond === 60 ? 0.9 : 0.8
    expect(watched.dropped).toBeLessThanOrEqual(watched.frames * mostLost)
    expect(consoleErrors.list()).toEqual([])
  })
}

for (const fixture of playableFixtures.filter(({ audio }) => audio === 'transcoded')) {
  test(`lets ${fixture.file} be heard, whose sound is made anew`, async ({ page }) => {
    const sessionId = sessionIdOf(fixture)
    await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/${sessionId}`)
    const video = page.locator('video')
    await expect.poll(() => currentTime(video), { timeout: patienceMs }).toBeGreaterThan(0)
    expect(await listenForPeak(video)).toBeGreaterThan(0.01)
  })
}

test('plays on after a jump into the middle', async ({ page, consoleErrors }) => {
  await page.goto(
    `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/mp4-h264-aac51-moov-last-bframes`,
  )
  const video = page.locator('video')
  await expect.poll(() => currentTime(video), { timeout: patienceMs }).toBeGreaterThan(0.2)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 20))
  await expect.poll(() => currentTime(video), { timeout: patienceMs }).toBeGreaterThan(20.5)
  expect(consoleErrors.list()).toEqual([])
})

test('begins at the start of the recording', async ({ page }) => {
  await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/ts-h264-aac-cea608`)
  const first = await page.locator('video').evaluate(
    (element: HTMLVideoElement) =>
      new Promise<number>((resolve) => {
        const lookup = (): void => resolve(element.currentTime)
        if (element.readyState > 0) lookup()
        else element.addEventListener('loadeddata', lookup, { once: true })
      }),
  )
  expect(first).toBeLessThan(1)
})

function currentTime(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}

/** Greatest sample that is heard within a second and a half of the beginning; 1 is full scale. */
function listenForPeak(video: Locator): Promise<number> {
  return video.evaluate(async (element: HTMLVideoElement) => {
    const context = new AudioContext()
    const analyser = context.createAnalyser()
    const samples = new Float32Array(analyser.fftSize)
    context.createMediaElementSource(element).connect(analyser).connect(context.destination)
    await context.resume()
    element.muted = false
    element.currentTime = 0
    await element.play()
    let peak = 0
    for (let lookup = 0; lookup < 30; lookup += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      analyser.getFloatTimeDomainData(samples)
      for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
    }
    return peak
  })
}
