// The production build, served by the program itself to a real browser, ads off.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import type { Browser, Page } from '@playwright/test'
import { findChromium } from '../../scripts/find/find-chromium.mjs'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Indexes of 10,000 recordings may have to be made. */
const READY_WITHIN_MS = 300_000

/** Indexes a library, and serves it on `port` (0: any). The data is cached between runs. */
export async function serveLibrary(library: string, port = 0): Promise<StartedServer> {
  const data = `${library}-data`
  mkdirSync(data, { recursive: true })
  return startServer({
    args: [library, '--data', data, '--port', String(port)],
    readyWithinMs: READY_WITHIN_MS,
  })
}

/**
 * Indexes what is new in a library, so that no work in the background disturbs what is measured.
 */
export function indexLibrary(library: string): void {
  const program = path.join(ROOT, 'server/main.ts')
  const args = [program, 'scan', library, '--data', `${library}-data`]
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the library could not be indexed')
}

export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--autoplay-policy=no-user-gesture-required',
  '--enable-precise-memory-info',
]

/** @throws Error where there is no Chromium */
export function chromiumPath(): string {
  const found = findChromium()
  if (found === undefined) throw new Error('The page is measured in Chromium: install it.')
  return found
}

/** @throws Error where there is no Chromium */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: chromiumArguments })
}

/** Runs in a fresh tab: no cache, no open connection. */
export async function inNewTab<T>(
  browser: Browser,
  url: string,
  visit: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ baseURL: url })
  try {
    return await visit(await context.newPage())
  } finally {
    await context.close()
  }
}
