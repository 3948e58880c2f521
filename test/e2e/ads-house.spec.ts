// House ads: a site that fills its own ad slots, without requests to third parties and with a
// strict policy.
import {
  blocks,
  closeButton,
  expect,
  expectHeld,
  expectPlaying,
  overlay,
  playerPath,
  recommendedMs,
  slowFilms,
} from './ad-site.ts'
import { test as base } from './site.ts'

const test = base.extend({
  siteUrl: async ({ houseSiteUrl }, provide) => provide(houseSiteUrl),
  pageClock: 'stopped',
})

/** Blocks in lists are served 100 ms after the list has loaded. */
const afterListMs = 100

test('fills every block and the pre-roll without a third party and without a cookie', async ({
  page,
  context,
  siteUrl,
  consoleErrors,
}) => {
  const foreign: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (/^https?:/.test(url) && !url.startsWith(siteUrl)) foreign.push(url)
  })
  await page.goto('/')
  for (const slot of ['header', 'sidebar', 'footer']) {
    await expect(blocks(page, slot).locator('iframe')).toBeVisible()
  }
  await test.step('describes its banners and labels them as advertising', async () => {
    const frame = blocks(page, 'header').frameLocator('iframe')
    await expect(frame.locator('img, [role="img"], a').first()).toBeVisible()
    for (const image of await frame.locator('img').all()) {
      expect((await image.getAttribute('alt'))?.length ?? 0).toBeGreaterThan(0)
    }
    const banners = page.getByRole('complementary', { name: /advertisement/i })
    await expect(banners.first()).toBeAttached()
  })
  expect(await context.cookies()).toEqual([])
  await expect(blocks(page, 'list').first()).toBeAttached()
  await page.clock.runFor(afterListMs)
  await expect(blocks(page, 'list').first().locator('iframe')).toBeVisible()
  await slowFilms(page)
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  await expectHeld(page)
  await page.clock.runFor(recommendedMs)
  await expect(blocks(page, 'recommended').first()).toBeAttached()
  await page.clock.runFor(afterListMs)
  await expect(blocks(page, 'recommended').first().locator('iframe')).toBeVisible()
  await closeButton(page).click()
  await expectPlaying(page)
  expect(foreign).toEqual([])
  expect(await context.cookies()).toEqual([])
  expect(consoleErrors.list()).toEqual([])
})
