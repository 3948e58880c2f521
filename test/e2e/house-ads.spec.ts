// House ads in a real browser: the script's protocol, the frames, and their security policies.
import type { Page } from '@playwright/test'
import { expect, test as base } from './site.ts'

/** A blank page of a site with house ads, under the policy of that site. */
const test = base.extend<{ blank: Page }>({
  siteUrl: async ({ houseSiteUrl }, provide) => provide(houseSiteUrl),
  blank: async ({ page, siteUrl }, provide) => {
    const policy = (await fetch(siteUrl)).headers.get('content-security-policy') ?? ''
    await page.route('**/blank', (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': policy },
        body: '<!doctype html><title>blank</title><main></main>',
      }),
    )
    await page.goto('/blank')
    await provide(page)
  },
})

interface Placeholder {
  className: string
  zone: string
  /** Style of its parent element. */
  minHeight?: string
}

/** Adds placeholders to the page, each in an element of its own. */
async function addPlaceholders(page: Page, placeholders: Placeholder[]): Promise<void> {
  await page.evaluate((added) => {
    for (const { className, zone, minHeight } of added) {
      const host = document.createElement('div')
      host.style.minHeight = minHeight ?? ''
      const placeholder = document.createElement('ins')
      placeholder.className = className
      placeholder.dataset.zoneid = zone
      host.append(placeholder)
      document.querySelector('main')?.append(host)
    }
  }, placeholders)
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

test('the script fills placeholders that were served before it loaded, and no others', async ({
  blank,
  consoleErrors,
}) => {
  const requested: string[] = []
  blank.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/promo/serve') requested.push(search)
  })
  await addPlaceholders(blank, [
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
  await addPlaceholders(blank, [{ className: 'promo-ins', zone: 'inline' }])
  await serve(blank)
  await expect(blank.locator('iframe')).toHaveCount(2)
  expect(requested).toEqual(['?zone=banner&zone=else', '?zone=inline'])
  expect(consoleErrors.list()).toEqual([])
})

test('a banner has the height that is reserved for it', async ({ blank }) => {
  await addPlaceholders(blank, [
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

test('a banner is styled, has no script, and opens its link in a new tab', async ({
  blank,
  siteUrl,
}) => {
  await addPlaceholders(blank, [{ className: 'promo-ins', zone: 'banner' }])
  await addScript(blank)
  await serve(blank)
  const link = blank.frameLocator('iframe').getByRole('link')
  await expect(link).toHaveCSS('position', 'relative')
  await expect(blank.frameLocator('iframe').locator('script')).toHaveCount(0)
  const opened = blank.waitForEvent('popup')
  await link.click()
  await expect(await opened).toHaveURL(`${siteUrl}/`)
})

test('the page, its data and the frames of its ads have a policy each', async ({ siteUrl }) => {
  const policyOf = async (at: string) =>
    (await fetch(siteUrl + at)).headers.get('content-security-policy') ?? ''
  const page = await policyOf('/')
  expect(page).toMatch(/^default-src 'none';script-src 'self';style-src 'self' 'sha256-/)
  expect(page).toContain("frame-src 'self'")
  expect(page).not.toContain('unsafe')
  expect(await policyOf('/api/config')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
  const { placements } = await (await fetch(`${siteUrl}/api/promo/serve?zone=banner`)).json()
  const frame = await policyOf(placements[0].frame)
  expect(frame).toContain("frame-ancestors 'self'")
  expect(frame).toContain('sandbox allow-popups allow-popups-to-escape-sandbox')
})
