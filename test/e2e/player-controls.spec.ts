// The controls around the video: shortcuts, links to a moment, speed, the way back to a session and
// to its neighbours.
import type { Locator, Page } from '@playwright/test'
import { expectNoViolation } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'
import { position, seek } from './video-position.ts'

const streamer = encodeURIComponent(fixtureStreamer)
/** In the order of the streamer's list, the newest first. */
const newest = 'webm-vp9-opus51'
const [next, current, previous] = [
  'ts-h264-aac-cea608',
  'ts-h264-aac-clean-hls-concat',
  'ts-h264-aac-pat-not-at-start',
].toSorted()
const seconds = 36
/** How long the result of a key is shown. */
const resultMs = 800
const pathOf = (sessionId: string) => `/p/${streamer}/${fixtureDate}/${sessionId}`
const playerPath = pathOf('ts-h264-aac-clean-hls-concat')

test.describe.configure({ mode: 'parallel' })

test.describe('on one visit', () => {
  sharePage(open, restart)

  test('plays, pauses, seeks and mutes by keys, wherever the focus is', async ({ page }) => {
    const video = page.locator('video')
    await page.keyboard.press('k')
    await expect(video).toHaveJSProperty('paused', true)
    await seek(video, 10)
    await page.keyboard.press('l')
    await expectPosition(video, 20)
    await page.keyboard.press('j')
    await expectPosition(video, 10)
    await page.keyboard.press('ArrowRight')
    await expectPosition(video, 15)
    await page.keyboard.press('ArrowLeft')
    await expectPosition(video, 10)
    await page.keyboard.press('5')
    await expectPosition(video, seconds / 2)
    await page.keyboard.press('.')
    await expect.poll(() => position(video)).toBeGreaterThan(seconds / 2)
    await page.keyboard.press('m')
    await expect(video).toHaveJSProperty('muted', true)
    await page.keyboard.press('>')
    await expect(video).toHaveJSProperty('playbackRate', 1.25)
    await page.keyboard.press(' ')
    await expect(video).toHaveJSProperty('paused', false)
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('toggles once by Space and seeks five seconds where the video has the focus', async ({
    page,
  }) => {
    const video = page.locator('video')
    await video.focus()
    await watchToggles(video)
    // Held down: the key repeats.
    await page.keyboard.down(' ')
    await page.keyboard.down(' ')
    await page.keyboard.up(' ')
    await expect(video).toHaveJSProperty('paused', true)
    await seek(video, 10)
    await page.keyboard.press('ArrowRight')
    await expectPosition(video, 15)
    await page.keyboard.press(' ')
    await expect(video).toHaveJSProperty('paused', false)
    await expect.poll(() => page.evaluate('globalThis.toggles')).toEqual(['pause', 'play'])
  })

  test('leaves keys to the browser and to the focused control', async ({ page }) => {
    const video = page.locator('video')
    await video.evaluate((element: HTMLVideoElement) => element.pause())
    await seek(video, 10)
    await page.keyboard.press('Alt+l')
    await page.keyboard.press('Control+ArrowRight')
    await page.getByRole('button', { name: 'Speed', exact: true }).focus()
    await page.keyboard.press(' ')
    await expect(page.getByRole('menu', { name: 'Speed' })).toBeVisible()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    await expect(page.getByRole('menu', { name: 'Speed' })).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Speed', exact: true })).toBeFocused()
    await expect(video).toHaveJSProperty('paused', true)
    expect(await position(video)).toBe(10)
  })

  test('lists the shortcuts', async ({ page }) => {
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.keyboard.press('?')
    await expect(dialog).toBeVisible()
    await expect(dialog).toContainText('Play or pause')
    await page.keyboard.press('Escape')
    await expectRemoved(page)
    const button = page.getByRole('button', { name: 'Keyboard shortcuts' })
    await button.click()
    await expect(dialog).toBeVisible()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await expect(dialog).toHaveCount(0)
    await expect(button).toBeFocused()
    await button.click()
    await expect(dialog).toBeVisible()
    await page.keyboard.press('?')
    await expect(dialog).toHaveCount(0)
    await expect(button).toBeFocused()
  })

  test('has buttons that seek, and a wide video', async ({ page }) => {
    await page.setViewportSize({ width: 1600, height: 900 })
    const video = page.locator('video')
    await video.evaluate((element: HTMLVideoElement) => element.pause())
    await seek(video, 5)
    await page.getByRole('button', { name: '+10 s', exact: true }).click()
    await expectPosition(video, 15)
    await page.getByRole('button', { name: '−10 s', exact: true }).click()
    await expectPosition(video, 5)
    const theatre = page.getByRole('button', { name: 'Theatre' })
    const stageWidth = () => video.evaluate((element) => element.parentElement?.clientWidth ?? 0)
    const usual = await stageWidth()
    await page.keyboard.press('t')
    await expect(theatre).toHaveAttribute('aria-pressed', 'true')
    expect(await stageWidth()).toBeGreaterThan(usual)
    expect(await overflow(page)).toBe(0)
    await theatre.click()
    expect(await stageWidth()).toBe(usual)
  })

  test('seeks on the timeline, and shows what was watched', async ({ page }) => {
    const video = page.locator('video')
    await video.evaluate((element: HTMLVideoElement) => element.pause())
    const slider = page.getByRole('region', { name: 'Moments' }).getByRole('slider')
    const { width, height } = (await slider.boundingBox()) ?? { width: 0, height: 0 }
    await slider.click({ position: { x: width / 2, y: height / 2 } })
    await expect.poll(() => position(video)).toBeCloseTo(seconds / 2, 0)
    await seek(video, 20)
    await expect(slider).toHaveAttribute('aria-valuenow', '20')
    await expect(slider).toHaveAttribute('aria-valuetext', '0:00:20')
    await expect(slider).toHaveAttribute('aria-valuemax', /^3[67]$/)
    await slider.press('ArrowRight')
    await expectPosition(video, 25)
    await slider.press('ArrowLeft')
    await expectPosition(video, 20)
    await slider.press('Home')
    await expectPosition(video, 0)
  })

  test('names its controls in sight where there is room, the shortcuts last', async ({ page }) => {
    const controls = page.locator('[data-player]')
    const copy = controls.getByText(/^Copy link at 0:00:\d\d$/)
    const shortcuts = page.getByRole('button', { name: 'Keyboard shortcuts' })
    const theatre = page.getByRole('button', { name: 'Theatre' })
    const widthOfTheatre = async () => (await theatre.boundingBox())?.width ?? 0
    await page.setViewportSize({ width: 1280, height: 800 })
    const named = await widthOfTheatre()
    for (const width of [360, 768]) {
      await page.setViewportSize({ width, height: 800 })
      await expect.poll(widthOfTheatre).toBeLessThan(named)
      await expect(copy).toBeVisible()
      const [last, before] = [await shortcuts.boundingBox(), await copy.boundingBox()]
      expect(last?.x).toBeGreaterThan(before?.x ?? Infinity)
    }
  })

  for (const width of [320, 360, 768]) {
    test(`fits ${width} px, without a violation of WCAG`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ reducedMotion: 'reduce' })
      const video = page.locator('video')
      await video.evaluate((element: HTMLVideoElement) => element.pause())
      expect(await overflow(page)).toBe(0)
      await page.getByRole('button', { name: 'Speed', exact: true }).click()
      expect(await overflow(page)).toBe(0)
      await expectNoViolation(page, 'main')
      await page.keyboard.press('Escape')
    })
  }

  test('names the next session at the end, and starts nothing', async ({ page }) => {
    const video = page.locator('video')
    await expect(page.getByRole('link', { name: 'Next session' })).toBeVisible()
    await playToEnd(video)
    const card = page.locator('[data-end-card]')
    await expect(card.getByRole('link')).toHaveCount(1)
    await expect(card.getByRole('link')).toHaveAttribute('href', pathOf(previous ?? ''))
    await expect(video).toHaveJSProperty('ended', true)
    await card.getByRole('button', { name: 'Watch again' }).click()
    await expect(card).toHaveCount(0)
    await expect(video).toHaveJSProperty('paused', false)
  })

  test('leads to the older and the newer session', async ({ page }) => {
    const heading = page.getByRole('heading', { level: 1 })
    await page.getByRole('link', { name: 'Previous session' }).click()
    await expect(heading).toHaveText(`${fixtureStreamer} - ${fixtureDate} - ${next}`)
    await page.keyboard.press('Shift+N')
    await expect(heading).toHaveText(`${fixtureStreamer} - ${fixtureDate} - ${current}`)
    await page.getByRole('link', { name: 'Next session' }).click()
    await expect(heading).toHaveText(`${fixtureStreamer} - ${fixtureDate} - ${previous}`)
    await page.keyboard.press('Shift+P')
    await expect(heading).toHaveText(`${fixtureStreamer} - ${fixtureDate} - ${current}`)
  })
})

test('gets the menus of a session that its server had not read yet', async ({ page }) => {
  let responses = 0
  await page.route('**/api/session/**', async (route) => {
    responses += 1
    const tracks = { audio: [], subtitles: [] }
    if (responses > 1) await route.continue()
    else await route.fulfill({ json: { growing: false, chapters: [], tracks, qualities: [] } })
  })
  await open(page)
  await expect(page.getByRole('button', { name: 'Quality' })).toBeVisible()
  expect(responses).toBe(2)
})

test('tells the story of the session, with time codes that seek', async ({ page }) => {
  const title = 'Boss <b>fight</b>'
  const description = `0:06 Start\n${'A long text. '.repeat(60)}\n0:30 End, 9:59 never`
  await page.route('**/api/session/**', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), title, description } })
  })
  const video = await open(page)
  const story = page.getByRole('region', { name: 'About this session' })
  await expect(story.getByRole('heading', { level: 2, name: title })).toBeVisible()
  await expect(page).toHaveTitle(new RegExp(`^${title} · ${fixtureStreamer} - `))
  await expect(story).toContainText('Saturday, January 31, 2026')
  await story.getByRole('button', { name: 'Show more' }).click()
  await expect(story.getByRole('button', { name: 'Show less' })).toBeVisible()
  await expect(story.getByRole('button', { name: /^\d/ })).toHaveText(['0:06', '0:30'])
  await page.keyboard.press('k')
  await story.getByRole('button', { name: '0:30' }).click()
  await expect.poll(() => position(video)).toBeGreaterThan(29.9)
  await story.getByRole('link', { name: fixtureStreamer }).click()
  await expect(page).toHaveURL(/\/s\/Fixture%20Player$/)
})

test('turns single keys off in the list of the shortcuts, and remembers it', async ({ page }) => {
  const video = await open(page)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await seek(video, 10)
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const button = page.getByRole('button', { name: 'Keyboard shortcuts' })
  await button.click()
  await dialog.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
  await expectNoViolation(page, 'dialog')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  // Its button would take Space.
  await button.blur()
  for (const key of ['k', ' ', 'l', '5', 'm', 't', '?']) await page.keyboard.press(key)
  await expect(dialog).toHaveCount(0)
  expect(await position(video)).toBe(10)
  await expect(video).toHaveJSProperty('muted', false)
  await open(page)
  await button.click()
  const choice = dialog.getByRole('checkbox', { name: 'Single-key shortcuts' })
  await expect(choice).not.toBeChecked()
  await choice.check()
  await page.keyboard.press('Escape')
  await expectRemoved(page)
  await page.keyboard.press('?')
  await expect(dialog).toBeVisible()
})

/** A dialog is hidden before its `close` event, which a key that is pressed at once precedes. */
async function expectRemoved(page: Page): Promise<void> {
  await expect(page.locator('dialog')).toHaveCount(0)
}

test('lists the chapters, and shows the time of day', async ({ page }) => {
  const startTime = new Date(2026, 0, 31, 21, 30).toISOString()
  const chapters = [
    { startSeconds: 0, title: 'Intro' },
    { startSeconds: 12, title: 'Boss <b>fight</b>' },
    ...[20, 24, 28, 32].map((startSeconds) => ({
      startSeconds,
      title: 'A long title. '.repeat(9),
    })),
  ]
  const tracks = { audio: [], subtitles: [] }
  await page.route('**/api/session/**', (route) =>
    route.fulfill({ json: { growing: false, startTime, chapters, tracks } }),
  )
  const video = await open(page)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  const moments = page.getByRole('region', { name: 'Moments' })
  await expect(moments.getByRole('list').getByRole('listitem')).toHaveCount(6)
  expect(await overflow(page)).toBe(0)
  await moments.getByRole('button', { name: 'Boss <b>fight</b>' }).click()
  await expectPosition(video, 12)
  const slider = moments.getByRole('slider')
  await expect(slider).toHaveAttribute('aria-valuetext', '0:00:12, Boss <b>fight</b>')
  await expect(moments).toContainText(/0:00:12 · .*30/)
})

test('starts at the moment of the link, and pauses at its end once', async ({ page }) => {
  const video = await open(page, `${playerPath}?t=20s&end=21.5`)
  await expect.poll(() => position(video)).toBe(21.5)
  await expect(video).toHaveJSProperty('paused', true)
  expect(await video.evaluate(firstPlayed)).toBeGreaterThanOrEqual(20)
  await page.keyboard.press('k')
  await expect.poll(() => position(video)).toBeGreaterThan(22)
})

for (const sessionId of ['ts-h264-aac-clean-hls-concat', 'mkv-h264-aac-60s'])
  test(`starts ${sessionId} at the beginning where the moment is after the end`, async ({
    page,
  }) => {
    const video = await open(page, `${pathOf(sessionId)}?t=2h`)
    await expect.poll(() => position(video)).toBeGreaterThan(0.2)
    expect(await video.evaluate(firstPlayed)).toBeLessThan(1)
  })

test.describe('with the page clock stopped', () => {
  // The confirmation disappears after two seconds.
  test.use({ pageClock: 'stopped' })

  test('copies a link to the current moment', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const video = await open(page)
    await video.evaluate((element: HTMLVideoElement) => element.pause())
    await seek(video, 12.3)
    await page.getByRole('button', { name: 'Copy link at 0:00:12', exact: true }).click()
    await expect(page.getByText('Link copied')).toBeVisible()
    expect(await copiedPath(page)).toBe(`${playerPath}?t=12`)
  })

  test('copies and shares a link to a moment that is typed or nudged', async ({
    page,
    context,
  }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.addInitScript(() => {
      navigator.share = async ({ url } = {}) => void Object.assign(globalThis, { shared: url })
    })
    await open(page)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Share this moment' })
    const field = dialog.getByRole('textbox', { name: 'Start at' })
    const copy = dialog.getByRole('button', { name: 'Copy' })
    // The field has the focus, and its text is replaced.
    await expect(field).toBeFocused()
    await page.keyboard.type('0:33')
    await page.keyboard.press('Enter')
    await expect(dialog.getByText('Link copied')).toBeVisible()
    expect(await copiedPath(page)).toBe(`${playerPath}?t=33`)
    await field.fill('9:00')
    await expect(copy).toBeDisabled()
    await field.fill('0:31')
    await dialog.getByRole('button', { name: '+1 s' }).click()
    await expect(field).toHaveValue('0:00:32')
    await copy.click()
    await expect(dialog.getByText('Link copied')).toBeVisible()
    expect(await copiedPath(page)).toBe(`${playerPath}?t=32`)
    await dialog.getByRole('button', { name: '−1 s' }).click()
    await dialog.getByRole('button', { name: 'Share…' }).click()
    expect(await page.evaluate('globalThis.shared')).toContain(`${playerPath}?t=31`)
  })

  test('shows for a moment what a key has done', async ({ page }) => {
    const video = await open(page)
    const result = page.locator('[data-player]').getByRole('status')
    await page.keyboard.press('k')
    await expect(result.filter({ hasText: 'Paused' })).toBeVisible()
    await seek(video, 20)
    await page.keyboard.press('j')
    await expect(result.filter({ hasText: /^−10 s$/ })).toBeVisible()
    await page.keyboard.press('>')
    await expect(result.filter({ hasText: '1.25×' })).toBeVisible()
    await page.clock.runFor(resultMs)
    await expect(result.filter({ hasText: '1.25×' })).toHaveCount(0)
  })
})

test('remembers speed and volume', async ({ page }) => {
  const video = await open(page)
  await page.getByRole('button', { name: 'Speed', exact: true }).click()
  await page.getByRole('menuitemradio', { name: '1.5×' }).click()
  await expect(video).toHaveJSProperty('playbackRate', 1.5)
  await video.evaluate((element: HTMLVideoElement) => void (element.volume = 0.25))
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('aftercast.player')))
    .toContain('0.25')
  await open(page, pathOf('mkv-h264-aac-60s'))
  await expect(video).toHaveJSProperty('playbackRate', 1.5)
  await expect(video).toHaveJSProperty('volume', 0.25)
})

test('offers to continue where the last visit ended', async ({ page }) => {
  const video = await open(page)
  await seek(video, 20)
  await expect.poll(() => position(video)).toBeGreaterThan(20)
  // However long the next call takes, the visit ends there.
  await video.evaluate((element: HTMLVideoElement) => {
    element.pause()
    element.currentTime = 22
  })
  await open(page)
  const button = page.getByRole('button', { name: /^Continue at 0:00:2\d$/ })
  await expect(button).toBeVisible()
  expect(await video.evaluate(firstPlayed)).toBeLessThan(1)
  await button.click()
  await expect.poll(() => position(video)).toBeGreaterThan(19.9)
  await expect(button).toHaveCount(0)

  await test.step('has no offer to continue near the end', async () => {
    await seek(video, 33)
    await expect.poll(() => position(video)).toBeGreaterThan(33)
    await open(page)
    await expect(page.getByRole('button', { name: /^Copy link/ })).toBeVisible()
    await expect(page.getByRole('button', { name: /^Continue/ })).toHaveCount(0)
  })
})

test('works where storage is refused', async ({ page, consoleErrors }) => {
  await page.addInitScript(() => {
    const refuse = () => {
      throw new DOMException('refused', 'SecurityError')
    }
    for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, { get: refuse })
    }
  })
  const video = await open(page)
  await seek(video, 20)
  await page.keyboard.press('>')
  await expect(video).toHaveJSProperty('playbackRate', 1.25)
  await open(page)
  await expect(page.getByRole('button', { name: /^Continue/ })).toHaveCount(0)
  expect(consoleErrors.list()).toEqual([])
})

test('names older sessions at the end of the newest one', async ({ page }) => {
  const video = await open(page, pathOf(newest))
  await expect(page.getByRole('link', { name: 'Previous session' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Next session' })).toHaveCount(0)
  await playToEnd(video)
  await expect(page.locator('[data-end-card]').getByRole('link')).toHaveCount(3)
})

test('shows all of the end of audio alone, in all widths', async ({ page }) => {
  const video = await open(page, pathOf('ts-ac3-51-audio-only'))
  await expect(page.getByRole('link', { name: 'Next session' })).toBeVisible()
  await playToEnd(video)
  const card = page.locator('[data-end-card]')
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    await expect(card.getByRole('button', { name: 'Watch again' })).toBeVisible()
    expect(await card.evaluate(cutParts), `${width} px`).toEqual([])
  }
})

test('gives the title to the system, and its buttons', async ({ page }) => {
  await page.addInitScript(() => {
    const actions: string[] = []
    Object.assign(globalThis, { actions })
    MediaSession.prototype.setActionHandler = (action, handler) => {
      if (handler) actions.push(action)
    }
  })
  await open(page)
  const title = `${fixtureStreamer} - ${fixtureDate} - ${current}`
  await expect.poll(() => page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe(title)
  await expect
    .poll(() => page.evaluate('globalThis.actions'))
    .toEqual(expect.arrayContaining(['play', 'pause', 'seekto', 'previoustrack', 'nexttrack']))
})

/** Path and query of the link in the clipboard. */
async function copiedPath(page: Page): Promise<string> {
  const { pathname, search } = new URL(await page.evaluate(() => navigator.clipboard.readText()))
  return pathname + search
}

/** Opens the player page, and waits for its controls and for playback. */
async function open(page: Page, path = playerPath): Promise<Locator> {
  await page.goto(path)
  await expect(page.getByRole('button', { name: 'Theatre' })).toBeVisible()
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  return video
}

/** Plays from the start, as after `open`. */
async function restart(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 720 })
  const video = page.locator('video')
  await video.evaluate((element: HTMLVideoElement) => {
    scrollTo(0, 0)
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    Object.assign(element, { muted: false, playbackRate: 1, currentTime: 0 })
    element.play().catch(() => undefined)
  })
  await expect(video).toHaveJSProperty('seeking', false)
  await expect.poll(() => position(video)).toBeGreaterThan(0)
}

/** Where playback started, in seconds. */
function firstPlayed(video: Element): number {
  return video instanceof HTMLVideoElement ? video.played.start(0) : NaN
}

/** The video is paused there. */
async function expectPosition(video: Locator, expected: number): Promise<void> {
  await expect.poll(() => position(video)).toBeCloseTo(expected, 1)
}

function playToEnd(video: Locator): Promise<void> {
  return video.evaluate(async (element: HTMLVideoElement) => {
    const ended = new Promise((resolve) => element.addEventListener('ended', resolve))
    element.currentTime = element.duration - 0.3
    await element.play()
    await ended
  })
}

/** The visible elements in it that are partly outside of it. */
function cutParts(card: Element): string[] {
  const outer = card.getBoundingClientRect()
  return [...card.querySelectorAll('p, a, a > *, button')]
    .filter((element) => {
      const { width, top, bottom, left, right } = element.getBoundingClientRect()
      const isInside = top >= outer.top && bottom <= outer.bottom
      return width > 0 && !(isInside && left >= outer.left && right <= outer.right)
    })
    .map(({ outerHTML }) => outerHTML)
}

/** Pixels by which the page is wider than the window. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}

/** Records each start and pause. */
async function watchToggles(video: Locator): Promise<void> {
  await video.evaluate((element) => {
    const toggles: string[] = []
    Object.assign(globalThis, { toggles })
    for (const type of ['play', 'pause']) element.addEventListener(type, () => toggles.push(type))
  })
}
