// The `test` for advertising: a site with the ads of the stand-in network, a stopped page clock,
// and locators of ads.
import type { Locator, Page } from '@playwright/test'
import type { ScriptVariant } from '../ad-network/script-variants.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect } from './expect.ts'
import { test as base } from './site.ts'

export { expect } from './expect.ts'
export { slowFilms } from './page-clock.ts'

/** Zone ids by kind of ad; the stand-in network answers each zone in its own way. */
export interface Zones {
  banner?: string
  inline?: string
  video?: string
}

/** What replaces the site's configuration. */
export interface AdsOverride {
  zones?: Zones
  script?: ScriptVariant
  /** Added to the URL of VAST. */
  vastQuery?: string
  fill?: 'frame' | 'creative'
}

const sessionId = 'ts-h264-aac-clean-hls-concat'
export const playerPath = `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/${sessionId}`
/** Longest time without a frame, after which a banner block is hidden. */
export const emptyBlockMs = 5000
/** Longest time for finding an ad, and for its video to start or to continue. */
export const adLimitMs = 5000

/** Recommendations load after the first frame of the recording, or after this time without one. */
export const recommendedMs = 1000

/** The page's clock is stopped: an ad is never late because the machine is busy. */
export const test = base.extend({
  siteUrl: async ({ networkSiteUrl }, provide) => provide(networkSiteUrl),
  pageClock: 'stopped',
})

/** Changes the ads in the configuration that the page loads, from the next navigation on. */
export async function overrideAds(
  page: Page,
  { zones, script, vastQuery, fill }: AdsOverride,
): Promise<void> {
  await page.route('**/api/config', async (route) => {
    const response = await route.fetch()
    const config = await response.json()
    if (zones) config.ads.zones = zones
    if (script) config.ads.scriptPath = `/api/proxy-ad/${script}/ad-provider.js`
    if (vastQuery) config.ads.vastUrl += vastQuery
    if (fill) config.ads.fill = fill
    await route.fulfill({ response, json: config })
  })
}

/** All ad blocks of a slot, also hidden ones. */
export function blocks(page: Page, slot: string): Locator {
  return page.locator(`[data-ad-block="${slot}"]`)
}

export function overlay(page: Page): Locator {
  return page.locator('[data-preroll]')
}

export function closeButton(page: Page): Locator {
  return overlay(page).getByRole('button', { name: /close|×/i })
}

/** The recording's video, not the ad's. */
export function mainVideo(page: Page): Locator {
  return page.locator('video:not([data-preroll] video)')
}

/** Position of the recording in seconds. */
export function position(page: Page): Promise<number> {
  return mainVideo(page).evaluate((video: HTMLVideoElement) => video.currentTime)
}

/** The recording waits, at its start. */
export async function expectHeld(page: Page): Promise<void> {
  await expect(mainVideo(page)).toHaveJSProperty('paused', true)
  expect(await position(page)).toBe(0)
}

/**
 * Nothing holds the recording any more although the clock is stopped; it plays once the clock runs.
 */
export async function expectPlaying(page: Page): Promise<void> {
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
  await expect(overlay(page)).toBeHidden()
  await page.clock.resume()
  await expect.poll(() => position(page)).toBeGreaterThan(0.2)
  await expect(overlay(page)).toBeHidden()
}
