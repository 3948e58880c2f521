// A session that the server refuses: the page shows its image and the streamer's other sessions,
// and neither an ad nor a player that would wait forever.
import type { Page } from '@playwright/test'
import { expect, mainVideo, overlay, overrideAds, playerPath, test } from './ad-site.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { fixtureDate, fixtureStreamer, playableFixtures } from './library.ts'

const others = `More from ${fixtureStreamer}`

for (const status of [404, 410, 422]) {
  test(`offers other sessions where the playlist is ${status}`, async ({ page, network }) => {
    await refusePlaylist(page, status)
    await overrideAds(page, { zones: { video: 'film-long.mp4' } })
    await page.goto(playerPath)
    const list = page.getByRole('list', { name: others, exact: true })
    await expect(list.getByRole('listitem')).toHaveCount(playableFixtures.length - 1)
    await expect(page.getByRole('button', { name: 'Unmute' })).toHaveCount(0)
    await expect(mainVideo(page)).toHaveCount(0)
    await expect(overlay(page)).toHaveCount(0)
    await page.clock.runFor(10_000)
    await expect(overlay(page)).toHaveCount(0)
    expect(network.requests('/v1/vast.php')).toEqual([])
    await expect(page.locator('head > meta[name="robots"]')).toHaveAttribute('content', 'noindex')
  })
}

test('shows the image of the session, and hides it where there is none', async ({ page }) => {
  await refusePlaylist(page, 422)
  await page.goto(playerPath)
  const image = page.locator('main img').first()
  const width = () => image.evaluate(({ naturalWidth }: HTMLImageElement) => naturalWidth)
  await expect.poll(width).toBeGreaterThan(100)
  await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/unknown`)
  const list = page.getByRole('list', { name: others, exact: true })
  await expect(list.getByRole('listitem')).toHaveCount(playableFixtures.length)
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText(`${fixtureStreamer} - ${fixtureDate} - unknown`)
  await expect(page.locator('main img[src$="/unknown"]')).toHaveCount(0)
})

for (const width of [390, 1440]) {
  test(`moves nothing while it finds what else there is: ${width} px`, async ({ page }) => {
    await page.addInitScript(recordLayoutShifts)
    await page.setViewportSize({ width, height: 900 })
    await overrideAds(page, { zones: {} })
    const streamers = [encodeURIComponent(fixtureStreamer), 'nobody']
    for (const streamer of streamers) {
      await page.goto(`/p/${streamer}/${fixtureDate}/unknown`)
      const recommended = page.getByRole('list', { name: 'Recommended' })
      await expect(recommended.getByRole('listitem').first()).toBeVisible()
      const isKnown = streamer !== 'nobody'
      await expect(page.getByRole('link', { name: 'All streamers' })).toHaveCount(isKnown ? 0 : 1)
      expect(await layoutShift(page)).toBeLessThan(0.001)
    }
  })
}

test('plays a session that is listed a moment later', async ({ page }) => {
  await refusePlaylist(page, 404)
  await overrideAds(page, { zones: {} })
  await page.goto(playerPath)
  const list = page.getByRole('list', { name: others, exact: true })
  await expect(list.getByRole('listitem')).toHaveCount(playableFixtures.length - 1)
  await checkAgain(page, 5000)
  await page.unrouteAll()
  await overrideAds(page, { zones: {} })
  await checkAgain(page, 10_000)
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
})

test('plays another session from there', async ({ page }) => {
  await overrideAds(page, { zones: {} })
  await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/unknown`)
  const list = page.getByRole('list', { name: others, exact: true })
  await list.locator('a[href$="ts-h264-aac-clean-hls-concat"]').click()
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
})

/** Advances the clock to the page's next check of the playlist. */
async function checkAgain(page: Page, pauseMs: number): Promise<void> {
  const response = page.waitForResponse((given) => given.request().method() === 'HEAD')
  await page.clock.runFor(pauseMs)
  await response
}

async function refusePlaylist(page: Page, status: number): Promise<void> {
  await page.route('**/ts-h264-aac-clean-hls-concat/playlist.m3u8', (route) =>
    route.fulfill({ status, json: { error: { code: 'refused', message: 'refused' } } }),
  )
}
