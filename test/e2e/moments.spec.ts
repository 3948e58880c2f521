// The strip of moments below the video: frames across the session, previews by pointer, touch and
// keyboard, and what is shown without a storyboard.
import type { Locator, Page } from '@playwright/test'
import { expectNoViolation, setColors } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { layoutShift, recordLayoutShifts } from './layout-shift.ts'
import { removeDecoder } from './missing-codec.ts'
import { expect, test } from './site.ts'
import { position } from './video-position.ts'

const streamer = encodeURIComponent(fixtureStreamer)
const pathOf = (sessionId: string) => `/p/${streamer}/${fixtureDate}/${sessionId}`
const minute = pathOf('mkv-h264-aac-60s')
const phone = { width: 390, height: 844 }
/** Frames across the strip, for a video of 16:9. */
const cellCount = 13

test.describe.configure({ mode: 'parallel' })

test('shows frames across the session, in the first view', async ({ page }) => {
  await page.addInitScript(recordLayoutShifts)
  await page.setViewportSize({ width: 1440, height: 900 })
  await open(page)
  await expect.poll(() => shownFrames(page)).toBeGreaterThan(cellCount - 1)
  const box = await boxOf(sliderOf(page))
  expect(box.height).toBe(64)
  expect(box.y + box.height).toBeLessThan(900)
  expect(await layoutShift(page)).toBe(0)
})

test('previews the moment under the pointer, within the strip', async ({ page }) => {
  await replaceDetails(page, {
    chapters: [{ startSeconds: 20, title: 'Boss <b>fight</b>' }],
    startTime: new Date(2026, 0, 31, 21, 30).toISOString(),
  })
  const video = await open(page)
  const strip = await boxOf(sliderOf(page))
  const preview = previewOf(page)
  await expect(preview).toHaveCount(0)
  await page.mouse.move(strip.x + strip.width / 2, strip.y + 30)
  await expect(preview).toContainText(/^0:00:30 · .*30.*Boss <b>fight<\/b>$/)
  await expect.poll(() => shownImages(preview)).toBe(1)
  const middle = await boxOf(preview)
  expect(Math.abs(middle.x + middle.width / 2 - strip.x - strip.width / 2)).toBeLessThan(2)
  for (const x of [strip.x + 1, strip.x + strip.width - 1]) {
    await page.mouse.move(x, strip.y + 30)
    const { x: start, width } = await boxOf(preview)
    expect(start).toBeGreaterThan(strip.x - 1)
    expect(start + width).toBeLessThan(strip.x + strip.width + 1)
  }
  await page.mouse.move(strip.x + strip.width / 4, strip.y + 30)
  await page.mouse.down()
  await page.mouse.move(strip.x + strip.width / 2, strip.y + 30)
  await page.mouse.up()
  await expect.poll(() => position(video)).toBeCloseTo(30, 0)
  await page.mouse.move(5, 5)
  await expect(preview).toHaveCount(0)
})

test('works by keyboard, without a violation of WCAG: light and dark', async ({ page }) => {
  const video = await open(page)
  await video.focus()
  const slider = sliderOf(page)
  for (let presses = 0; presses < 30 && !(await isFocused(slider)); presses += 1) {
    await page.keyboard.press('Tab')
  }
  await expect(slider).toBeFocused()
  await expect(previewOf(page)).toContainText('0:00:')
  await page.keyboard.press('End')
  await expect.poll(() => position(video)).toBeCloseTo(60, 0)
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => position(video)).toBe(5)
  await expect(slider).toHaveAttribute('aria-valuetext', '0:00:05')
  await expect(previewOf(page)).toContainText('0:00:05')
  await expect.poll(() => shownImages(previewOf(page))).toBe(1)
  await setColors(page, { colorScheme: 'light', contrast: 'more' })
  await expectNoViolation(page, 'main')
  await setColors(page, { colorScheme: 'dark', contrast: 'no-preference' })
  await expectNoViolation(page, 'main')
  await page.keyboard.press('Tab')
  await expect(previewOf(page)).toHaveCount(0)
})

test('has marks in forced colours, too', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await replaceDetails(page, { storyboard: undefined })
  await open(page)
  const colors = await sliderOf(page).evaluate((slider) => {
    const track = slider.firstElementChild ?? slider
    const position = track.lastElementChild ?? track
    const canvas = document.body.appendChild(document.createElement('div'))
    canvas.style.background = 'Canvas'
    return {
      page: getComputedStyle(canvas).backgroundColor,
      track: getComputedStyle(track).backgroundColor,
      position: getComputedStyle(position, '::before').backgroundColor,
    }
  })
  expect(new Set(Object.values(colors)).size).toBe(3)
})

test.describe('by touch', () => {
  test.use({ hasTouch: true, viewport: phone })

  test('previews under the finger, and seeks where it is lifted', async ({ page }) => {
    const video = await open(page)
    const visible = await boxOf(page.getByRole('region', { name: 'Moments' }))
    const { y } = await boxOf(sliderOf(page))
    const devtools = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) => {
      const touchPoints = x === undefined ? [] : [{ x: visible.x + x, y: y + 30 }]
      return devtools.send('Input.dispatchTouchEvent', { type, touchPoints })
    }
    await touch('touchStart', 200)
    await expect(previewOf(page)).toContainText('0:00:3')
    await touch('touchEnd')
    await expect.poll(() => position(video)).toBeGreaterThan(32)
    expect(await position(video)).toBeLessThan(38)
    await expect(previewOf(page)).toHaveCount(0)
    await touch('touchStart', 100)
    await touch('touchMove', 320)
    await touch('touchEnd')
    await expect.poll(() => position(video)).toBeGreaterThan(50)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width)
  })
})

test('shows the whole session on a phone, and the current chapter', async ({ page }) => {
  await page.setViewportSize(phone)
  const chapters = Array.from({ length: 20 }, (_, at) => ({
    startSeconds: at * 3,
    title: `Chapter ${at + 1}`,
  }))
  await replaceDetails(page, { chapters })
  const requests = await replaceStoryboard(page, { sheets: cellCount, seconds: 59 })
  const video = await open(page)
  // Every second one of a desktop, which are the only ones that load.
  await expect.poll(() => shownFrames(page)).toBe(Math.ceil(cellCount / 2))
  expect(requests.length).toBe(Math.ceil(cellCount / 2))
  const visible = await boxOf(page.getByRole('region', { name: 'Moments' }))
  expect((await boxOf(sliderOf(page))).width).toBe(visible.width)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 55))
  const current = page.getByRole('button', { name: '0:00:54 Chapter 19' })
  await expect(current).toHaveAttribute('aria-current', 'true')
  await expect.poll(async () => (await boxOf(current)).x).toBeLessThan(phone.width - 100)
  const list = page.getByRole('list', { name: 'Chapters' })
  await expect(list).toHaveCSS('scroll-behavior', 'smooth')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect(list).toHaveCSS('scroll-behavior', 'auto')
})

test('has the chapters beside a narrow video', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const chapters = Array.from({ length: 40 }, (_, at) => ({
    startSeconds: at / 10,
    title: `Chapter ${at + 1}`,
  }))
  await replaceDetails(page, { chapters })
  const video = await open(page, pathOf('mp4-av1-10bit-aac-portrait'))
  const list = page.getByRole('list', { name: 'Chapters' })
  const [stage, beside] = [await boxOf(video), await boxOf(list)]
  expect(beside.x).toBeGreaterThan(stage.x + stage.width)
  expect(beside.y).toBeCloseTo(stage.y, 0)
  expect(beside.height).toBeCloseTo(stage.height, 0)
  await list.getByRole('button').last().click()
  await expect(list.getByRole('button').last()).toBeInViewport()
  await expect.poll(() => position(video)).toBeGreaterThan(3.8)
  await page.setViewportSize(phone)
  // Below it; the page may have scrolled.
  await expect(async () => {
    const { y, height } = await boxOf(video)
    expect((await boxOf(list)).y).toBeGreaterThanOrEqual(y + height)
  }).toPass({ intervals: [100] })
})

test('shows the frame of the new position until its segment is loaded', async ({ page }) => {
  const held = Promise.withResolvers<void>()
  await page.route(/\/(?!0\.)\d+\.m4s$/, async (route) => {
    await held.promise
    await route.continue()
  })
  const video = await open(page)
  await expect.poll(() => shownFrames(page)).toBeGreaterThan(cellCount - 1)
  const picture = page.locator('[data-storyboard-picture]')
  await expect(picture).toHaveCount(0)
  await video.evaluate((element: HTMLVideoElement) => void (element.currentTime = 57))
  await expect(picture).toHaveCount(1)
  expect(await picture.evaluate(isDrawn)).toBe(true)
  expect(await boxOf(picture)).toEqual(await boxOf(video))
  held.resolve()
  await expect(picture).toHaveCount(0)
})

test('shows as much of the session as the storyboard has', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await replaceStoryboard(page, { sheets: 4, seconds: 30 })
  await open(page)
  await expect.poll(() => shownFrames(page)).toBe(6)
  const { x, y, width } = await boxOf(sliderOf(page))
  await page.mouse.move(x + width - 10, y + 30)
  await expect(previewOf(page)).toContainText('0:00:59')
  expect(await shownImages(previewOf(page))).toBe(0)
})

for (const status of [404, 503]) {
  test(`has a line where the storyboard is ${status}`, async ({ page }) => {
    await page.route('**/storyboard.vtt', (route) => route.fulfill({ status }))
    await open(page)
    await expectLine(page)
  })
}

test.describe('without video', () => {
  // The page waits for the details, however long they take.
  test.use({ pageClock: 'stopped' })

  test('has a line', async ({ page }) => {
    await page.goto(pathOf('ts-ac3-51-audio-only'))
    await expect(page.locator('video')).toBeAttached()
    // The controls wait this long for a first frame.
    await page.clock.runFor(1000)
    await expect(sliderOf(page)).toBeVisible()
    await expectLine(page)
    expect((await boxOf(sliderOf(page))).height).toBeLessThan(40)
  })
})

test.describe('with the page clock stopped', () => {
  test.use({ pageClock: 'stopped' })

  for (const isDecodable of [true, false]) {
    const codec = isDecodable ? 'known' : 'missing'
    test(`moves nothing when details are late: codec ${codec}`, async ({ page }) => {
      await page.addInitScript(recordLayoutShifts)
      await page.setViewportSize({ width: 1280, height: 1000 })
      if (!isDecodable) await removeDecoder(page)
      const released = Promise.withResolvers<void>()
      const chapters = [{ startSeconds: 0, title: 'Beginning' }]
      await replaceDetails(page, { chapters }, released.promise)
      const requested = page.waitForRequest('**/api/session/**')
      await page.goto(minute)
      const video = page.locator('video')
      await expect(video).toBeAttached()
      if (isDecodable) await expect.poll(() => position(video)).toBeGreaterThan(0)
      // The controls wait this long for a first frame.
      else await page.clock.runFor(1000)
      await requested
      await page.clock.runFor(1500)
      released.resolve()
      await expect(page.getByRole('list', { name: 'Chapters' })).toBeVisible()
      const sound = page.getByRole('button', { name: 'Sound only' })
      await expect(sound).toHaveCount(isDecodable ? 0 : 1)
      expect(await layoutShift(page)).toBe(0)
    })
  }

  test('holds back what is below the controls of each session', async ({ page }) => {
    await page.goto(minute)
    const player = page.locator('[data-player]')
    await expect(player).toHaveAttribute('data-settled')
    // For as long as what is below waits for the controls of a session.
    await page.clock.runFor(2000)
    await replaceDetails(page, {}, new Promise(() => undefined))
    await page.getByRole('link', { name: 'Previous session' }).click()
    await expect(page.getByRole('heading', { level: 1 })).not.toContainText('mkv-h264-aac-60s')
    await expect.poll(() => position(page.locator('video'))).toBeGreaterThan(0)
    await page.clock.runFor(1000)
    await expect(player).not.toHaveAttribute('data-settled')
  })
})

test('names the codec that the browser lacks, and stays usable', async ({ page }) => {
  await removeDecoder(page)
  await page.goto(minute)
  await expect(page.locator('[data-player]').getByText('cannot play H.264 (avc1.')).toBeVisible()
  await expect.poll(() => shownFrames(page)).toBeGreaterThan(2)
  const slider = sliderOf(page)
  await expect(slider).toHaveAttribute('aria-valuemax', '61')
  await slider.press('PageUp')
  await expect(slider).toHaveAttribute('aria-valuenow', '60')
  await expect(page.getByRole('button', { name: 'Copy link at 0:01:00' })).toBeVisible()
  await expect(page.locator('video')).toHaveJSProperty('paused', true)
  await expect(page.locator('[data-stall]')).toHaveCount(0)
})

async function expectLine(page: Page): Promise<void> {
  const slider = sliderOf(page)
  const trackHeight = () => slider.evaluate((element) => element.firstElementChild?.clientHeight)
  await expect.poll(trackHeight).toBe(8)
  expect(await shownFrames(page)).toBe(0)
  // Details that arrive later change the stage, and move the slider.
  const preview = async () => {
    await slider.hover()
    return (await previewOf(page).allTextContents()).join()
  }
  await expect.poll(preview).toContain('0:00:')
}

/** They arrive only once `released` is resolved. */
async function replaceDetails(page: Page, change: object, released?: Promise<void>): Promise<void> {
  await page.route('**/api/session/**', async (route) => {
    const response = await route.fetch()
    await released
    await route.fulfill({ response, json: { ...(await response.json()), ...change } })
  })
}

/** Sheets of one frame each, which cover `seconds`. Returns the requests of sheets so far. */
async function replaceStoryboard(
  page: Page,
  { sheets, seconds }: { sheets: number; seconds: number },
): Promise<string[]> {
  const requests: string[] = []
  const time = (sheet: number) => `00:${((sheet * seconds) / sheets).toFixed(3).padStart(6, '0')}`
  const cues = Array.from(
    { length: sheets },
    (_, sheet) => `${time(sheet)} --> ${time(sheet + 1)}\nsheet-${sheet}.jpg#xywh=0,0,160,90\n`,
  )
  const image =
    '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="90"><path d="M0 0h160v90"/></svg>'
  await page.route('**/api/storyboard/**', async (route) => {
    const url = route.request().url()
    if (url.endsWith('.vtt')) return route.fulfill({ body: ['WEBVTT\n', ...cues].join('\n') })
    requests.push(url)
    return route.fulfill({ contentType: 'image/svg+xml', body: image })
  })
  return requests
}

/** Opens the player page and pauses near its start. */
async function open(page: Page, path = minute): Promise<Locator> {
  await page.goto(path)
  await expect(sliderOf(page)).toBeVisible()
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  return video
}

/** Whether the canvas has a pixel that is not transparent. */
function isDrawn(canvas: Element): boolean {
  if (!(canvas instanceof HTMLCanvasElement)) return false
  const { width, height } = canvas
  const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height).data
  return pixels?.some((value) => value > 0) === true
}

function sliderOf(page: Page): Locator {
  return page.getByRole('region', { name: 'Moments' }).getByRole('slider')
}

function previewOf(page: Page): Locator {
  return page.locator('[data-preview]')
}

function shownFrames(page: Page): Promise<number> {
  return shownImages(sliderOf(page))
}

/** Images that are loaded and not empty. */
function shownImages(locator: Locator): Promise<number> {
  return locator.evaluate(
    (element) =>
      [...element.querySelectorAll('img')].filter((image) => image.naturalWidth > 0).length,
  )
}

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement)
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox()
  if (box === null) throw new Error('the element is not visible')
  return box
}
