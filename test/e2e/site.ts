// The tests' `test`: one real server over the fixture library for each worker, and a page that fails on console errors.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test as base, type Page } from '@playwright/test'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { layOutLibrary } from './library.ts'
import { patienceMs } from '../support/patience.ts'

export { expect } from '@playwright/test'

/** What tests see of the page's console. */
export interface ConsoleErrors {
  /** Errors so far, but for pictures that were not there: those are the product's normal case. */
  list(): string[]
}

interface TestFixtures {
  consoleErrors: ConsoleErrors
}

interface WorkerFixtures {
  siteUrl: string
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  siteUrl: [
    // Playwright reads the names of what a fixture needs from the pattern, so an empty one says "nothing".
    // oxlint-disable-next-line no-empty-pattern
    async ({}, provide) => {
      const site = await startSite({})
      await provide(site.url)
      await site.stop()
    },
    { scope: 'worker', timeout: patienceMs },
  ],
  baseURL: async ({ siteUrl }, provide) => provide(siteUrl),
  consoleErrors: async ({ page }, provide) => provide(watchConsole(page)),
})

/** The real server over the fixture library, in a folder of its own that goes with it; `config` is its file. */
export async function startSite(config: object): Promise<Pick<StartedServer, 'url' | 'stop'>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-e2e-'))
  const library = path.join(folder, 'library')
  await layOutLibrary(library)
  const configFile = path.join(folder, 'aftercast.config.json')
  await writeFile(configFile, JSON.stringify(config))
  const args = [library, '--data', path.join(folder, 'data'), '--config', configFile]
  const server = await startServer({ args })
  return {
    url: server.url,
    async stop() {
      const code = await server.stop()
      await rm(folder, { recursive: true, force: true })
      return code
    },
  }
}

function watchConsole(page: Page): ConsoleErrors {
  const errors: string[] = []
  page.on('console', (message) => {
    const isFrame = message.location().url.includes('/api/thumbnail')
    // Playwright itself knocks at every frame; without it, Chromium has nothing to say of frames without scripts.
    const isKnock = message.text().includes('frame is sandboxed and the')
    if (message.type() === 'error' && !isFrame && !isKnock) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  return { list: () => errors }
}
