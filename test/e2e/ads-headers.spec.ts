// The policy that the page is sent is as wide as its ads need and no wider: nothing that belongs is refused by the browser.
import type { Page } from '@playwright/test'
import { blocks, closeButton, expect, overlay, playerPath, position, test } from './ad-site.ts'
import { startSite } from './site.ts'
import { patienceMs } from '../support/patience.ts'

test('refuses nothing of the network that it is configured with', async ({ page }) => {
  await watchRefusals(page)
  await page.goto('/')
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  await page.goto(playerPath)
  await expect(overlay(page)).toBeVisible()
  await closeButton(page).click()
  await expect.poll(() => position(page), { timeout: patienceMs }).toBeGreaterThan(0.5)
  expect(await refusals(page)).toEqual([])
})

test('names the origins of network and VAST as they are written', async ({ request, network }) => {
  const policy = (await request.get('/')).headers()['content-security-policy'] ?? ''
  expect(policy).toContain(network.url)
  expect(policy).toContain("object-src 'none'")
})

test('tells other sites no more than the origin, and gives no one devices', async ({ request }) => {
  const headers = (await request.get('/')).headers()
  expect(headers['referrer-policy']).toBe('strict-origin-when-cross-origin')
  expect(headers['permissions-policy']).toMatch(/camera=\(\)/)
  expect(headers['permissions-policy']).not.toMatch(/autoplay=\(\)/)
})

test('stays strict where there are no ads', async ({ page }) => {
  const site = await startSite({ ads: { provider: 'none' } })
  try {
    const answer = await fetch(site.url)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).not.toMatch(/unsafe|https:|\*/)
    await watchRefusals(page)
    await page.goto(`${site.url}${playerPath}`)
    await expect.poll(() => position(page), { timeout: patienceMs }).toBeGreaterThan(0.5)
    await expect(page.locator('[data-ad-block], [data-preroll]')).toHaveCount(0)
    expect(await refusals(page)).toEqual([])
  } finally {
    await site.stop()
  }
})

/** Keeps what the browser refuses because of the page's policy. */
async function watchRefusals(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(globalThis, { refusals: seen })
    document.addEventListener('securitypolicyviolation', (event) => {
      seen.push(`${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
}

function refusals(page: Page): Promise<string[]> {
  return page.evaluate<string[]>('globalThis.refusals')
}
