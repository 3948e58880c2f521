// The menu Quality: what is chosen plays from the same position, and is remembered.
import type { Locator, Page } from '@playwright/test'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { removeDecoder } from './missing-codec.ts'
import { playerPagePath, playlistApiPath } from '../../shared/paths.ts'
import { createRandom } from '../support/make/corrupt.ts'
import { fetchPlaylist, fetchSegment } from '../support/servers/hls-client.ts'
import { expect, test } from './site.ts'
import { position } from './video-position.ts'

const sessionOf = (sessionId: string) => {
  return { streamer: fixtureStreamer, date: fixtureDate, sessionId }
}
const pathOf = (sessionId: string) => playerPagePath(sessionOf(sessionId))
/** MPEG-TS of 36 s with a key frame every second. */
const packets = pathOf('ts-h264-aac-clean-hls-concat')
/** MP4 of 5 s with more than 360 rows. */
const largeSession = sessionOf('mp4-h264-aac-moov-first')
const large = playerPagePath(largeSession)
/** Fragmented MP4 of 15 s with B-frames. */
const reordered = pathOf('fmp4-h264-aac-18frag')
/** Of each of three recordings. */
const SWITCHES = 20
/** The shortest one of these recordings. */
const FRAME_SECONDS = 1 / 60
/** A key frame every ten seconds. */
const sparse = pathOf('mp4-h264-two-video-two-audio-movtext')

test.describe.configure({ mode: 'parallel' })

test('plays sound only with frames of the storyboard, and in later visits', async ({
  page,
  consoleErrors,
}) => {
  const segments = recordSegments(page)
  const video = await open(page, packets)
  await pauseAt(video, 12)
  segments.length = 0
  await choose(page, 'Sound only')
  await expect.poll(() => segments.join()).toMatch(/(?:^|,)a0-/)
  await expect(video).toHaveJSProperty('videoWidth', 0)
  await expect.poll(() => position(video)).toBe(12)
  await expect(video).toHaveJSProperty('paused', true)
  const picture = page.locator('[data-storyboard-picture]')
  await expect(picture).toHaveCount(1)
  expect(await video.evaluate((element: HTMLVideoElement) => element.poster)).toMatch(/thumbnail/)
  await page.keyboard.press('k')
  await expect.poll(() => position(video)).toBeGreaterThan(13)

  segments.length = 0
  await page.reload()
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  expect(new Set(segments.map((name) => name.slice(0, 3)))).toEqual(new Set(['a0-']))
  await expect(picture).toHaveCount(1)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 35))
  await expect(video).toHaveJSProperty('ended', true)
  await choose(page, 'Original')
  await expect(video).toHaveJSProperty('videoWidth', 320)
  await expect(picture).toHaveCount(0)
  expect(consoleErrors.list()).toEqual([])
})

test('plays key frames alone, and the original again, from the same position', async ({
  page,
  consoleErrors,
}) => {
  const segments = recordSegments(page)
  const video = await open(page, packets)
  await pauseAt(video, 12)
  segments.length = 0
  await choose(page, 'Data saver', /^\d+\skbit\/s, a picture every 1\ss$/)
  await expect.poll(() => segments.join()).toMatch(/(?:^|,)s0-/)
  await expect.poll(() => position(video)).toBe(12)
  await page.keyboard.press('k')
  await expect.poll(() => position(video)).toBeGreaterThan(14)
  const quality = await video.evaluate((element: HTMLVideoElement) => {
    element.pause()
    return element.getVideoPlaybackQuality().totalVideoFrames
  })
  expect(quality).toBeGreaterThan(0)
  const before = await position(video)
  segments.length = 0
  await choose(page, 'Original')
  await expect.poll(() => segments.at(-1)).toMatch(/^\d/)
  await expect.poll(() => position(video)).toBe(before)
  await page.keyboard.press('k')
  await expect.poll(() => position(video)).toBeGreaterThan(before)
  expect(consoleErrors.list()).toEqual([])
})

test('plays the original of a session without the remembered quality', async ({ page }) => {
  const video = await open(page, packets)
  await choose(page, 'Data saver')
  const segments = recordSegments(page, sparse)
  await page.goto(sparse)
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  expect(segments[0]).toMatch(/^\d/)
  await openMenu(page)
  const items = page.getByRole('menuitemradio')
  await expect(items.filter({ hasText: 'Original' })).toHaveAttribute('aria-checked', 'true')
  await expect(items).toHaveCount(2)
  // It is still remembered.
  const others = recordSegments(page, packets)
  await page.goto(packets)
  await expect.poll(() => others[0]).toMatch(/^s0-/)
})

test('plays the picture of the next session if it has no sound alone', async ({ page }) => {
  const video = await open(page, sparse)
  await choose(page, 'Sound only')
  const picture = page.locator('[data-storyboard-picture]')
  await expect(picture).toHaveCount(1)
  await page.getByRole('link', { name: 'Next session' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('mp4-h264-vfr')
  await expect(video).not.toHaveJSProperty('videoWidth', 0)
  // The picture would be a part of the same sheet.
  await expect(page.getByRole('slider').locator('img').first()).toBeVisible()
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  await expect(picture).toHaveCount(0)
})

test('keeps the position if another quality is chosen before the last one has loaded', async ({
  page,
}) => {
  const video = await open(page, packets)
  await pauseAt(video, 12)
  await page.route(/[?]quality=audio$/, () => undefined)
  const requested = page.waitForRequest(/[?]quality=audio$/)
  await choose(page, 'Sound only')
  await requested
  await expect(video).toHaveJSProperty('readyState', 0)
  await choose(page, 'Original')
  await expect(video).toHaveJSProperty('videoWidth', 320)
  await expect.poll(() => position(video)).toBeCloseTo(12, 1)
})

test('offers the sound of a video whose codec the browser lacks', async ({ page }) => {
  await removeDecoder(page)
  const segments = recordSegments(page)
  await page.goto(`${packets}?t=20`)
  await expect(page.getByText('cannot play H.264')).toBeVisible()
  await expect(page.getByRole('slider')).toHaveAttribute('aria-valuenow', '20')
  await page.getByRole('button', { name: 'Sound only' }).click()
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(20)
  expect(segments.at(-1)).toMatch(/^a0-/)
  await expect(page.getByText('cannot play H.264')).toHaveCount(0)
  await expect(page.locator('[data-storyboard-picture]')).toHaveCount(1)
})

test.describe('after a pre-roll', () => {
  test.use({ siteUrl: async ({ houseSiteUrl }, provide) => provide(houseSiteUrl) })

  test('starts no second one', async ({ page }) => {
    await page.goto(packets)
    const preroll = page.locator('[data-preroll]')
    await preroll.getByRole('button', { name: /^Close/ }).click()
    await expect(preroll).toHaveCount(0)
    const video = page.locator('[data-player] video')
    await expect.poll(() => position(video)).toBeGreaterThan(0)
    const ads: string[] = []
    page.on('request', (request) => request.url().includes('/promo/') && ads.push(request.url()))
    await choose(page, 'Sound only')
    await expect(video).toHaveJSProperty('videoWidth', 0)
    const before = await position(video)
    await expect.poll(() => position(video)).toBeGreaterThan(before)
    await expect(preroll).toHaveCount(0)
    expect(ads.filter((url) => /vast|film/.test(url))).toEqual([])
  })
})

test.describe('with a height that is encoded', () => {
  test.use({ siteUrl: async ({ encodingSiteUrl }, provide) => provide(encodingSiteUrl) })

  test('plays it where the browser lacks the codec of the original', async ({ page }) => {
    await removeDecoder(page, 'vp09')
    const segments = recordSegments(page)
    await page.goto(pathOf('webm-vp9-opus51'))
    const video = page.locator('video')
    await expect.poll(() => position(video)).toBeGreaterThan(0)
    await expect(page.getByText('cannot play VP9')).toContainText('Playing 360p.')
    expect(segments.at(-1)).toMatch(/^v360-0-/)
    await expect(video).toHaveJSProperty('videoHeight', 360)
    // It is not the visitor's choice for other sessions.
    const others = recordSegments(page, packets)
    await page.goto(packets)
    await expect.poll(() => others[0]).toMatch(/^\d/)
  })

  test('plays it from the same position, and in later visits', async ({ page, consoleErrors }) => {
    const segments = recordSegments(page)
    const video = await open(page, large)
    await pauseAt(video, 3)
    await choose(page, '360p')
    await expect.poll(() => segments.at(-1)).toMatch(/^v360-0-/)
    await expect(video).toHaveJSProperty('videoHeight', 360)
    await expect.poll(() => position(video)).toBe(3)
    segments.length = 0
    await page.reload()
    await expect.poll(() => position(video)).toBeGreaterThan(0)
    expect(segments[0]).toMatch(/^v360-0-/)
    expect(consoleErrors.list()).toEqual([])
  })

  test('keeps the position within a frame, wherever another quality is chosen', async ({
    page,
    siteUrl,
    consoleErrors,
  }) => {
    // The player would return to the original if an encode took too long.
    const { segments } = await fetchPlaylist(
      `${siteUrl}${playlistApiPath(largeSession)}?quality=360p`,
    )
    for (const segment of segments) await fetchSegment(segment)
    const random = createRandom(28)
    let chosen = 'Original'
    for (const path of [packets, reordered, large]) {
      const heights = path === large ? ['360p'] : []
      const labels = ['Original', ...heights, 'Data saver', 'Sound only']
      const video = await open(page, path)
      const endMs = 1000 * (await video.evaluate((element: HTMLVideoElement) => element.duration))
      for (let time = 0; time < SWITCHES; time += 1) {
        const others = labels.filter((label) => label !== chosen)
        chosen = others[random(others.length)] ?? ''
        const before = await seekPaused(video, (100 + random(endMs - 300)) / 1000)
        const changed = video.evaluate(waitForChange)
        await choose(page, chosen)
        const { seconds, height } = await changed
        const what = `${path}, ${chosen} at ${before} s`
        expect(Math.abs(seconds - before), what).toBeLessThanOrEqual(FRAME_SECONDS)
        expect(height > 0, what).toBe(chosen !== 'Sound only')
        expect(height === 360, what).toBe(chosen === '360p')
      }
    }
    expect(consoleErrors.list()).toEqual([])
  })

  test('returns to the original while the server is too busy', async ({ page }) => {
    const busy = { status: 503, headers: { 'retry-after': '1' } }
    await page.route(/\/v360-0-\d+\.m4s$/, async (route) => route.fulfill(busy))
    const segments = recordSegments(page)
    await open(page, large)
    await choose(page, '360p')
    await expect.poll(() => segments.at(-1)).toMatch(/^v360-0-/)
    // It is visible for some seconds only.
    await expect(page.getByText('too busy for this quality')).toHaveCount(1)
    await expect.poll(() => segments.at(-1)).toMatch(/^\d/)
    await openMenu(page)
    const original = page.getByRole('menuitemradio', { name: 'Original' })
    await expect(original).toHaveAttribute('aria-checked', 'true')
  })
})

async function open(page: Page, path: string): Promise<Locator> {
  await page.goto(path)
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  return video
}

/** Pauses, and returns the position that the element has there. */
async function seekPaused(video: Locator, seconds: number): Promise<number> {
  return video.evaluate(async (element: HTMLVideoElement, at) => {
    element.pause()
    const seeked = new Promise((resolve) => {
      element.addEventListener('seeked', resolve, { once: true })
    })
    element.currentTime = at
    await seeked
    return element.currentTime
  }, seconds)
}

/** The position once other media shows a frame, or has audio, at a position that was set. */
async function waitForChange(element: HTMLVideoElement) {
  await new Promise((resolve) => element.addEventListener('emptied', resolve, { once: true }))
  const isReady = (): boolean => {
    const { currentTime, readyState, seeking } = element
    return currentTime > 0 && readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && !seeking
  }
  while (!isReady()) await new Promise(requestAnimationFrame)
  return { seconds: element.currentTime, height: element.videoHeight }
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Quality' }).click()
}

async function choose(page: Page, label: string, description?: RegExp): Promise<void> {
  await openMenu(page)
  const item = page.getByRole('menuitemradio', { name: label, exact: true })
  if (description) await expect(item).toHaveAccessibleDescription(description)
  await item.click()
}

async function pauseAt(video: Locator, seconds: number): Promise<void> {
  await video.evaluate((element: HTMLVideoElement, at) => {
    element.pause()
    element.currentTime = at
  }, seconds)
}

/** The file names of the segments that are requested from now on, of any or of one session. */
function recordSegments(page: Page, path = '/'): string[] {
  const names: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    const name = /[^/]+\.(?:m4s|ts)$/.exec(pathname)?.[0]
    if (name !== undefined && pathname.includes(path.replace('/p/', '/'))) names.push(name)
  })
  return names
}
