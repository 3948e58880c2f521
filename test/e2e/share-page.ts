// One visit for several tests: a page in a new context costs twice as much as one that is open.
import type { Page } from '@playwright/test'
import { test } from './site.ts'

/**
 * Gives all tests of the `describe` block that calls this the same `page`. They run in order in one
 * worker. The first one after a failure has a new page. `open` prepares a page, `reset` is called
 * before each test.
 */
export function sharePage(
  open?: (page: Page) => Promise<unknown>,
  reset?: (page: Page) => Promise<void>,
): void {
  let shared: Page
  test.describe.configure({ mode: 'default' })
  test.beforeAll(async ({ browser, siteUrl }) => {
    shared = await browser.newPage({ baseURL: siteUrl })
    await open?.(shared)
  })
  test.afterAll(async () => shared.close())
  test.use({
    // oxlint-disable-next-line no-empty-pattern
    page: async ({}, provide) => {
      await reset?.(shared)
      await provide(shared)
    },
  })
}
