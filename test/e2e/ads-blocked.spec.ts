// With an ad blocker, or a network that fails: the page and the recording work, and no visitor
// waits longer than promised.
import type { Locator, Page } from '@playwright/test'
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
  slowFilms,
  test,
} from './ad-site.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { crowdSize, fixtureStreamer } from './library.ts'

/** Longest wait of the recording for the configuration. */
const configLimitMs = 1500

/** Scripts that load: the ads that they never show are hidden after five seconds. */
const loadable = new Set(['noop', 'throwing'])

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

test('has no name that block lists hide', async ({ page }) => {
  await slowFilms(page)
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
    if (loadable.has(script)) {
      await expect(blocks(page, 'header').locator('ins')).toBeAttached()
      await page.clock.runFor(emptyBlockMs)
    }
    await expect(blocks(page, 'header')).toBeHidden()
    await expect(blocks(page, 'list').locator('visible=true')).toHaveCount(0)
    expect(await holes(page)).toBe(0)
    await page.goto(playerPath)
    await expectPlaying(page)
    // The script's own error is not ours; our errors are caught.
    expect(errors.filter((message) => !message.includes('stand-in start'))).toEqual([])
  })
}

for (const width of [360, 768, 1440]) {
  test(`has no room for ads where the script is blocked: ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 })
    await page.addInitScript(recordLayoutShifts)
    await holdBack(page)
    await page.route('**/ad-provider.js', (route) => route.abort('blockedbyclient'))
    await page.goto('/')
    await expect(streamerEntries(page)).toHaveCount(crowdSize + 1)
    await expect(page.locator('[data-ad-block]')).toHaveCount(0)
    expect(await headerHeight(page)).toBeLessThan(100)
    expect(await layoutShift(page)).toBeLessThan(0.001)

    // From now on nothing is reserved, and the script is not requested again.
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto('/')
    await expect(streamerEntries(page)).toHaveCount(crowdSize + 1)
    await expect(page.locator('[data-ad-block]')).toHaveCount(0)
    expect(await headerHeight(page)).toBeLessThan(100)
    expect(requests.filter((url) => url.includes('ad-provider'))).toEqual([])
    expect(await layoutShift(page)).toBeLessThan(0.001)
  })
}

test('shows the page where the script is not blocked, however long it was held back', async ({
  page,
}) => {
  await holdBack(page)
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  await expect(streamerEntries(page).first()).toBeVisible()
})

test('shows the page before it is known whether the script is blocked', async ({ page }) => {
  await page.route('**/ad-provider.js', () => undefined)
  await page.goto('/')
  await expect(blocks(page, 'header')).toBeVisible()
  await expect(streamerEntries(page).first()).toBeVisible()
})

for (const [width, height] of [
  [390, 844],
  [1024, 768],
] as const) {
  test(`has no room below the player where the script is blocked: ${width} px`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height })
    await page.addInitScript(recordLayoutShifts)
    await page.route('**/ad-provider.js', (route) => route.abort('blockedbyclient'))
    await page.goto(playerPath)
    await expect(mainVideo(page)).toBeVisible()
    await expect(page.locator('[data-ad-block]')).toHaveCount(0)
    await expect(page.locator('.site-banner')).toHaveCount(0)
    await page.clock.resume()
    await expect(page.locator('[data-settled]')).toBeAttached()
    expect(await layoutShift(page)).toBeLessThan(0.001)
  })
}

test('moves nothing visible where the script fails after the list is shown', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.addInitScript(recordLayoutShifts)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/ad-provider.js', async (route) => {
    await released
    await route.abort('blockedbyclient')
  })
  await page.goto('/')
  await expect(blocks(page, 'header')).toBeVisible()
  await expect(blocks(page, 'list').first()).toBeVisible()
  release()
  await expect(page.locator('[data-ad-block]:visible')).toHaveCount(0)
  expect(await layoutShift(page)).toBe(0)
  // A tile fills the cell in the viewport; the others are gone.
  const cells = streamerEntries(page).filter({ has: page.locator('[data-ad-block]') })
  await expect(cells.first()).toBeVisible()
  await expect(cells.last()).toBeHidden()
  expect(await holes(page)).toBe(0)
  await page.getByRole('link', { name: 'View Sessions' }).first().click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Sessions/)
  await expect(page.locator('[data-ad-block]')).toHaveCount(0)
})

/** The page stays hidden until it is known whether the ads are blocked, however long that takes. */
async function holdBack(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const style = new CSSStyleSheet()
    style.replaceSync('.site-layout > * { animation-delay: 1000s !important }')
    document.adoptedStyleSheets.push(style)
  })
}

function streamerEntries(page: Page): Locator {
  return page.getByRole('list', { name: 'Streamers' }).locator('> li')
}

function headerHeight(page: Page): Promise<number> {
  return page.getByRole('main').evaluate((main) => main.getBoundingClientRect().top)
}

/** Number of cells of the grid, before the last row, that contain nothing. */
function holes(page: Page): Promise<number> {
  return page.getByRole('list', { name: 'Streamers' }).evaluate((list) => {
    const boxes = [...list.children]
      .map((item) => item.getBoundingClientRect())
      .filter(({ height }) => height > 0)
    const rows = Map.groupBy(boxes, ({ top }) => Math.round(top))
    const lengths = [...rows.values()].map((row) => row.length)
    const columns = Math.max(...lengths)
    return lengths.slice(0, -1).reduce((sum, length) => sum + columns - length, 0)
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
