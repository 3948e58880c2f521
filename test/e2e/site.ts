// The `test` of all browser tests. Servers and the ad network are worker fixtures of this one
// `test`: all files share them, and Playwright starts no new worker from file to file.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test as base, type Page } from '@playwright/test'
import { startAdNetwork, type AdNetwork } from '../ad-network/ad-network.ts'
import { patienceMs } from '../support/patience.ts'
import { findFreePort } from '../support/servers/free-port.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
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
  plainSiteUrl: string
  sharedNetwork: AdNetwork
  networkSiteUrl: string
  measuredSite: MeasuredSite
  houseSiteUrl: string
  /** With house ads, below a base path. */
  basePathSiteUrl: string
  analyticsSiteUrl: string
  /** With a height that is encoded on demand. */
  encodingSiteUrl: string
}

const workerScope = { scope: 'worker', timeout: patienceMs } as const

export const test = base.extend<TestFixtures, WorkerFixtures>({
  plainSiteUrl: [
    // Playwright reads the dependencies of a fixture from the pattern: an empty one means none.
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) =>
      provideSite({ ads: { provider: 'none' }, server: { workers: 2 } }, provide),
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
        { ads: networkAds(sharedNetwork), server: { metrics, workers: 2 } },
        (url) => provide({ url, metricsUrl: `http://${metrics}/metrics` }),
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
      provideSite({ server: { basePath: '/tv' }, ads: { provider: 'house' } }, provide),
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

/** The content of a config file. */
interface SiteConfig {
  server?: object
  [section: string]: object | undefined
}

/**
 * A server over the indexed library, with data of its own. It is one process unless `config` has
 * another number: each process costs a second of a processor.
 */
export async function startSite(config: SiteConfig): Promise<Pick<StartedServer, 'url' | 'stop'>> {
  const indexed = indexedLibrary()
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-site-'))
  const data = path.join(folder, 'data')
  await cp(indexed.data, data, { recursive: true })
  const configFile = path.join(folder, 'aftercast.config.json')
  const server = { workers: 1, ...config.server }
  await writeFile(configFile, JSON.stringify({ ...config, server }))
  const args = [indexed.library, '--data', data, '--config', configFile]
  const started = await startServer({ args, environment: { AFTERCAST_WORKERS: '2' } })
  return {
    url: started.url,
    async stop() {
      const code = await started.stop()
      await rm(folder, { recursive: true, force: true })
      return code
    },
  }
}

async function provideSite(
  config: SiteConfig,
  provide: (url: string) => Promise<void>,
): Promise<void> {
  const site = await startSite(config)
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
