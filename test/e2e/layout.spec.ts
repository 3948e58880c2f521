// The layout of the pages: alignment, long names, right-to-left names, narrow windows.
import type { Locator, Page } from '@playwright/test'
import { setColors } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'

const sessionsPath = `/s/${encodeURIComponent(fixtureStreamer)}`
const sessionPath = `${encodeURIComponent(fixtureStreamer)}/${fixtureDate}`
const playerPath = `/p/${sessionPath}/mp4-h264-aac-moov-first`

/** Opens a page for the tests of a block. Each starts at the top, in the usual size. */
function shareAt(path: string): void {
  sharePage(
    async (page) => {
      await page.goto(path)
      await expect(page.getByRole('listitem').first()).toBeVisible()
    },
    async (page) => {
      await page.setViewportSize({ width: 1280, height: 720 })
      await page.evaluate(() => scrollTo(0, 0))
    },
  )
}

async function expectNoSidewaysScroll(page: Page, expectMore = async () => {}): Promise<void> {
  for (const width of [320, 390, 1440]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await expectMore()
  }
}

test.describe('the page of streamers', () => {
  shareAt('/')

  test('aligns the search box with the cards on a phone', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    const card = await boxOf(page.getByRole('listitem').first())
    const search = await boxOf(page.getByRole('search').getByRole('searchbox'))
    expect([search.x, search.width]).toEqual([card.x, card.width])
  })

  test('does not scroll sideways', async ({ page }) => expectNoSidewaysScroll(page))

  test('has stronger colours where the visitor prefers contrast', async ({ page }) => {
    const textColour = () =>
      page
        .getByRole('listitem')
        .first()
        .locator('p')
        .evaluate((detail) => getComputedStyle(detail).color)
    await setColors(page, { colorScheme: 'dark', contrast: 'no-preference' })
    const usual = await textColour()
    await setColors(page, { colorScheme: 'dark', contrast: 'more' })
    await expect.poll(textColour).not.toBe(usual)
  })
})

test.describe('the page of sessions', () => {
  shareAt(sessionsPath)

  test('does not scroll sideways, and centres Back on the first line', async ({ page }) => {
    await expectNoSidewaysScroll(page, () => expectBackCentred(page))
  })

  test('has thumbnails of one shape for recordings of all shapes', async ({ page }) => {
    const portrait = page.locator('img[src*="portrait"]')
    await portrait.scrollIntoViewIfNeeded()
    // Its own shape, not that of a placeholder.
    await expect.poll(() => portrait.evaluate(isHigh)).toBe(true)
    const shapes = await page.locator('main li img').evaluateAll((images) =>
      images.map((image) => {
        const { width, height } = image.parentElement?.getBoundingClientRect() ?? new DOMRect()
        return (width / height).toFixed(2)
      }),
    )
    expect(new Set(shapes)).toEqual(new Set(['1.78']))
  })
})

test.describe('the page of a player', () => {
  shareAt(playerPath)

  test('does not scroll sideways, and centres Back on the first line', async ({ page }) => {
    await expectNoSidewaysScroll(page, () => expectBackCentred(page))
  })

  test('shows the video first in low windows', async ({ page }) => {
    await expect(page.getByRole('slider')).toBeVisible()
    for (const [width, height] of [
      [844, 390],
      [720, 450],
    ] as const) {
      await page.setViewportSize({ width, height })
      const video = await boxOf(page.locator('video'))
      expect(video.y).toBeGreaterThan(0)
      expect(video.y + video.height).toBeLessThan(height)
      const title = await boxOf(page.getByRole('heading', { level: 1 }))
      const recommended = await boxOf(page.getByRole('heading', { name: 'Recommended' }))
      expect(title.y).toBeGreaterThan(video.y + video.height)
      expect(recommended.y).toBeGreaterThan(title.y + title.height)
      const home = await boxOf(page.getByRole('link', { name: 'Home' }))
      expect(home.y).toBeGreaterThan(recommended.y)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    }
  })
})

async function expectBackCentred(page: Page): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 })
  const back = await boxOf(page.getByRole('button', { name: 'Back' }))
  const title = await boxOf(heading)
  const lineHeight = await heading.evaluate((element) =>
    Number.parseFloat(getComputedStyle(element).lineHeight),
  )
  expect(back.x + back.width).toBeLessThan(title.x)
  expect(Math.abs(back.y + back.height / 2 - (title.y + lineHeight / 2))).toBeLessThan(2)
}

test('shows sessions as rows on a phone: image left, text right', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(sessionsPath)
  const card = page.getByRole('listitem').filter({ hasText: 'mp4-h264-aac-moov-first' })
  const [row, image, date] = await Promise.all([
    boxOf(card),
    boxOf(card.locator('img')),
    boxOf(card.getByRole('heading')),
  ])
  expect(row.height).toBeLessThan(120)
  // Also before it is near the viewport: otherwise what is below it would move.
  expect((await boxOf(page.getByRole('listitem').last())).height).toBeCloseTo(row.height, 0)
  expect(image.x + image.width).toBeLessThan(date.x)
  // Play is on the image, and the whole row is its link.
  const play = await boxOf(card.getByRole('link'))
  expect(play.x + play.width).toBeLessThan(image.x + image.width)
  await card.click({ position: { x: row.width - 10, y: 10 } })
  await expect(page).toHaveURL(/moov-first$/)
})

test('has no poster of a session without an image', async ({ page }) => {
  await page.route('**/assets/index-*.js', (route) => route.abort())
  await page.goto(`/p/${sessionPath}/ts-ac3-51-audio-only`)
  await expect(page.locator('.site-stage')).toBeVisible()
  await expect(page.locator('.site-stage image')).toHaveCount(0)
})

test('has its header and the poster of the video before the script runs', async ({ page }) => {
  await page.route('**/assets/index-*.js', (route) => route.abort())
  // A page does not wait long for what its server has not read yet.
  await expect(async () => {
    await page.goto(playerPath)
    expect(await page.locator('.site-stage image').count()).toBe(1)
  }).toPass({ intervals: [100] })
  await expect(page.getByRole('link', { name: 'Home' })).toBeVisible()
  await expect.poll(() => page.evaluate(largestPaint)).toMatch(/^image \/api\/.*frame=first$/)
  const stage = await boxOf(page.locator('.site-stage'))
  expect(stage.width / stage.height).toBeCloseTo(16 / 9, 1)
  await page.goto('/')
  await expect(page.getByRole('link', { name: 'Home' })).toBeVisible()
  await expect(page.locator('.site-stage')).toBeHidden()
})

test.describe('a stage of the shape of the video', () => {
  // The controls wait for the details, however long they take.
  test.use({ pageClock: 'stopped' })

  for (const [width, height] of [
    [390, 844],
    [1440, 900],
  ] as const) {
    test(`${width} px`, async ({ page }) => {
      await page.addInitScript(recordLayoutShifts)
      await page.setViewportSize({ width, height })
      for (const [sessionId, ratio] of [
        ['mp4-h264-aac-moov-first', 16 / 9],
        ['mp4-av1-10bit-aac-portrait', 9 / 16],
      ] as const) {
        // The HTML has what the server has read.
        await page.request.get(`/api/session/${sessionPath}/${sessionId}`)
        await page.goto(`/p/${sessionPath}/${sessionId}`)
        await expect(page.getByRole('heading', { name: 'Recommended' })).toBeVisible()
        const stage = await boxOf(page.locator('video'))
        expect(stage.width / stage.height).toBeCloseTo(ratio, 1)
        expect(stage.height).toBeLessThanOrEqual(height * 0.7 + 1)
        await runToControls(page)
        expect(await layoutShift(page)).toBe(0)
      }
      await page.goto(`/p/${sessionPath}/ts-ac3-51-audio-only`)
      await expect(page.locator('video')).toBeAttached()
      await runToControls(page)
      expect((await boxOf(page.locator('video'))).height).toBeLessThanOrEqual(320)
    })
  }
})

/** They wait for a first frame, but not forever. */
async function runToControls(page: Page): Promise<void> {
  const controls = page.getByRole('slider')
  await expect(async () => {
    await page.clock.runFor(100)
    await expect(controls).toBeVisible({ timeout: 100 })
  }).toPass({ intervals: [50] })
}

/** Name of the element that was painted last as the largest, and what it shows. */
async function largestPaint(): Promise<string> {
  const entries = await new Promise<PerformanceEntry[]>((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries()))
    observer.observe({ type: 'largest-contentful-paint', buffered: true })
  })
  const element: unknown = Reflect.get(entries.at(-1) ?? {}, 'element')
  return element instanceof Element ? `${element.nodeName} ${element.getAttribute('href')}` : ''
}

function isHigh(image: Element): boolean {
  return image instanceof HTMLImageElement && image.naturalHeight > image.naturalWidth
}

test('shows two lines of a long name, and all of it as a tooltip', async ({ page }) => {
  const name = 'A name of many words '.repeat(12).trim()
  await replaceStreamers(page, [name])
  await page.goto('/')
  const title = page.getByRole('listitem').getByRole('heading')
  await expect(title).toHaveAttribute('title', name)
  expect(await lineCount(title)).toBe(2)
  await page.goto(`/s/${encodeURIComponent(name)}`)
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).toHaveAttribute('title', `Sessions: ${name}`)
  expect(await lineCount(heading)).toBe(2)
})

test('shows the parts of a title in their order where a name is right-to-left', async ({
  page,
}) => {
  await page.goto(
    `/p/${encodeURIComponent('שלום (1)')}/${fixtureDate}/${encodeURIComponent('2 ב')}`,
  )
  const parts = page.getByRole('heading', { level: 1 }).locator('bdi')
  await expect(parts).toHaveText(['שלום (1)', fixtureDate, '2 ב'])
  const positions = await parts.evaluateAll((names) =>
    names.map((name) => name.getBoundingClientRect().x),
  )
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
})

for (const width of [360, 1440]) {
  test(`has lists that stay where they appear: ${width} px`, async ({ page }) => {
    await page.addInitScript(recordLayoutShifts)
    await page.setViewportSize({ width, height: 900 })
    for (const path of ['/', '/?q=nobody', sessionsPath, `${sessionsPath}?q=nothing`]) {
      await page.goto(path)
      const isFound = !path.includes('?')
      const shown = isFound ? page.getByRole('listitem').last() : page.getByText(/^No .* found$/)
      await expect(shown).toBeAttached()
      expect(await layoutShift(page)).toBeLessThan(0.001)
    }
  })
}

async function replaceStreamers(page: Page, names: string[]): Promise<void> {
  const streamers = names.map((name) => ({ name, recording_count: 1 }))
  await page.route('**/api/streamers', (route) => route.fulfill({ json: { streamers } }))
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox()
  if (box === null) throw new Error('the element is not visible')
  return box
}

function lineCount(locator: Locator): Promise<number> {
  return locator.evaluate((element) => {
    const { lineHeight, paddingBlockEnd } = getComputedStyle(element)
    const height = element.clientHeight - Number.parseFloat(paddingBlockEnd)
    return Math.round(height / Number.parseFloat(lineHeight))
  })
}
