// Banner blocks: where they are, when they are served, and when they are hidden.
import type { Locator, Page } from '@playwright/test'
import type { AdNetwork } from '../ad-network/ad-network.ts'
import {
  blocks,
  emptyBlockMs,
  expect,
  overrideAds,
  playerPath,
  recommendedMs,
  test,
} from './ad-site.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { fixtureStreamer } from './library.ts'

const sessionsPath = `/s/${encodeURIComponent(fixtureStreamer)}`
const layoutSlots = ['header', 'sidebar', 'footer']
/** Ads are served again so long after a list has loaded, and after the route has changed. */
const afterListMs = 100
const afterRouteMs = 500
/** Of the viewport, while ads appear and disappear. */
const maxShift = 0.1

test('shows an ad in header, sidebar and footer of every page', async ({ page, network }) => {
  for (const path of ['/', sessionsPath, playerPath]) {
    await page.goto(path)
    for (const slot of layoutSlots) {
      await expect(blocks(page, slot)).toHaveCount(1)
      await expect(blocks(page, slot).locator('iframe')).toBeVisible()
    }
    await page.clock.runFor(2 * emptyBlockMs)
    for (const slot of layoutSlots) {
      await expect(blocks(page, slot)).toHaveCount(1)
      await expect(blocks(page, slot).locator('iframe')).toBeVisible()
    }
  }
  expect(network.requests('/v1/api.php').length).toBeGreaterThan(0)
})

test('fills no column of its own with three or four columns of streamers', async ({ page }) => {
  await overrideAds(page, { zones: { inline: 'frame' } })
  for (const width of [1180, 1440, 1600]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto('/')
    await expect(blocks(page, 'list').first()).toBeVisible()
    const entries = await page
      .getByRole('list', { name: 'Streamers', exact: true })
      .getByRole('listitem')
      .evaluateAll((items) =>
        items.map((item) => ({
          x: Math.round(item.getBoundingClientRect().x),
          y: Math.round(item.getBoundingClientRect().y),
          isAd: item.querySelector('[data-ad-block]') !== null,
        })),
      )
    const columns = entries.filter(({ isAd }) => isAd).map(({ x }) => x)
    for (const [at, column] of columns.slice(1).entries()) expect(column).not.toBe(columns[at])
    // Only the last row may be incomplete.
    const rows = Map.groupBy(entries, ({ y }) => y)
    const widest = Math.max(...[...rows.values()].map((row) => row.length))
    const incomplete = [...rows.values()].filter((row) => row.length < widest)
    expect(incomplete.length).toBeLessThanOrEqual(1)
  }
})

for (const [width, height] of [
  [390, 844],
  [768, 1024],
  [1024, 768],
] as const) {
  test(`is below the player, whose video is near the top: ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height })
    await overrideAds(page, { zones: { banner: 'frame' } })
    await page.goto(playerPath)
    await page.clock.runFor(recommendedMs)
    await expect(page.getByRole('heading', { name: 'Recommended' })).toBeVisible()
    const topOf = (selector: string) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().top)
    expect(await topOf('[data-player] video')).toBeLessThan(150)
    const banner = await topOf('[data-ad-block="header"]')
    expect(banner).toBeGreaterThan(await topOf('[aria-label="About this session"]'))
    expect(banner).toBeLessThan(await topOf('section[aria-label="Recommended"]'))
  })
}

test('hides a block five seconds after it was rendered, without a large shift', async ({
  page,
  network,
}) => {
  await overrideAds(page, { zones: { banner: 'no-fill' } })
  await page.addInitScript(recordLayoutShifts)
  await openSessions(page, network)
  await page.clock.runFor(emptyBlockMs - 1)
  for (const slot of layoutSlots) await expectShown(page, slot)
  await page.clock.runFor(1)
  for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeHidden()
  expect(await layoutShift(page)).toBeLessThan(maxShift)
})

for (const zone of ['error', 'malformed', 'hang', 'image', 'video']) {
  test(`hides a block without a frame after five seconds: ${zone}`, async ({ page, network }) => {
    await overrideAds(page, { zones: { banner: zone } })
    await openSessions(page, network)
    if (['image', 'video'].includes(zone)) {
      await expect(blocks(page, 'header').locator('img, video')).toBeVisible()
    }
    await page.clock.runFor(emptyBlockMs - 1)
    await expectShown(page, 'header')
    await page.clock.runFor(1)
    for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeHidden()
  })
}

test('keeps a block hidden where its frame is late', async ({ page, network }) => {
  await overrideAds(page, { zones: { banner: 'late' } })
  await openSessions(page, network)
  await page.clock.runFor(emptyBlockMs)
  for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeHidden()
  network.sendLate()
  for (const slot of layoutSlots) {
    await expect(blocks(page, slot).locator('iframe')).toBeAttached()
  }
  await page.clock.runFor(emptyBlockMs)
  for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeHidden()
})

for (const zone of ['frame', 'linked-frame']) {
  test(`keeps a block that has a frame, without a large shift: ${zone}`, async ({
    page,
    network,
  }) => {
    await overrideAds(page, { zones: { banner: zone } })
    await page.addInitScript(recordLayoutShifts)
    await openSessions(page, network)
    for (const slot of layoutSlots) {
      await expect(blocks(page, slot).locator('iframe')).toBeVisible()
    }
    await page.clock.runFor(2 * emptyBlockMs)
    for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeVisible()
    expect(await layoutShift(page)).toBeLessThan(maxShift)
  })
}

for (const zone of ['image', 'video']) {
  test(`keeps a block with any creative where the operator allows it: ${zone}`, async ({
    page,
    network,
  }) => {
    await overrideAds(page, { zones: { banner: zone }, fill: 'creative' })
    await openSessions(page, network)
    for (const slot of layoutSlots) {
      await expect(blocks(page, slot).locator('img, video')).toBeVisible()
    }
    await page.clock.runFor(2 * emptyBlockMs)
    for (const slot of layoutSlots) await expect(blocks(page, slot)).toBeVisible()
  })
}

test('serves ads at once and half a second after a route change, and 100 ms after a list', async ({
  page,
}) => {
  await page.addInitScript(countServes)
  await page.goto('/')
  await expect(blocks(page, 'list').first()).toBeAttached()
  // The script has loaded; the timers of route and list wait for the clock.
  await expect.poll(() => serves(page)).toBe(1)
  await page.clock.runFor(2 * afterRouteMs)
  const before = await serves(page)
  expect(before).toBeGreaterThanOrEqual(3)
  // The clock is stopped: the route and the list of the next page have the same time.
  await page.getByRole('link', { name: 'View Sessions' }).first().click()
  await expect(page.getByRole('link', { name: /^Play / }).first()).toBeVisible()
  await expect.poll(() => serves(page)).toBe(before + 1)
  for (const [ms, count] of [
    [afterListMs - 1, 1],
    [1, 2],
    [afterRouteMs - afterListMs - 1, 2],
    [1, 3],
    [2 * afterRouteMs, 3],
  ] as const) {
    await page.clock.runFor(ms)
    expect(await serves(page)).toBe(before + count)
  }
})

test('injects the script once, over twenty route changes', async ({ page, network }) => {
  // Sixty frames in the list would cost time and test nothing more.
  await overrideAds(page, { zones: { banner: 'frame', inline: 'no-fill' } })
  await page.goto('/')
  for (let visit = 0; visit < 10; visit += 1) {
    await page.getByRole('link', { name: 'View Sessions' }).first().click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Sessions/)
    await page.getByRole('button', { name: 'Back' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  }
  await expect(page.locator('script[src*="ad-provider.js"]')).toHaveCount(1)
  await expect(blocks(page, 'header').locator('iframe')).toHaveCount(1)
  expect(network.requests('/v1/api.php').length).toBeGreaterThan(0)
  expect(network.requests('/ad-provider.js').length).toBeLessThanOrEqual(1)
})

test('leaves a filled block of the layout alone, and fills an empty one on the next page', async ({
  page,
}) => {
  await overrideAds(page, { zones: { banner: 'no-fill' } })
  await page.goto('/')
  const placeholder = blocks(page, 'header').locator('ins')
  await expect(placeholder).toHaveAttribute('data-processed', 'true')
  await placeholder.evaluate((ins) => ins.setAttribute('id', 'first'))
  await page.clock.runFor(emptyBlockMs)
  await expect(blocks(page, 'header')).toBeHidden()
  await page.getByRole('link', { name: 'View Sessions' }).first().click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Sessions/)
  await expect(placeholder).toHaveCount(1)
  await expect(page.locator('ins#first')).toHaveCount(0)
  await expectShown(page, 'header')
})

test('is reached by keyboard after the page, although the header is above it', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto('/')
  const banner = blocks(page, 'header')
  await expect(banner.locator('iframe')).toBeVisible()
  const [home, beside] = await Promise.all(
    [page.getByRole('link', { name: 'Home' }), banner].map((item) => item.boundingBox()),
  )
  expect(beside?.x).toBeGreaterThan((home?.x ?? 0) + (home?.width ?? 0))
  const search = page.getByPlaceholder('Search streamer...')
  const topOf = (locator: Locator) => locator.evaluate((item) => item.getBoundingClientRect().top)
  expect(await topOf(banner)).toBeLessThan(await topOf(search))
  await page.getByRole('link', { name: 'Home' }).focus()
  await page.keyboard.press('Tab')
  await expect(search).toBeFocused()
  const isAfter = await banner.evaluate((element) =>
    document.querySelector('main')?.compareDocumentPosition(element),
  )
  expect(isAfter).toBe(4) // Node.DOCUMENT_POSITION_FOLLOWING
})

test('sends the network the URL of its ad, and nothing else', async ({
  page,
  network,
  siteUrl,
}) => {
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  const [asked] = network.requests('/v1/api.php')
  expect(asked?.headers.referer).toContain(siteUrl)
  const names = await blocks(page, 'header')
    .locator('ins')
    .evaluate((ins) => ins.getAttributeNames().toSorted())
  expect(names).toEqual(['class', 'data-processed', 'data-zoneid'])
  const [script] = network.requests('/ad-provider.js')
  for (const name of ['cookie', 'referer', 'x-forwarded-for']) {
    expect(script?.headers[name]).toBeUndefined()
  }
})

/** Opens the sessions, and waits until the network has received their request for ads. */
async function openSessions(page: Page, network: AdNetwork): Promise<void> {
  await page.goto(sessionsPath)
  await expect(page.getByRole('listitem').first()).toBeVisible()
  for (const slot of layoutSlots) await expect(blocks(page, slot).locator('ins')).toBeAttached()
  await expect.poll(() => network.requests('/v1/api.php').length).toBeGreaterThan(0)
}

/**
 * An empty block has no size where it is shown, so that only its style differs from a hidden one.
 */
async function expectShown(page: Page, slot: string): Promise<void> {
  await expect(blocks(page, slot)).toHaveCSS('display', /^(?!none)/)
}

/** Counts the commands of the page, before the network's script has loaded and after. */
function countServes(): void {
  Object.assign(globalThis, { serveCount: 0 })
  const counted = (queue: { push(command: object): unknown }) =>
    new Proxy(queue, {
      get(target, name) {
        if (name !== 'push') return Reflect.get(target, name)
        return (command: object) => {
          Reflect.set(globalThis, 'serveCount', Number(Reflect.get(globalThis, 'serveCount')) + 1)
          return target.push(command)
        }
      },
    })
  let current = counted([])
  Object.defineProperty(globalThis, 'AdProvider', {
    get: () => current,
    set(value: { push(command: object): unknown }) {
      current = counted(value)
    },
  })
}

function serves(page: Page): Promise<number> {
  return page.evaluate<number>('globalThis.serveCount')
}
