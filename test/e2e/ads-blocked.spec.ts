// With an ad blocker, or a network that fails: the page and the recording work, and no visitor
// waits longer than promised.
import type { Page } from '@playwright/test'
import { scriptVariants } from '../ad-network/script-variants.ts'
import {
  adLimitMs,
  blocks,
  emptyBlockMs,
  expect,
  expectHeld,
  expectPlaying,
  mainVideo,
  overlay,
  overrideAds,
  playerPath,
  test,
} from './ad-site.ts'
import { fixtureStreamer } from './library.ts'

/** Longest wait of the recording for the configuration. */
const configLimitMs = 1500

/** Class names and ids that block lists hide. */
const cosmeticRules = `
  .ad-block, .ad-slot, .ad-unit, .ad-overlay, .ad-frame, .header-ad, .footer-ad, .banner-ad,
  .house-ad, .sponsored-slot, #ad-block, #ad-slot, #ad-overlay, #header-ad, #sidebar-ad,
  #footer-ad, #video-ad { display: none !important }`

test('plays at once where the network cannot be reached', async ({ page, network }) => {
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await expectAllPages(page)
})

test('plays at once where the script is blocked', async ({ page, network }) => {
  await page.route('**/ad-provider.js', (route) => route.abort('blockedbyclient'))
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await expectAllPages(page)
})

test('plays at once where all requests for ads, activity and configuration are blocked', async ({
  page,
  network,
}) => {
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await page.route(/\/api\/(?:proxy-ad|promo|activity|config)/, (route) =>
    route.abort('blockedbyclient'),
  )
  await expectAllPages(page)
})

test('plays after 1.5 s where the configuration never arrives', async ({ page }) => {
  await page.route('**/api/config', () => undefined)
  await expectAllPages(page, configLimitMs)
})

test('plays after 5 s where the network accepts every request and never responds', async ({
  page,
  network,
}) => {
  await page.route(`${network.url}/**`, () => undefined)
  const requested = page.waitForRequest(`${network.url}/v1/vast.php*`)
  await page.goto(playerPath)
  await requested
  await expectHeldFor(page, adLimitMs)
  await expectPlaying(page)
})

test('plays at once where a rule hides the overlay', async ({ page }) => {
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const style = new CSSStyleSheet()
      style.replaceSync('[data-preroll] { display: none !important }')
      document.adoptedStyleSheets.push(style)
    })
  })
  await page.goto(playerPath)
  await expectPlaying(page)
})

test('has no name that block lists hide', async ({ page }) => {
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  const hidden = await page.evaluate((rules) => {
    const style = new CSSStyleSheet()
    style.replaceSync(rules)
    return [...style.cssRules]
      .filter((rule) => rule instanceof CSSStyleRule)
      .flatMap((rule) => [...document.querySelectorAll(rule.selectorText)])
      .map((element) => element.outerHTML.slice(0, 80))
  }, cosmeticRules)
  expect(hidden).toEqual([])
})

for (const script of scriptVariants) {
  test(`works and plays where the script is a different one: ${script}`, async ({ page }) => {
    await overrideAds(page, { script, zones: { banner: 'frame', inline: 'frame' } })
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto('/')
    await expect(page.getByRole('listitem').first()).toBeVisible()
    await expect(blocks(page, 'header').locator('ins')).toBeAttached()
    await page.clock.runFor(emptyBlockMs)
    await expect(blocks(page, 'header')).toBeHidden()
    await page.goto(playerPath)
    await expectPlaying(page)
    // The script's own error is not ours; our errors are caught.
    expect(errors.filter((message) => !message.includes('stand-in start'))).toEqual([])
  })
}

/**
 * Visits all pages. The recording starts when the player page has been open for exactly `heldMs` of
 * the page's clock.
 */
async function expectAllPages(page: Page, heldMs = 0): Promise<void> {
  const errors: Error[] = []
  page.on('pageerror', (error) => errors.push(error))
  await page.goto('/')
  const card = page.getByRole('listitem').filter({ hasText: fixtureStreamer })
  await card.getByRole('link', { name: 'View Sessions' }).click()
  await page.getByRole('link', { name: 'Play' }).first().click()
  await expect(mainVideo(page)).toHaveCount(1)
  if (heldMs > 0) await expectHeldFor(page, heldMs)
  await expectPlaying(page)
  await expect(page.getByRole('list', { name: 'Recommended', exact: true })).toBeVisible()
  expect(errors).toEqual([])
}

/** Advances the clock by `ms`: the recording waits until the last millisecond. */
async function expectHeldFor(page: Page, ms: number): Promise<void> {
  await expectHeld(page)
  await page.clock.runFor(ms - 1)
  await expectHeld(page)
  await page.clock.runFor(1)
}
