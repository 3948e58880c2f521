// The `test` of all browser tests. Servers and the ad network are worker fixtures of this one
// `test`: all files share them, and Playwright starts no new worker from file to file.
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { test as base, type Page } from '@playwright/test'
import { startAdNetwork, type AdNetwork } from '../ad-network/ad-network.ts'
import { endAll } from '../support/after-tests.ts'
import { patienceMs } from '../support/patience.ts'
import { findFreePort } from '../support/servers/free-port.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { networkAds } from './network-ads.ts'
import { indexedLibrary } from './indexed-library.ts'
import { stopClock } from './page-clock.ts'

export { expect } from './expect.ts'

/** Errors in the page's console. */
export interface ConsoleErrors {
  /** Errors so far, except missing thumbnails: those are normal. */
  list(): string[]
}

interface TestFixtures {
  /** `stopped`: timers of the page run only where the test advances `page.clock`. */
  pageClock: 'running' | 'stopped'
  /** The site under test; also the `baseURL`. */
  siteUrl: string
  /** The ad network without recorded requests. */
  network: AdNetwork
  consoleErrors: ConsoleErrors
}

/** A site with the ads of the stand-in network, and metrics. */
export interface MeasuredSite {
  url: string
  metricsUrl: string
}

interface WorkerFixtures {
  /** What files start or make ends with the worker. */
  ending: void
  plainSiteUrl: string
  sharedNetwork: AdNetwork
  networkSiteUrl: string
  measuredSite: MeasuredSite
  houseSiteUrl: string
  /** With house ads and links to recordings, below a base path. */
  basePathSiteUrl: string
  analyticsSiteUrl: string
  /** With a height that is encoded on demand. */
  encodingSiteUrl: string
}

const workerScope = { scope: 'worker', timeout: patienceMs } as const

export const test = base.extend<TestFixtures, WorkerFixtures>({
  ending: [
    // Playwright reads the dependencies of a fixture from the pattern: an empty one means none.
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      await provide()
      await endAll()
    },
    { ...workerScope, auto: true },
  ],
  plainSiteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => provideSite({ ads: { provider: 'none' } }, provide, '2'),
    workerScope,
  ],
  sharedNetwork: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const network = await startAdNetwork()
      await provide(network)
      await network.close()
    },
    workerScope,
  ],
  networkSiteUrl: [
    async ({ sharedNetwork }, provide) => provideSite({ ads: networkAds(sharedNetwork) }, provide),
    workerScope,
  ],
  measuredSite: [
    async ({ sharedNetwork }, provide) => {
      const metrics = `127.0.0.1:${await findFreePort()}`
      await provideSite(
        { ads: networkAds(sharedNetwork), server: { metrics } },
        (url) => provide({ url, metricsUrl: `http://${metrics}/metrics` }),
        '2',
      )
    },
    workerScope,
  ],
  houseSiteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => provideSite({ ads: { provider: 'house' } }, provide),
    workerScope,
  ],
  basePathSiteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) =>
      provideSite(
        { server: { basePath: '/tv' }, ads: { provider: 'house' }, page: { download: true } },
        provide,
      ),
    workerScope,
  ],
  analyticsSiteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) =>
      provideSite({ analytics: { ga4: 'G-TEST1', plausible: 'site.example' } }, provide),
    workerScope,
  ],
  encodingSiteUrl: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) =>
      provideSite({ ads: { provider: 'none' }, renditions: { video: ['360p'] } }, provide),
    workerScope,
  ],
  siteUrl: async ({ plainSiteUrl }, provide) => provide(plainSiteUrl),
  baseURL: async ({ siteUrl }, provide) => provide(siteUrl),
  network: async ({ sharedNetwork }, provide) => {
    sharedNetwork.reset()
    await provide(sharedNetwork)
  },
  pageClock: ['running', { option: true }],
  page: async ({ page, pageClock }, provide) => {
    if (pageClock === 'stopped') await stopClock(page)
    await provide(page)
  },
  consoleErrors: async ({ page }, provide) => provide(watchConsole(page)),
})

/**
 * A server over the indexed library, with data of its own. It is one process unless `workers` says
 * otherwise: each process costs a second of a processor.
 */
export async function startSite(settings: object, workers = '1'): Promise<StartedServer> {
  const indexed = indexedLibrary()
  const data = path.join(makeTempFolder('site'), 'data')
  await cp(indexed.data, data, { recursive: true })
  return startServer({
    args: [indexed.library, '--data', data],
    settings,
    environment: { AFTERCAST_WORKERS: workers },
  })
}

async function provideSite(
  settings: object,
  provide: (url: string) => Promise<void>,
  workers?: string,
): Promise<void> {
  const site = await startSite(settings, workers)
  await provide(site.url)
  await site.stop()
}

function watchConsole(page: Page): ConsoleErrors {
  const errors: string[] = []
  page.on('console', (message) => {
    const isThumbnail = message.location().url.includes('/api/thumbnail')
    // Playwright evaluates scripts in every frame, and Chromium reports that a sandboxed frame
    // refuses them.
    const isSandboxed = message.text().includes('frame is sandboxed and the')
    if (message.type() === 'error' && !isThumbnail && !isSandboxed) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  return { list: () => errors }
}
