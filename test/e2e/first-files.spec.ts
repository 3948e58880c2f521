// What a visit of a player page loads first, and how often.
import type { Page } from '@playwright/test'
import {
  firstFrameApiPath,
  playerPagePath,
  playlistApiPath,
  sessionsPagePath,
  thumbnailApiPath,
} from '../../shared/paths.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'

const session = { streamer: fixtureStreamer, date: fixtureDate, sessionId: 'mkv-h264-aac-60s' }
const path = playerPagePath(session)

test('the playlist and its reader are requested first, and all first files once', async ({
  page,
}) => {
  const requested: string[] = []
  page.on('request', (request) => requested.push(new URL(request.url()).pathname))
  await page.goto(path)
  await playsFrom(page, 0)
  const [, playlist, script] = requested
  expect(playlist).toBe(playlistApiPath(session))
  expect(script).toMatch(/^\/assets\/first-files-/)
  // Before the player requests them.
  for (const file of ['playlist.m3u8', 'key', 'init-0.mp4', '0.m4s']) {
    expect(await initiatorsOf(page, file), file).toEqual(['link'])
  }
})

test('key, init and first segment start together, before the code of the page', async ({
  page,
}) => {
  await page.route(/\/assets\/(?:index|hls-engine)-/, (route) => route.abort())
  await page.goto(path)
  for (const file of ['key', 'init-0.mp4', '0.m4s']) {
    await expect.poll(() => initiatorsOf(page, file), file).toEqual(['link'])
  }
})

test('the poster is the image of the HTML, which no other page has', async ({ page }) => {
  const video = page.locator('video')
  // A page does not wait long for what its server has not read yet.
  await expect(async () => {
    await page.goto(path)
    expect(await video.getAttribute('poster')).toBe(firstFrameApiPath(session))
  }).toPass({ intervals: [100] })
  await playsFrom(page, 0)
  expect(await initiatorsOf(page, `${session.sessionId}?frame=first`)).toEqual(['link'])
  await page.goto(sessionsPagePath(fixtureStreamer))
  await page.locator(`a[href="${path}"]`).first().click()
  await playsFrom(page, 0)
  // None, if the click came after the first frame.
  expect([thumbnailApiPath(session), null]).toContain(await video.getAttribute('poster'))
})

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false })

  test('the page has a plain video in place of its own', async ({ page }) => {
    await page.goto(path)
    const video = page.locator('noscript video')
    await expect(video).toBeVisible()
    await expect(video).toHaveAttribute('src', playlistApiPath(session))
    await expect(page.locator('.site-stage')).toBeHidden()
  })
})

test('a link to a moment loads the segment of the moment, and not the first', async ({ page }) => {
  await page.goto(`${path}?t=40`)
  await playsFrom(page, 40)
  for (const file of ['playlist.m3u8', 'key', 'init-0.mp4']) {
    expect(await initiatorsOf(page, file), file).toEqual(['link'])
  }
  const segments = await loadsOf(page, '.m4s')
  expect(segments.every(({ url }) => !url.endsWith('/0.m4s'))).toBe(true)
  const byLink = segments.filter(({ initiator }) => initiator === 'link')
  expect(byLink).toEqual(segments.slice(0, 1))
  expect(new Set(segments.map(({ url }) => url)).size).toBe(segments.length)
  const [start] = await page.locator('video').evaluate(bufferedStarts)
  expect(start).toBeLessThanOrEqual(40)
})

for (const chosen of ['{"audio":"und.2"}', '{"quality":"audio"}']) {
  test(`nothing is preloaded for ${chosen}, which the page does not announce`, async ({ page }) => {
    await page.addInitScript((text) => localStorage.setItem('aftercast.player', text), chosen)
    await page.goto(path)
    await playsFrom(page, 0)
    expect(await initiatorsOf(page, 'key')).toEqual(['fetch'])
  })
}

async function playsFrom(page: Page, seconds: number): Promise<void> {
  const position = () =>
    page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
  await expect.poll(position).toBeGreaterThan(seconds)
}

/** Of all loads of the file from the network. */
async function initiatorsOf(page: Page, file: string): Promise<string[]> {
  return (await loadsOf(page, `/${file}`)).map(({ initiator }) => initiator)
}

/** Loads from the network of URLs with this end, in the order of their starts. */
async function loadsOf(page: Page, suffix: string) {
  const loads = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((load) => ({
      url: load.name,
      initiator: 'initiatorType' in load ? String(load.initiatorType) : '',
      bytes: 'transferSize' in load ? Number(load.transferSize) : 0,
    })),
  )
  return loads.filter(({ url, bytes }) => url.endsWith(suffix) && bytes > 0)
}

function bufferedStarts(video: Element): number[] {
  const { buffered } = video as HTMLVideoElement
  return Array.from({ length: buffered.length }, (_, at) => buffered.start(at))
}
