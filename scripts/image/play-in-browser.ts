// Plays the player page at an address in headless Chromium.
import { chromium } from '@playwright/test'
import { findHeadlessChromium } from '../programs.mjs'

const PLAYED_SECONDS = 1
const TIMEOUT_MS = 60_000
const POLL_MS = 250

/** Rejects if the video has not played for a second within a minute. */
export async function playInBrowser(url: string): Promise<void> {
  const executablePath = findHeadlessChromium()
  if (executablePath === undefined) throw new Error('there is no Chromium')
  const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required']
  const browser = await chromium.launch({ executablePath, args })
  try {
    const page = await browser.newPage()
    await page.goto(url)
    const deadlineMs = Date.now() + TIMEOUT_MS
    const video = page.locator('video')
    const readPosition = async (): Promise<number> =>
      video.evaluate((element: object) => Number(Reflect.get(element, 'currentTime')))
    while ((await readPosition()) < PLAYED_SECONDS) {
      if (Date.now() > deadlineMs) throw new Error('the video does not play')
      await page.waitForTimeout(POLL_MS)
    }
  } finally {
    await browser.close()
  }
}
