// Several sessions at the same moment on one page: they follow its video, one is heard, and the URL
// has them.
import type { Locator, Page } from '@playwright/test'
import { aroundApiPath, playerPagePath, sessionKey, watchPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { patienceMs } from '../support/patience.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, type TempLibrary } from '../support/temp-library.ts'
import { expectNoViolation, inBothSchemes } from './expect-no-violation.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { expect, test } from './site.ts'
import { position, seek } from './video-position.ts'

const date = '2026-01-31'
const named = (streamer: string): SessionReference => ({ streamer, date, sessionId: 'talk' })
const [alice, bob, carol] = [named('alice'), named('bob'), named('carol')]
/** When they began, in seconds after the first one. Each has four minutes. */
const starts = new Map([
  [alice, 0],
  [bob, 30],
  [carol, -20.5],
])
const phone = { width: 360, height: 780 }

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  library = await createTempLibrary('views')
  for (const [{ streamer }, seconds] of starts) {
    for (const part of ['1', '2', '3', '4']) {
      await library.place(`${streamer}/${date}/talk/${part}.mkv`, 'mkv-h264-aac-60s.mkv')
    }
    const timestamp = Date.UTC(2026, 0, 31, 20) / 1000 + seconds
    const chapters = [{ start_time: 0, title: 'Beginning' }]
    const info = JSON.stringify({ title: `Live with ${streamer}`, timestamp, chapters })
    await library.place(`${streamer}/${date}/talk/talk.info.json`, Buffer.from(info))
  }
  server = await startServer({ args: library.args, environment: { AFTERCAST_WORKERS: '1' } })
  const isKnown = async () => (await fetch(server.url + aroundApiPath(alice))).text()
  await expect.poll(isKnown, { timeout: patienceMs }).toMatch(/bob.*carol|carol.*bob/)
})

test.afterAll(async () => {
  await server.stop()
  await library.remove()
})

test('a session is added from the list, and the video continues', async ({ page }) => {
  const video = await open(page, playerPagePath(alice))
  await seek(video, 100)
  await page.getByRole('button', { name: 'Watch together' }).last().click()
  await expect(page).toHaveURL(server.url + watchPagePath(alice) + withViews(bob))
  expect(await position(video)).toBeGreaterThan(99)
  await expectTogether(video, viewOf(page, bob), 30)
  // The one that is shown is not offered again.
  await page.getByRole('button', { name: 'Watch together' }).click()
  await expect(page.getByRole('button', { name: 'Watch together' })).toHaveCount(0)
  await expect(page).toHaveURL(server.url + watchPagePath(alice) + withViews(bob, carol))
  await expectTogether(video, viewOf(page, carol), -20.5)
  await page.reload()
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  await seek(video, 100)
  await expectTogether(video, viewOf(page, bob), 30)
  await page.getByRole('button', { name: 'Close bob' }).click()
  await expect(page).toHaveURL(server.url + watchPagePath(alice) + withViews(carol))
  await expect(page.locator('video')).toHaveCount(2)
})

test('the video continues where its session was not the first one of the page', async ({
  page,
}) => {
  const video = await open(page, playerPagePath(bob))
  const around = page.getByRole('list', { name: 'At the same time' })
  await around.getByRole('link', { name: 'alice' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('alice')
  await around.getByRole('button', { name: 'Watch together' }).last().waitFor()
  await seek(video, 100)
  await expect.poll(() => position(video)).toBeGreaterThan(100)
  const restarts = await video.evaluateHandle((element: HTMLVideoElement) => {
    const types: string[] = []
    element.addEventListener('emptied', ({ type }) => types.push(type))
    return types
  })
  await around.getByRole('button', { name: 'Watch together' }).last().click()
  await expectTogether(video, viewOf(page, bob), 30)
  await page.goBack()
  await expect(page.locator('video')).toHaveCount(1)
  expect(await position(video)).toBeGreaterThan(100)
  expect(await restarts.jsonValue()).toEqual([])
})

test('a view that was recorded continues after the end that it had at first', async ({ page }) => {
  await page.route(`**${aroundApiPath(alice)}`, async (route) => {
    const response = await route.fetch()
    const { sessions } = await response.json()
    const shorter = sessions.map((other: object) => ({ ...other, durationSeconds: 60 }))
    await route.fulfill({ response, json: { sessions: shorter } })
  })
  const video = await open(page, watchPagePath(alice) + withViews(bob))
  await seek(video, 60)
  await expectTogether(video, viewOf(page, bob), 30)
  await seek(video, 150)
  await expectTogether(video, viewOf(page, bob), 30)
  await expect(page.getByText('Not recorded at this moment')).toHaveCount(0)
})

test('a view follows pause, seek and speed', async ({ page }) => {
  const video = await open(page, watchPagePath(alice) + withViews(bob))
  const view = viewOf(page, bob)
  await seek(video, 90)
  await expectTogether(video, view, 30)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await expect(view).toHaveJSProperty('paused', true)
  await seek(video, 150)
  await expect.poll(() => position(view)).toBeCloseTo((await position(video)) - 30, 1)
  await video.evaluate(async (element: HTMLVideoElement) => {
    element.playbackRate = 2
    await element.play()
  })
  await expectTogether(video, view, 30)
  expect(await view.evaluate((element: HTMLVideoElement) => element.playbackRate)).toBeCloseTo(2, 0)
  // Before it began.
  await seek(video, 10)
  await expect(page.getByText('Not recorded at this moment')).toBeVisible()
  await expect(view).toHaveJSProperty('paused', true)
  await seek(video, 60)
  await expect(page.getByText('Not recorded at this moment')).toHaveCount(0)
  await expectTogether(video, view, 30)
})

test('one view is heard', async ({ page }) => {
  const video = await open(page, watchPagePath(alice) + withViews(bob, carol))
  const heard = async () =>
    Promise.all(
      [video, viewOf(page, bob), viewOf(page, carol)].map((one) =>
        one.evaluate((element: HTMLVideoElement) => !element.muted),
      ),
    )
  const unmute = page.getByRole('button', { name: 'Unmute' })
  if (await unmute.isVisible()) await unmute.click()
  await expect.poll(heard).toEqual([true, false, false])
  const sounds = page.getByRole('button', { name: 'Sound' })
  await sounds.first().click()
  await expect.poll(heard).toEqual([false, true, false])
  await viewOf(page, carol).click()
  await expect.poll(heard).toEqual([false, false, true])
  await expect(sounds.last()).toHaveAttribute('aria-pressed', 'true')
  await video.evaluate((element: HTMLVideoElement) => void (element.volume = 0.25))
  await expect(viewOf(page, carol)).toHaveJSProperty('volume', 0.25)
  await video.evaluate((element: HTMLVideoElement) => void (element.muted = false))
  await expect.poll(heard).toEqual([true, false, false])
  await sounds.first().click()
  await page.getByRole('button', { name: 'Close bob' }).click()
  const isMuted = () => video.evaluate((element: HTMLVideoElement) => element.muted)
  await expect.poll(isMuted).toBe(false)
  // A video that the visitor has muted stays so.
  await video.evaluate((element: HTMLVideoElement) => void (element.muted = true))
  await sounds.click()
  await expect(sounds).toHaveAttribute('aria-pressed', 'true')
  await sounds.click()
  await expect(sounds).toHaveAttribute('aria-pressed', 'false')
  expect(await isMuted()).toBe(true)
})

test('a correction of a view is in the URL', async ({ page }) => {
  const video = await open(page, watchPagePath(alice) + withViews(bob))
  await seek(video, 100)
  await expectTogether(video, viewOf(page, bob), 30)
  await page.getByRole('spinbutton', { name: 'Offset' }).fill('-2.5')
  await expect(page).toHaveURL(`${server.url}${watchPagePath(alice)}${withViews(bob)}%40-2.5`)
  await expectTogether(video, viewOf(page, bob), 27.5)
  await page.reload()
  await expect(page.getByRole('spinbutton', { name: 'Offset' })).toHaveValue('-2.5')
})

test('a phone shows one session, and switches at the same moment', async ({ page }) => {
  await page.setViewportSize(phone)
  const adRequests = await countAdRequests(page)
  const video = await open(page, watchPagePath(alice) + withViews(bob, carol))
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await seek(video, 120)
  await expect(page.locator('video')).toHaveCount(1)
  await page.getByRole('button', { name: 'bob', exact: true }).click()
  await expect(page).toHaveURL(
    `${server.url}${watchPagePath(bob)}${withViews(alice, carol)}&t=90.0`,
  )
  await expect.poll(() => position(video)).toBeGreaterThanOrEqual(90)
  await expect(page.getByRole('button', { name: 'bob', exact: true })).toHaveAttribute(
    'aria-pressed',
    'true',
  )
  // The pre-roll is that of the page.
  expect(adRequests()).toBe(1)
})

test('a session that has no known time is not aligned, and can be closed', async ({ page }) => {
  await open(page, watchPagePath(alice) + withViews(named('nobody')))
  await expect(page.getByText('Not recorded at this moment')).toBeVisible()
  await page.getByRole('button', { name: 'Close nobody' }).click()
  await expect(page.locator('video')).toHaveCount(1)
})

test('no chapter is over a view', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 1000 })
  await open(page, watchPagePath(alice) + withViews(bob))
  await expect(viewOf(page, bob)).toBeVisible()
  const bottomOf = async (locator: Locator) => {
    const { y, height } = (await locator.boundingBox()) ?? { y: NaN, height: NaN }
    return y + height
  }
  const chapters = page.getByRole('list', { name: 'Chapters' })
  const viewBottom = await bottomOf(viewOf(page, bob))
  await expect.poll(async () => (await chapters.boundingBox())?.y).toBeGreaterThan(viewBottom)
})

test.describe('with the page clock stopped', () => {
  // The controls wait for the views, but not for long.
  test.use({ pageClock: 'stopped' })

  for (const width of [360, 768, 1440]) {
    test(`moves nothing when the views appear: ${width} px`, async ({ page }) => {
      await page.addInitScript(recordLayoutShifts)
      await page.setViewportSize({ width, height: 1000 })
      const released = Promise.withResolvers<void>()
      await page.route('**/api/around/**', async (route) => {
        await released.promise
        await route.continue()
      })
      await open(page, watchPagePath(alice) + withViews(bob, carol))
      await expect(page.locator('[role=slider]')).toBeAttached()
      released.resolve()
      await expect(page.getByRole('region', { name: 'Views' })).toBeVisible()
      await expect(page.getByRole('slider')).toBeVisible()
      expect(await layoutShift(page)).toBe(0)
    })
  }

  test('the controls are there without the views', async ({ page }) => {
    await page.route('**/api/around/**', () => undefined)
    await open(page, watchPagePath(alice) + withViews(bob))
    await expect(page.locator('[role=slider]')).toBeAttached()
    await expect(page.getByRole('slider')).toHaveCount(0)
    await page.clock.runFor(2000)
    await expect(page.getByRole('slider')).toBeVisible()
  })
})

test('fits, without a violation of WCAG: light and dark, in all widths', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 1000 })
  await open(page, watchPagePath(alice) + withViews(bob, carol))
  await expect(page.locator('[data-player]')).toHaveAttribute('data-settled')
  for (const width of [1440, 768, 360]) {
    await page.setViewportSize({ width, height: 1000 })
    await expect(page.locator('video')).toHaveCount(width === 360 ? 1 : 3)
    await expect(page.getByRole('region', { name: 'Views' })).toBeVisible()
    await inBothSchemes(page, async () => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(wide, `${width} px`).toBeLessThanOrEqual(0)
      await expectNoViolation(page, 'main')
    })
  }
})

function withViews(...sessions: SessionReference[]): string {
  return `?${new URLSearchParams({ with: sessions.map(sessionKey).join(',') })}`
}

function viewOf(page: Page, { streamer }: SessionReference): Locator {
  return page.locator(`video[aria-label^="${streamer} - Live"]`)
}

/** A pre-roll without an ad; returns how often it was asked for. */
async function countAdRequests(page: Page): Promise<() => number> {
  const ads = { provider: 'network', insClass: 'x', vastUrl: '/vast/{zone}', zones: { video: '1' } }
  await page.route('**/api/config', (route) => route.fulfill({ json: { ads } }))
  let requests = 0
  await page.route('**/vast/1*', (route) => {
    requests += 1
    return route.fulfill({ contentType: 'text/xml', body: '<VAST version="3.0"/>' })
  })
  return () => requests
}

/** Both play, and the view is where it should be. */
async function expectTogether(video: Locator, view: Locator, offsetSeconds: number): Promise<void> {
  await expect(view).toHaveJSProperty('paused', false)
  const other = await view.elementHandle()
  const drift = () =>
    video.evaluate(
      (main: HTMLVideoElement, { element, offset }) => {
        if (!(element instanceof HTMLVideoElement) || element.seeking || main.seeking) return 9
        return Math.abs(main.currentTime - offset - element.currentTime)
      },
      { element: other, offset: offsetSeconds },
    )
  await expect.poll(drift).toBeLessThan(0.1)
}

/** Opens a page, and plays it. */
async function open(page: Page, path: string): Promise<Locator> {
  await page.goto(server.url + path)
  const video = page.locator('[data-player] > :first-child video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  return video
}
