// With an ad blocker, or a network that fails: the page and the recording are whole, and nothing waits.
import type { Page } from '@playwright/test'
import { scriptVariants } from '../ad-network/script-variants.ts'
import { blocks, expect, mainVideo, overlay, place, playerPath, position, test } from './ad-site.ts'
import { fixtureStreamer } from './library.ts'

/** No visitor waits longer than this for an ad that does not come. */
const longestWaitMs = 5000

/** What the lists of blockers hide by name, of what a viewer could be tempted to use. */
const cosmeticRules = `
  .ad-block, .ad-slot, .ad-unit, .ad-overlay, .ad-frame, .header-ad, .footer-ad, .banner-ad,
  .house-ad, .sponsored-slot, #ad-block, #ad-slot, #ad-overlay, #header-ad, #sidebar-ad,
  #footer-ad, #video-ad { display: none !important }`

test('plays where the network cannot be reached', async ({ page, network }) => {
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await expectWhole(page)
})

test('plays where the script is blocked', async ({ page, network }) => {
  await page.route('**/ad-provider.js', (route) => route.abort('blockedbyclient'))
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await expectWhole(page)
})

test('plays where all calls that name ads or activity are blocked', async ({ page, network }) => {
  await page.route(`${network.url}/**`, (route) => route.abort('blockedbyclient'))
  await page.route(/\/api\/(?:proxy-ad|promo|activity|config)/, (route) =>
    route.abort('blockedbyclient'),
  )
  await expectWhole(page)
})

test('plays where the configuration never comes', async ({ page }) => {
  await page.route('**/api/config', () => undefined)
  await expectWhole(page)
})

test('plays where the network takes every request and never answers', async ({ page, network }) => {
  await page.route(`${network.url}/**`, () => undefined)
  await page.goto(playerPath)
  const begin = Date.now()
  await expectPlaying(page, longestWaitMs + 3000)
  // The whole of the wait is the network's five seconds; the rest is loading the page.
  expect(Date.now() - begin).toBeLessThan(longestWaitMs + 2000)
})

test('plays at once where a rule hides the overlay', async ({ page }) => {
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const style = new CSSStyleSheet()
      style.replaceSync('[data-preroll] { display: none !important }')
      document.adoptedStyleSheets.push(style)
    })
  })
  const begin = Date.now()
  await page.goto(playerPath)
  await expectPlaying(page, longestWaitMs)
  expect(Date.now() - begin).toBeLessThan(longestWaitMs)
})

test('has no name that the lists of blockers hide', async ({ page }) => {
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
  test(`stands and plays where the script is another one: ${script}`, async ({ page }) => {
    await place(page, { script, zones: { banner: 'frame', inline: 'frame' } })
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto('/')
    await expect(page.getByRole('listitem').first()).toBeVisible()
    await expect(blocks(page, 'header')).toBeHidden({ timeout: longestWaitMs + 3000 })
    await page.goto(playerPath)
    await expectPlaying(page, longestWaitMs)
    // Its own failure is the script's affair; ours are caught.
    expect(errors.filter((message) => !message.includes('stand-in start'))).toEqual([])
  })
}

/** A visit of all pages, with the time until the recording plays. */
async function expectWhole(page: Page): Promise<void> {
  const errors: Error[] = []
  page.on('pageerror', (error) => errors.push(error))
  await page.goto('/')
  const card = page.getByRole('listitem').filter({ hasText: fixtureStreamer })
  await card.getByRole('link', { name: 'View Sessions' }).click()
  await page.getByRole('link', { name: 'Play' }).first().click()
  await expect(mainVideo(page)).toHaveCount(1)
  await expectPlaying(page, longestWaitMs)
  await expect(overlay(page)).toBeHidden()
  await expect(page.getByRole('list', { name: 'Recommended', exact: true })).toBeVisible()
  expect(errors).toEqual([])
}

async function expectPlaying(page: Page, timeout: number): Promise<void> {
  await expect.poll(() => position(page), { timeout, intervals: [100] }).toBeGreaterThan(0)
}
