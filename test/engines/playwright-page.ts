// Chromium and stock Firefox, driven by Playwright.
import { firefox, type Browser } from '@playwright/test'
import type { EnginePage } from './engine-page.ts'
import { patienceMs } from '../support/patience.ts'

/** A page of its own in a running browser. */
export async function openPlaywrightPage(browser: Browser): Promise<EnginePage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  return {
    open: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    click: (xpath) => page.locator(`xpath=${xpath}`).click({ timeout: patienceMs }),
    // `fill` over BiDi changes the value of an input, of which React learns nothing.
    type: (xpath, text) =>
      page.locator(`xpath=${xpath}`).pressSequentially(text, { timeout: patienceMs }),
    close: () => context.close(),
  }
}

/** A page in an unpatched Firefox, over WebDriver BiDi. */
export async function openFirefoxPage(executablePath: string): Promise<EnginePage> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath })
  const page = await openPlaywrightPage(browser)
  return {
    ...page,
    async hideWhile(work) {
      await page.evaluate(`void (window.front = window.open('about:blank'))`)
      await work()
      await page.evaluate('window.front.close()')
    },
    close: () => browser.close(),
  }
}
