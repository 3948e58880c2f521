// The security policy of the page allows what its ads need and nothing more.
import type { Page } from '@playwright/test'
import {
  blocks,
  closeButton,
  expect,
  expectPlaying,
  overlay,
  playerPath,
  position,
  slowFilms,
  test,
} from './ad-site.ts'

test('blocks nothing of the configured network', async ({ page }) => {
  await recordViolations(page)
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  await slowFilms(page)
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  await closeButton(page).click()
  await expectPlaying(page)
  expect(await violations(page)).toEqual([])
})

test('names the origins of network and VAST as configured', async ({ request, network }) => {
  const policy = (await request.get('/')).headers()['content-security-policy'] ?? ''
  expect(policy).toContain(network.url)
  expect(policy).toContain("object-src 'none'")
})

test('sends other sites only the origin, and grants no devices', async ({ request }) => {
  const headers = (await request.get('/')).headers()
  expect(headers['referrer-policy']).toBe('strict-origin-when-cross-origin')
  expect(headers['permissions-policy']).toMatch(/camera=\(\)/)
  expect(headers['permissions-policy']).not.toMatch(/autoplay=\(\)/)
})

test.describe('without ads', () => {
  test.use({ siteUrl: async ({ plainSiteUrl }, provide) => provide(plainSiteUrl) })

  test('stays strict', async ({ page, siteUrl }) => {
    const response = await fetch(siteUrl)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).not.toMatch(/unsafe|https:|\*/)
    await recordViolations(page)
    await page.goto(playerPath)
    await expectPlaying(page)
    await expect.poll(() => position(page)).toBeGreaterThan(0.5)
    await expect(page.locator('[data-ad-block], [data-preroll]')).toHaveCount(0)
    expect(await violations(page)).toEqual([])
  })
})

/** Records what the browser blocks because of the page's policy. */
async function recordViolations(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(globalThis, { violations: seen })
    document.addEventListener('securitypolicyviolation', (event) => {
      seen.push(`${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
}

function violations(page: Page): Promise<string[]> {
  return page.evaluate<string[]>('globalThis.violations')
}
