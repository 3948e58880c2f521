// Analytics in a real browser: what the site's own collector is sent, and what Google Analytics is told, visit by visit.
import type { Page, Request } from '@playwright/test'
import { fixtureStreamer } from './library.ts'
import { expect, startSite, test as base } from './site.ts'
import { patienceMs } from '../support/patience.ts'

const test = base.extend<object, { siteUrl: string }>({
  siteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const site = await startSite({ analytics: { ga4: 'G-TEST1', plausible: 'site.example' } })
      await provide(site.url)
      await site.stop()
    },
    { scope: 'worker', timeout: patienceMs },
  ],
})

const visit = [
  'page_view',
  'view_item_list',
  'select_item',
  'page_view',
  'view_item_list',
  'select_item',
  'page_view',
  'begin_video',
]

/** Answers the services' scripts with nothing, so that their queues keep what they were told. */
async function standInForServices(page: Page): Promise<void> {
  for (const host of ['https://www.googletagmanager.com/**', 'https://plausible.io/**']) {
    await page.route(host, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }))
  }
}

/** From the streamers over the sessions to a video that plays. */
async function watchOneSession(page: Page): Promise<void> {
  await page.goto('/')
  const card = page.getByRole('list', { name: 'Streamers' }).getByRole('listitem')
  const wanted = card.filter({
    has: page.getByRole('heading', { name: fixtureStreamer, exact: true }),
  })
  await wanted.getByRole('link', { name: 'View Sessions' }).click()
  const session = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
  await session
    .filter({ hasText: 'mp4-h264-aac-moov-first' })
    .getByRole('link', { name: 'Play' })
    .click()
  const video = page.locator('video')
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime), {
      timeout: patienceMs,
    })
    .toBeGreaterThan(0.5)
}

function namesIn(request: Request): string[] {
  const events: { name: string }[] = JSON.parse(request.postData() ?? '[]')
  return events.map(({ name }) => name)
}

test('tells the own collector and Google Analytics a visit in its order, the video once', async ({
  page,
  consoleErrors,
}) => {
  await standInForServices(page)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/activity')) sent.push(...namesIn(request))
  })
  await watchOneSession(page)
  await expect.poll(() => sent).toEqual(visit)
  const told = await page.evaluate(() => {
    const layer: ArrayLike<unknown>[] = Reflect.get(window, 'dataLayer') ?? []
    return layer.filter((entry) => entry[0] === 'event').map((entry) => String(entry[1]))
  })
  expect(told).toEqual(visit)
  expect(consoleErrors.list()).toEqual([])
})

test('plays on where every service is blocked', async ({ page }) => {
  await page.route(/googletagmanager|plausible|\/api\/activity/, (route) => route.abort())
  await watchOneSession(page)
})

test('sends the own collector nothing from a visitor who asks for privacy', async ({ page }) => {
  await standInForServices(page)
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })
  })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/activity')) sent.push(request.url())
  })
  await watchOneSession(page)
  expect(sent).toEqual([])
})
