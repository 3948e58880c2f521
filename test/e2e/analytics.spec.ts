// Analytics in a real browser: the events that the site's collector and Google Analytics receive
// during a visit.
import type { Page } from '@playwright/test'
import { fixtureStreamer } from './library.ts'
import { expect, test as base } from './site.ts'

const test = base.extend({
  siteUrl: async ({ analyticsSiteUrl }, provide) => provide(analyticsSiteUrl),
})

/** More than the collector's batches wait. */
const batchMs = 1000

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

/** Responds with empty scripts for the services, so that their queues keep every event. */
async function stubServices(page: Page): Promise<void> {
  for (const host of ['https://www.googletagmanager.com/**', 'https://plausible.io/**']) {
    await page.route(host, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }))
  }
}

/** Visits the streamers, the sessions and the player until the video plays. */
async function watchOneSession(page: Page): Promise<void> {
  await page.goto('/')
  const card = page.getByRole('list', { name: 'Streamers' }).getByRole('listitem')
  const streamer = card.filter({
    has: page.getByRole('heading', { name: fixtureStreamer, exact: true }),
  })
  await streamer.getByRole('link', { name: 'View Sessions' }).click()
  const session = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
  await session
    .filter({ hasText: 'mp4-h264-aac-moov-first' })
    .getByRole('link', { name: 'Play' })
    .click()
  const video = page.locator('video')
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime))
    .toBeGreaterThan(0.5)
}

/** Names of the events that the page has given to its beacons. */
function sentNames(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bodies: string[] = Reflect.get(window, 'beacons')
    return bodies.flatMap((body) => JSON.parse(body) as { name: string }[]).map(({ name }) => name)
  })
}

function recordBeacons(): void {
  const beacons: unknown[] = []
  Object.assign(window, { beacons })
  const send = navigator.sendBeacon.bind(navigator)
  navigator.sendBeacon = (url, body) => {
    beacons.push(body)
    return send(url, body)
  }
}

test('sends a visit in order to the collector and Google Analytics, the video once', async ({
  page,
  consoleErrors,
}) => {
  await stubServices(page)
  await page.addInitScript(recordBeacons)
  const reports: object[] = []
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/activity')) return
    const events: { name: string }[] = JSON.parse(request.postData() ?? '[]')
    reports.push(...events.filter(({ name }) => name === 'playback'))
  })
  const isRequested = page.waitForRequest(/\/api\/activity$/)
  await watchOneSession(page)
  await expect.poll(() => sentNames(page)).toEqual(visit)
  expect((await isRequested).method()).toBe('POST')
  const queued = await page.evaluate(() => {
    const layer: ArrayLike<unknown>[] = Reflect.get(window, 'dataLayer') ?? []
    return layer.filter((entry) => entry[0] === 'event').map((entry) => String(entry[1]))
  })
  expect(queued).toEqual(visit)

  await test.step('how playback was: when the visitor leaves, to the collector alone', async () => {
    expect(reports).toEqual([])
    await page.getByRole('link', { name: 'Home' }).click()
    await expect.poll(() => reports).toHaveLength(1)
    const [report] = reports
    expect(report).toMatchObject({
      startupSeconds: expect.any(Number),
      abandonedStarts: 0,
      networkErrors: 0,
      mediaErrors: 0,
      otherErrors: 0,
    })
    expect(Number(Reflect.get(report ?? {}, 'playedSeconds'))).toBeGreaterThan(0.4)
    expect(JSON.stringify(report)).not.toContain(fixtureStreamer)
    const all = await page.evaluate(() => JSON.stringify(Reflect.get(window, 'dataLayer')))
    expect(all).not.toContain('playback')
  })
  expect(consoleErrors.list()).toEqual([])
})

test('plays on where every service is blocked', async ({ page }) => {
  await page.route(/googletagmanager|plausible|\/api\/activity/, (route) => route.abort())
  await watchOneSession(page)
})

test('sends the collector nothing where Global Privacy Control is on', async ({ page }) => {
  await stubServices(page)
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })
  })
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/activity')) sent.push(request.url())
  })
  await page.clock.install()
  await watchOneSession(page)
  await page.clock.runFor(batchMs)
  // Any batch has been sent before this request.
  await page.evaluate(() => fetch('/api/config'))
  expect(sent).toEqual([])
})
