// House ads in a real browser: the script's protocol, the frames, and the policies they live under.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { startServer } from '../support/start-server.ts'
import { layOutLibrary } from './library.ts'
import { expect, test as base } from './site.ts'
import { patienceMs } from '../support/patience.ts'

/** A site with house ads, and an empty page on it under the site's own policy. */
const test = base.extend<{ blank: Page }, { houseUrl: string }>({
  houseUrl: [
    // Playwright reads the names of what a fixture needs from the pattern, so an empty one says "nothing".
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-house-'))
      const library = path.join(folder, 'library')
      await layOutLibrary(library)
      const server = await startServer({
        args: [library, '--data', path.join(folder, 'data')],
        environment: { AFTERCAST_ADS: 'house', AFTERCAST_WORKERS: '1' },
      })
      await provide(server.url)
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: patienceMs },
  ],
  blank: async ({ page, houseUrl }, provide) => {
    const policy = (await fetch(houseUrl)).headers.get('content-security-policy') ?? ''
    await page.route('**/blank', (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: '<!doctype html><title>blank</title><main></main>',
      }),
    )
    await page.goto(`${houseUrl}/blank`)
    await provide(page)
  },
})

interface Place {
  className: string
  zone: string
  /** Style of the element around it. */
  minHeight?: string
}

/** Puts placeholders on the page, each in an element of its own. */
async function addPlaces(page: Page, places: Place[]): Promise<void> {
  await page.evaluate((added) => {
    for (const { className, zone, minHeight } of added) {
      const host = document.createElement('div')
      host.style.minHeight = minHeight ?? ''
      const place = document.createElement('ins')
      place.className = className
      place.dataset.zoneid = zone
      host.append(place)
      document.querySelector('main')?.append(host)
    }
  }, places)
}

async function serve(page: Page): Promise<void> {
  await page.evaluate(() => {
    const queue = window as unknown as { AdProvider?: { push(command: object): unknown } }
    queue.AdProvider ??= []
    queue.AdProvider.push({ serve: {} })
  })
}

async function addScript(page: Page): Promise<void> {
  await page.evaluate(() => {
    const script = document.createElement('script')
    script.async = true
    script.src = '/api/proxy-ad/house/ad-provider.js'
    document.head.append(script)
  })
}

test('the house’s script fills what was asked for before it came, and leaves the rest alone', async ({
  blank,
  consoleErrors,
}) => {
  const asked: string[] = []
  blank.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/promo/serve') asked.push(search)
  })
  await addPlaces(blank, [
    { className: 'promo-ins', zone: 'banner' },
    { className: 'promo-ins2', zone: 'else' },
    { className: 'mine promo-ins', zone: 'banner' },
  ])
  await serve(blank)
  await addScript(blank)
  const frame = blank.locator('main > div:nth-child(1) > div:first-child > iframe')
  await expect(frame).toHaveAttribute('title', /^Advertisement: ./)
  await expect(frame).toHaveAttribute('sandbox', 'allow-popups allow-popups-to-escape-sandbox')
  await expect(blank.locator('ins[data-processed=true]')).toHaveCount(2)
  await expect(blank.locator('ins:empty')).toHaveCount(3)
  await expect(blank.locator('iframe')).toHaveCount(1)
  await serve(blank)
  await addPlaces(blank, [{ className: 'promo-ins', zone: 'inline' }])
  await serve(blank)
  await expect(blank.locator('iframe')).toHaveCount(2)
  expect(asked).toEqual(['?zone=banner&zone=else', '?zone=inline'])
  expect(consoleErrors.list()).toEqual([])
})

test('a banner takes the room that was kept for it', async ({ blank }) => {
  await addPlaces(blank, [
    { className: 'promo-ins', zone: 'banner', minHeight: '120px' },
    { className: 'promo-ins', zone: 'banner' },
  ])
  await addScript(blank)
  await serve(blank)
  const frames = blank.locator('iframe')
  await expect(frames).toHaveCount(2)
  await expect(frames.nth(0)).toHaveCSS('height', '120px')
  await expect(frames.nth(1)).toHaveCSS('height', '90px')
})

test('a banner is styled, has no script, and opens its link in a tab of its own', async ({
  blank,
  houseUrl,
}) => {
  await addPlaces(blank, [{ className: 'promo-ins', zone: 'banner' }])
  await addScript(blank)
  await serve(blank)
  const link = blank.frameLocator('iframe').getByRole('link')
  await expect(link).toHaveCSS('position', 'relative')
  await expect(blank.frameLocator('iframe').locator('script')).toHaveCount(0)
  const opened = blank.waitForEvent('popup')
  await link.click()
  await expect(await opened).toHaveURL(`${houseUrl}/`)
})

test('the page, its data and its ads’ frames have a policy each', async ({ houseUrl }) => {
  const policyOf = async (at: string) =>
    (await fetch(houseUrl + at)).headers.get('content-security-policy') ?? ''
  const page = await policyOf('/')
  expect(page).toMatch(/^default-src 'none';script-src 'self';style-src 'self' 'sha256-/)
  expect(page).toContain("frame-src 'self'")
  expect(page).not.toContain('unsafe')
  expect(await policyOf('/api/config')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
  const { placements } = await (await fetch(`${houseUrl}/api/promo/serve?zone=banner`)).json()
  const frame = await policyOf(placements[0].frame)
  expect(frame).toContain("frame-ancestors 'self'")
  expect(frame).toContain('sandbox allow-popups allow-popups-to-escape-sandbox')
})
