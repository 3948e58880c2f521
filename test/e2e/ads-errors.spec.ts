// Each cause of each VAST error code: which beacons get the code, each once, and the metric.
import type { Page } from '@playwright/test'
import { errorCases, simpleCauses } from '../ad-network/error-cases.ts'
import {
  adLimitMs,
  closeButton,
  expect,
  expectPlaying,
  overlay,
  overrideAds,
  playerPath,
  slowFilms,
  test as base,
} from './ad-site.ts'

const test = base.extend({
  siteUrl: async ({ measuredSite }, provide) => provide(measuredSite.url),
})

/** The parts of a pre-roll that are not run: it is shown nevertheless. */
const shownWith = '409'

/** Causes in the browser, not in what the network sends. */
const prepare: Record<string, () => void> = {
  'no-progress': () => {
    // oxlint-disable-next-line typescript/unbound-method
    const { play } = HTMLMediaElement.prototype
    HTMLMediaElement.prototype.play = async function (this: HTMLMediaElement) {
      if (!this.closest('[data-preroll]')) return play.call(this)
      Object.assign(this, { autoplay: false, preload: 'auto' })
      return new Promise(() => undefined)
    }
  },
  hidden: () => {
    addEventListener('DOMContentLoaded', () => {
      const style = new CSSStyleSheet()
      style.replaceSync('[data-preroll] { display: none !important }')
      document.adoptedStyleSheets.push(style)
    })
  },
  'broken-parser': () => {
    // oxlint-disable-next-line typescript/unbound-method
    const { parseFromString } = DOMParser.prototype
    let documents = 0
    DOMParser.prototype.parseFromString = function (this: DOMParser, ...given) {
      documents += 1
      if (documents > 1) throw new Error('replaced by an extension')
      return parseFromString.apply(this, given)
    }
  },
}

/** Causes that show when a time is over, and what the page is waiting for then. */
const waits: Record<string, (page: Page, requests: (path: string) => number) => Promise<boolean>> =
  {
    'next-hangs': async (_page, requests) => requests('/v1/vast.php') === 2,
    'file-hangs': async (_page, requests) => requests('/media/hanging.mp4') > 0,
    'no-progress': (page) =>
      overlay(page)
        .locator('video')
        .evaluate((video: HTMLVideoElement) => video.readyState === 4),
  }

test.describe.configure({ mode: 'parallel' })

for (const [code, cases] of Object.entries(errorCases)) {
  for (const { cause, beacons } of cases.filter((one) => !simpleCauses.has(one.cause))) {
    test(`sends ${code}: ${cause}`, async ({ page, network, measuredSite }) => {
      const before = await countErrors(measuredSite.metricsUrl)
      const change = prepare[cause]
      if (change) await page.addInitScript(change)
      if (code === shownWith) await slowFilms(page)
      await openWithCollector(page, `error-${cause}`)
      const isWaiting = waits[cause]
      if (isWaiting) {
        const requests = (path: string) => network.requests(path).length
        await expect.poll(() => isWaiting(page, requests)).toBe(true)
        await page.clock.runFor(adLimitMs)
      }

      const expected = ['wrapper-error', ...beacons].map((name) => `${name}=${code}`).toSorted()
      const errors = () => network.beacons().filter((beacon) => beacon.includes('error='))
      await expect.poll(() => errors().toSorted()).toEqual(expected)
      if (code === shownWith) {
        expect(await page.evaluate('globalThis.reports')).toEqual([])
        await closeButton(page).click()
      } else {
        expect(await page.evaluate('globalThis.reports')).toEqual([Number(code)])
        const counted = async () => increases(before, await countErrors(measuredSite.metricsUrl))
        await expect.poll(counted).toEqual({ [code]: 1 })
      }
      await expectPlaying(page)
      expect(errors().toSorted()).toEqual(expected)
    })
  }
}

/** Opens the player; the network responds once the collector receives the reports of the page. */
async function openWithCollector(page: Page, zone: string): Promise<void> {
  await overrideAds(page, { zones: { video: zone } })
  await page.addInitScript(recordReports)
  const collecting = Promise.withResolvers<void>()
  await page.route(
    '**/v1/vast.php*',
    async (route) => {
      await collecting.promise
      await route.continue()
    },
    { times: 1 },
  )
  await page.goto(playerPath)
  await expect.poll(() => page.evaluate('globalThis.isCollecting')).toBe(true)
  collecting.resolve()
}

/** Records the codes that the page reports, and whether the collector listens to them. */
function recordReports(): void {
  const reports: unknown[] = []
  Object.assign(globalThis, { reports, isCollecting: false })
  addEventListener('quality', (event) => {
    if (event instanceof CustomEvent && 'code' in event.detail) reports.push(event.detail.code)
  })
  // oxlint-disable-next-line typescript/unbound-method
  const listen = EventTarget.prototype.addEventListener
  EventTarget.prototype.addEventListener = function (this: EventTarget, type, ...given) {
    if (type === 'quality') Object.assign(globalThis, { isCollecting: true })
    listen.call(this, type, ...given)
  }
}

/** The counter of VAST errors by code. */
async function countErrors(metricsUrl: string): Promise<Record<string, number>> {
  const text = await (await fetch(metricsUrl)).text()
  const samples = text.matchAll(
    /^aftercast_vast_errors_total\{code="(?<code>\w+)"\} (?<count>\d+)$/gm,
  )
  return Object.fromEntries(
    [...samples].map(({ groups }) => [groups?.['code'] ?? '', Number(groups?.['count'])]),
  )
}

function increases(
  before: Record<string, number>,
  now: Record<string, number>,
): Record<string, number> {
  const grown = Object.entries(now).map(([code, count]) => [code, count - (before[code] ?? 0)])
  return Object.fromEntries(grown.filter(([, by]) => by !== 0))
}
