// Banner blocks: where they stand, when they are served, what becomes of those that stay empty.
import type { Page } from '@playwright/test'
import type { AdNetwork } from '../ad-network/ad-network.ts'
import { blocks, expect, place, playerPath, test } from './ad-site.ts'
import { crowdSize, fixtureStreamer } from './library.ts'
import { patienceMs } from '../support/patience.ts'

const sessionsPath = `/s/${encodeURIComponent(fixtureStreamer)}`
/** What an empty block is given, and how much later than that it may be seen to be gone on a busy machine. */
const emptyMs = 5000
const slackMs = 1500
const layoutPlaces = ['header', 'sidebar', 'footer']

test('shows an ad in header, sidebar and footer of every page', async ({ page, network }) => {
  for (const path of ['/', sessionsPath, playerPath]) {
    // What a busy machine fills too late is gone, as is right; the next visit has its ads again.
    const visit = async (): Promise<void> => {
      await page.goto(path)
      for (const where of layoutPlaces) {
        await expect(blocks(page, where)).toHaveCount(1)
        await expect(blocks(page, where).locator('iframe')).toBeVisible({ timeout: emptyMs })
      }
    }
    await expect(visit).toPass({ timeout: patienceMs })
  }
  expect(network.requests('/v1/api.php').length).toBeGreaterThan(0)
})

test('stands after every second streamer, starting at the third', async ({ page, network }) => {
  await page.goto('/')
  await expect(blocks(page, 'list').first()).toBeVisible()
  const isBlock = await page
    .getByRole('list', { name: 'Streamers', exact: true })
    .evaluate((list) =>
      [...list.children].map((item) => item.matches(':has([data-ad-block]), [data-ad-block]')),
    )
  expect(isBlock).toEqual(expectedPattern(crowdSize + 1))
  expect(network.requests('/ad-provider.js').length).toBeLessThanOrEqual(1)
})

test('keeps that rhythm in a filtered list', async ({ page }) => {
  await page.goto('/')
  await page.getByPlaceholder('Search streamer...').fill('Crowd 1')
  await expect(blocks(page, 'list')).toHaveCount(4)
  await page.getByPlaceholder('Search streamer...').fill('Crowd 11')
  await expect(blocks(page, 'list')).toHaveCount(0)
})

test('stands after every second recommendation, starting at the third', async ({ page }) => {
  await place(page, { zones: { inline: 'frame' } })
  await page.goto(playerPath)
  const list = page.getByRole('list', { name: 'Recommended', exact: true })
  await expect(list.locator('a').nth(7)).toBeAttached()
  const isBlock = await list.evaluate((element) =>
    [...element.children].map((item) => item.matches(':has([data-ad-block]), [data-ad-block]')),
  )
  expect(isBlock).toEqual(expectedPattern(8))
  await expect(blocks(page, 'recommended')).toHaveCount(3)
})

test('stands nowhere among sessions', async ({ page }) => {
  await page.goto(sessionsPath)
  await expect(page.getByRole('listitem').first()).toBeVisible()
  await expect(blocks(page, 'list')).toHaveCount(0)
})

test('hides a block five seconds after it was drawn', async ({ page }) => {
  await place(page, { zones: { banner: 'no-fill' } })
  await page.goto(sessionsPath)
  await expect(blocks(page, 'header')).toBeAttached()
  await page.waitForTimeout(emptyMs - slackMs)
  await expect(blocks(page, 'header')).toHaveCSS('display', /^(?!none)/)
  await expect(blocks(page, 'header')).toBeHidden({ timeout: 2 * slackMs })
  for (const where of ['sidebar', 'footer']) await expect(blocks(page, where)).toBeHidden()
})

for (const zone of ['error', 'malformed', 'hang', 'late', 'image', 'video']) {
  test(`hides a block that has no frame by then: ${zone}`, async ({ page, network }) => {
    await place(page, { zones: { banner: zone } })
    const clock = await openWithClock(page, network)
    await clock.runUntil(emptyMs - 100)
    await expect(blocks(page, 'header')).toHaveCSS('display', /^(?!none)/)
    await clock.runUntil(2 * emptyMs)
    for (const where of layoutPlaces) await expect(blocks(page, where)).toBeHidden()
  })
}

for (const zone of ['frame', 'linked-frame']) {
  test(`keeps a block that has a frame: ${zone}`, async ({ page, network }) => {
    await place(page, { zones: { banner: zone } })
    const clock = await openWithClock(page, network)
    await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
    await clock.runUntil(2 * emptyMs)
    for (const where of layoutPlaces) await expect(blocks(page, where)).toBeVisible()
  })
}

for (const zone of ['image', 'video']) {
  test(`keeps a block with any creative where the operator says so: ${zone}`, async ({
    page,
    network,
  }) => {
    await place(page, { zones: { banner: zone }, fill: 'creative' })
    const clock = await openWithClock(page, network)
    await expect(blocks(page, 'header').locator('img, video')).toBeVisible()
    await clock.runUntil(2 * emptyMs)
    for (const where of layoutPlaces) await expect(blocks(page, where)).toBeVisible()
  })
}

test('asks for ads at once and half a second after a route change, and 100 ms after a list', async ({
  page,
}) => {
  const stepMs = 20
  await page.clock.install()
  await page.addInitScript(recordServes)
  await page.goto('/')
  await expect(page.getByRole('listitem').first()).toBeVisible()
  await expect.poll(async () => (await serves(page)).length).toBeGreaterThanOrEqual(3)
  // From here on time goes by as it is told to, however busy the machine is.
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 5000)
  const { length: before } = await serves(page)
  await page.getByRole('link', { name: 'View Sessions' }).first().click()
  await expect(async () => {
    await page.clock.runFor(stepMs)
    expect((await serves(page)).length).toBeGreaterThan(before)
  }).toPass({ intervals: [50] })
  await expect(page.getByRole('link', { name: 'Play', exact: true }).first()).toBeVisible()
  const listedMs = await page.evaluate<number>('performance.now()')
  await page.clock.runFor(1000)
  const [routeMs = 0, ...later] = (await serves(page)).slice(before)
  expect(later.some((atMs) => Math.abs(atMs - routeMs - 500) <= stepMs)).toBe(true)
  expect(later.some((atMs) => atMs - routeMs >= 100 && atMs - listedMs <= 100)).toBe(true)
})

test('injects the script once, over twenty route changes', async ({ page, network }) => {
  // The sixty blocks of the list are the browser's work, and not what is asked here.
  await place(page, { zones: { banner: 'frame', inline: 'no-fill' } })
  await page.goto('/')
  for (let turn = 0; turn < 10; turn += 1) {
    await page.getByRole('link', { name: 'View Sessions' }).first().click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Sessions/)
    await page.getByRole('button', { name: 'Back' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  }
  await expect(page.locator('script[src*="ad-provider.js"]')).toHaveCount(1)
  await expect(blocks(page, 'header').locator('iframe')).toHaveCount(1)
  expect(network.requests('/v1/api.php').length).toBeGreaterThan(0)
})

test('leaves a filled block of the layout alone, and tries an empty one again on the next page', async ({
  page,
}) => {
  await place(page, { zones: { banner: 'no-fill' } })
  await page.goto('/')
  const placeholder = blocks(page, 'header').locator('ins')
  await expect(placeholder).toHaveAttribute('data-processed', 'true')
  await placeholder.evaluate((ins) => ins.setAttribute('id', 'first'))
  await expect(blocks(page, 'header')).toBeHidden({ timeout: 8000 })
  await page.getByRole('link', { name: 'View Sessions' }).first().click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Sessions/)
  await expect(placeholder).toHaveCount(1)
  await expect(page.locator('ins#first')).toHaveCount(0)
  await expect(blocks(page, 'header')).toHaveCSS('display', /^(?!none)/)
})

test('tells the network where its ad stands, and nothing else of ours', async ({
  page,
  network,
  siteUrl,
}) => {
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  const [asked] = network.requests('/v1/api.php')
  expect(asked?.headers.referer).toContain(siteUrl)
  const names = await page
    .locator('[data-ad-block] ins')
    .first()
    .evaluate((ins) => ins.getAttributeNames().toSorted())
  expect(names).toEqual(['class', 'data-processed', 'data-zoneid'])
  const [script] = network.requests('/ad-provider.js')
  for (const name of ['cookie', 'referer', 'x-forwarded-for']) {
    expect(script?.headers[name]).toBeUndefined()
  }
})

test('moves nothing by more than a tenth of the page while ads come and go', async ({ page }) => {
  for (const banner of ['frame', 'no-fill']) {
    await place(page, { zones: { banner } })
    await page.goto(sessionsPath)
    await expect(page.getByRole('listitem').first()).toBeVisible()
    await page.waitForTimeout(emptyMs + slackMs)
    expect(await page.evaluate(layoutShift), banner).toBeLessThan(0.1)
    await page.unrouteAll()
  }
})

/** Opens a page whose clock stands still but for the steps until it asks the network; `runUntil` counts from before it was there. */
async function openWithClock(page: Page, network: AdNetwork) {
  const beginMs = Date.UTC(2026, 0, 1)
  const stepMs = 20
  // A minute before, for what may go by until the clock is stopped.
  await page.clock.install({ time: beginMs - 60_000 })
  await page.clock.pauseAt(beginMs)
  await page.goto(sessionsPath)
  await expect(blocks(page, 'header')).toBeAttached()
  await expect(async () => {
    await page.clock.runFor(stepMs)
    expect(network.requests('/v1/api.php').length).toBeGreaterThan(0)
  }).toPass({ intervals: [50], timeout: patienceMs })
  const nowMs = async () => Number(await page.evaluate('Date.now()')) - beginMs
  return {
    runUntil: async (ms: number) => page.clock.runFor(Math.max(0, ms - (await nowMs()))),
  }
}

/** Which items of a list of `cards` cards are blocks: one directly after each card with index 2, 4, …. */
function expectedPattern(cards: number): boolean[] {
  const items: boolean[] = []
  for (let index = 0; index < cards; index += 1) {
    items.push(false)
    if (index >= 2 && index % 2 === 0) items.push(true)
  }
  return items
}

/** Notes the time of each command the page gives, before the network's script is there and after. */
function recordServes(): void {
  const times: number[] = []
  Object.assign(globalThis, { servedAt: times })
  const watched = (queue: { push(command: object): unknown }) =>
    new Proxy(queue, {
      get(target, name) {
        if (name !== 'push') return Reflect.get(target, name)
        return (command: object) => {
          times.push(performance.now())
          return target.push(command)
        }
      },
    })
  let current = watched([])
  Object.defineProperty(globalThis, 'AdProvider', {
    get: () => current,
    set(value: { push(command: object): unknown }) {
      current = watched(value)
    },
  })
}

function serves(page: { evaluate<T>(expression: string): Promise<T> }): Promise<number[]> {
  return page.evaluate<number[]>('globalThis.servedAt')
}

/** Sum of all shifts that no input explains. */
function layoutShift(): Promise<number> {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const shifts = list.getEntries().map((entry) => ('value' in entry ? Number(entry.value) : 0))
      resolve(shifts.reduce((sum, value) => sum + value, 0))
    }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(0), 500)
  })
}
