// House ads: a site that fills its own places, with no request to anybody else and a policy that stays strict.
import { blocks, closeButton, expect, mainVideo, overlay, playerPath, position } from './ad-site.ts'
import { startSite, test as base } from './site.ts'
import { patienceMs } from '../support/patience.ts'

const test = base.extend<object, { siteUrl: string }>({
  siteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const site = await startSite({ ads: { provider: 'house' } })
      await provide(site.url)
      await site.stop()
    },
    { scope: 'worker', timeout: patienceMs },
  ],
})

test('fills every block and the pre-roll with no third party', async ({
  page,
  siteUrl,
  consoleErrors,
}) => {
  const foreign: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (/^https?:/.test(url) && !url.startsWith(siteUrl)) foreign.push(url)
  })
  await page.goto('/')
  for (const where of ['header', 'sidebar', 'footer']) {
    await expect(blocks(page, where).locator('iframe')).toBeVisible()
  }
  await expect(blocks(page, 'list').first().locator('iframe')).toBeVisible()
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  await expect(mainVideo(page)).toHaveJSProperty('paused', true)
  await expect(blocks(page, 'recommended').first().locator('iframe')).toBeVisible()
  await closeButton(page).click()
  await expect.poll(() => position(page), { timeout: patienceMs }).toBeGreaterThan(0.5)
  expect(foreign).toEqual([])
  expect(consoleErrors.list()).toEqual([])
})

test('describes its banners and says that they are advertising', async ({ page }) => {
  await page.goto('/')
  const frame = blocks(page, 'header').frameLocator('iframe')
  await expect(frame.locator('img, [role="img"], a').first()).toBeVisible()
  for (const image of await frame.locator('img').all()) {
    expect((await image.getAttribute('alt'))?.length ?? 0).toBeGreaterThan(0)
  }
  await expect(page.getByRole('complementary', { name: /advertisement/i }).first()).toBeAttached()
})

test('sets no cookie', async ({ page, context }) => {
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  expect(await context.cookies()).toEqual([])
})
