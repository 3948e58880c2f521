// The tests' `test` for advertising: a site that takes its ads from a stand-in network, and what a visitor sees of them.
import type { Locator, Page } from '@playwright/test'
import { insClass, startAdNetwork, type AdNetwork } from '../ad-network/ad-network.ts'
import type { ScriptVariant } from '../ad-network/script-variants.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { startSite, test as base } from './site.ts'
import { patienceMs } from '../support/patience.ts'

export { expect } from '@playwright/test'

/** Zones that the site is configured with; a test may ask for others. */
export interface Zones {
  banner?: string
  inline?: string
  video?: string
}

/** What the page is told in place of what the site is configured with. */
export interface Placement {
  zones?: Zones
  script?: ScriptVariant
  fill?: 'frame' | 'creative'
}

interface TestFixtures {
  /** The network, its record empty. */
  network: AdNetwork
}

interface WorkerFixtures {
  sharedNetwork: AdNetwork
}

export const playerPath = `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/ts-h264-aac-clean-hls-concat`
const usualZones = { banner: 'frame', inline: 'frame', video: 'plain' }

export const test = base.extend<TestFixtures, WorkerFixtures>({
  sharedNetwork: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const network = await startAdNetwork()
      await provide(network)
      await network.close()
    },
    { scope: 'worker', timeout: patienceMs },
  ],
  siteUrl: [
    async ({ sharedNetwork }, provide) => {
      const site = await startSite({ ads: networkAds(sharedNetwork) })
      await provide(site.url)
      await site.stop()
    },
    { scope: 'worker', timeout: patienceMs },
  ],
  network: async ({ sharedNetwork }, provide) => {
    sharedNetwork.reset()
    await provide(sharedNetwork)
  },
})

/** The configuration of a site that shows the network's ads: nothing but what an operator writes. */
export function networkAds({ url, variantUrls }: AdNetwork): object {
  const variants = [...variantUrls].map(([name, address]) => [
    name,
    { url: address, allowPrivate: true },
  ])
  return {
    provider: 'network',
    scriptHost: 'standin',
    hosts: { standin: { url, allowPrivate: true }, ...Object.fromEntries(variants) },
    insClass,
    vastUrl: `${url}/v1/vast.php?idzone={zone}`,
    zones: usualZones,
  }
}

/** Changes what the page is told of its ads, from the next page load on. */
export async function place(page: Page, { zones, script, fill }: Placement): Promise<void> {
  await page.route('**/api/config', async (route) => {
    const answer = await route.fetch()
    const config = await answer.json()
    if (zones) config.ads.zones = zones
    if (script) config.ads.scriptPath = `/api/proxy-ad/${script}/ad-provider.js`
    if (fill) config.ads.fill = fill
    await route.fulfill({ response: answer, json: config })
  })
}

/** All ad blocks of a place, also hidden ones. */
export function blocks(page: Page, where: string): Locator {
  return page.locator(`[data-ad-block="${where}"]`)
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
