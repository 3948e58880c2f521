// Control of the page's clock, so that no test depends on how long the machine takes.
import type { Page } from '@playwright/test'

const startMs = Date.UTC(2026, 5, 1)
/** `pauseAt` must be in the future of `install`. */
const marginMs = 3_600_000

/**
 * Stops the clock of all pages in the context, before the first one is opened. A timer of the page
 * fires only when the test calls `page.clock.runFor`, `fastForward` or `resume`. Media and network
 * are not affected.
 */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: startMs - marginMs })
  await page.clock.pauseAt(startMs)
}

/** No pre-roll of the page ends before the test is ready for it, however late the test comes. */
export async function slowFilms(page: Page): Promise<void> {
  await page.addInitScript(() => {
    // oxlint-disable-next-line typescript/unbound-method
    const { play } = HTMLMediaElement.prototype
    HTMLMediaElement.prototype.play = async function (this: HTMLMediaElement) {
      // The lowest rate of Chromium.
      if (this.closest('[data-preroll]')) this.playbackRate = 1 / 16
      return play.call(this)
    }
  })
}
