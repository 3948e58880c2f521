// The embedded player, in a page of another site.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrameLocator, Page } from '@playwright/test'
import { embedPagePath, playerPagePath } from '../../shared/paths.ts'
import { expectNoViolation } from './expect-no-violation.ts'
import { removeDecoder } from './missing-codec.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { slowFilms } from './page-clock.ts'
import { expect, test } from './site.ts'

const session = {
  streamer: fixtureStreamer,
  date: fixtureDate,
  sessionId: 'mkv-h264-aac-60s',
}
const path = embedPagePath(session)

/** Opens a page of another origin with the player in a frame. */
async function frameAt(page: Page, url: string): Promise<FrameLocator> {
  const html = `<!doctype html><h1>Elsewhere</h1><iframe src="${url}" width="640" height="360"
    allow="autoplay; fullscreen"></iframe>`
  const other = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve))
  page.once('close', () => void other.close())
  const { port } = other.address() as AddressInfo
  // Another site than 127.0.0.1.
  await page.goto(`http://localhost:${port}/`)
  return page.frameLocator('iframe')
}

/** Whether its centre is in sight. */
function isOnTop(element: Element): boolean {
  const { x, y, width, height } = element.getBoundingClientRect()
  return document.elementFromPoint(x + width / 2, y + height / 2) === element
}

const positionOf = async (frame: FrameLocator): Promise<number> =>
  frame.locator('#stage > video').evaluate((video: HTMLVideoElement) => video.currentTime)

const isPausedIn = async (frame: FrameLocator): Promise<boolean> =>
  frame.locator('#stage > video').evaluate((video: HTMLVideoElement) => video.paused)

test('plays from its start, and nothing but the player is in the frame', async ({
  page,
  siteUrl,
  consoleErrors,
}) => {
  const counted = page.waitForResponse(`${siteUrl}/api/activity`)
  const frame = await frameAt(page, siteUrl + path)
  await expect.poll(async () => positionOf(frame)).toBeGreaterThan(0.5)
  expect((await counted).status()).toBe(204)
  expect(await positionOf(frame)).toBeLessThan(20)
  const size = await frame.locator('#stage > video').boundingBox()
  expect([size?.width, size?.height]).toEqual([640, 360])
  await expect(frame.locator('[data-ad-block], header, footer, nav')).toHaveCount(0)
  await expect(frame.locator('video')).toHaveAttribute('controls', '')

  await test.step('links its title while it is paused', async () => {
    const video = frame.locator('#stage > video')
    const link = frame.getByRole('heading', { level: 1 }).getByRole('link')
    await expect.poll(() => link.evaluate(isOnTop)).toBe(false)
    await video.evaluate((element: HTMLVideoElement) => {
      element.pause()
      element.currentTime = 20
    })
    await expect(link).toHaveAttribute('href', `${playerPagePath(session)}?t=20`)
    await expect(link).toHaveText(new RegExp(`^${fixtureStreamer} - ${fixtureDate}`))
    await expect.poll(() => link.evaluate(isOnTop)).toBe(true)
  })
  expect(consoleErrors.list()).toEqual([])
})

test('names the codec that the browser lacks', async ({ page, siteUrl }) => {
  await removeDecoder(page)
  const frame = await frameAt(page, siteUrl + path)
  const note = frame.getByRole('status')
  await expect(note).toContainText('cannot play H.264 (avc1.')
  expect(await note.evaluate(isOnTop)).toBe(true)
  expect(await isPausedIn(frame)).toBe(true)
})

test('starts at the linked moment, and pauses at its end', async ({ page, siteUrl }) => {
  const frame = await frameAt(page, `${siteUrl}${path}?t=20&end=21.5`)
  await expect.poll(async () => positionOf(frame)).toBe(21.5)
  expect(await isPausedIn(frame)).toBe(true)
})

test.describe('with the page clock stopped', () => {
  // An ad that loads late is skipped.
  test.use({ pageClock: 'stopped' })

  test('shows the pre-roll of the site first', async ({ page, houseSiteUrl }) => {
    await slowFilms(page)
    const frame = await frameAt(page, houseSiteUrl + path)
    const overlay = frame.locator('[data-preroll]')
    await expect(overlay).toBeVisible()
    expect(await isPausedIn(frame)).toBe(true)
    await frame.getByRole('button', { name: 'Close ad' }).click()
    await expect(overlay).toHaveCount(0)
    await expect.poll(async () => positionOf(frame)).toBeGreaterThan(0)
    await expect(frame.locator('[data-ad-block]')).toHaveCount(0)
  })
})

test('reports a session that is not there', async ({ page, siteUrl }) => {
  const missing = embedPagePath({ ...session, sessionId: 'missing' })
  const frame = await frameAt(page, siteUrl + missing)
  await expect(frame.getByText('This session is not available.')).toBeVisible()
  await expect(frame.locator('video, [data-preroll]')).toHaveCount(0)
})

test('has no violation of WCAG 2.2 AA', async ({ page }) => {
  for (const sessionId of [session.sessionId, 'missing']) {
    await page.goto(embedPagePath({ ...session, sessionId }))
    await expect(page.locator('#stage > *').first()).toBeVisible()
    await expectNoViolation(page)
  }
})
