// The menus Audio and Subtitles: what is chosen plays and is shown, and both are remembered.
import type { Locator, Page } from '@playwright/test'
import { expectNoViolation, inBothSchemes } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'

const pathOf = (sessionId: string) =>
  `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/${sessionId}`
/** Two audio tracks and two subtitle tracks, all in English. */
const twoTracks = pathOf('mp4-h264-two-video-two-audio-movtext')
/** Subtitles in eight languages. */
const languages = pathOf('mkv-h264-two-audio-subs-truncated')
/** Older than that by its name. */
const older = 'mkv-h264-aac-60s'
const plain = pathOf('mp4-h264-aac-moov-first')

test.describe.configure({ mode: 'parallel' })

test('plays the chosen audio from the same position, and in later visits', async ({
  page,
  consoleErrors,
}) => {
  const segments = recordSegments(page)
  const video = await open(page, twoTracks)
  await video.evaluate((element: HTMLVideoElement) => {
    element.pause()
    element.currentTime = 12
  })
  await expect.poll(() => bufferStart(video)).toBeLessThan(1)
  expect(await menuOf(page, 'Audio')).toEqual(['✓ English', 'English (2)'])
  segments.length = 0
  await page.getByRole('menuitemradio', { name: 'English (2)' }).click()
  await expect.poll(() => segments.join()).toMatch(/^m1-/)
  // Nothing of the other audio is left.
  await expect.poll(() => bufferStart(video)).toBeGreaterThan(1)
  expect(await position(video)).toBe(12)
  await expect(video).toHaveJSProperty('paused', true)
  await page.keyboard.press('k')
  await expect(video).toHaveJSProperty('ended', true)
  expect(await audioBytes(video)).toBeGreaterThan(0)
  expect(await menuOf(page, 'Audio')).toEqual(['English', '✓ English (2)'])

  segments.length = 0
  await page.reload()
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  expect(segments[0]).toMatch(/^m1-/)
  expect(await menuOf(page, 'Audio')).toEqual(['English', '✓ English (2)'])
  const before = await position(video)
  await page.getByRole('menuitemradio', { name: 'English', exact: true }).click()
  await expect.poll(() => segments.at(-1)).not.toMatch(/^m1-/)
  await expect.poll(() => position(video)).toBeGreaterThan(before)
  await expect(video).toHaveJSProperty('paused', false)
  expect(consoleErrors.list()).toEqual([])
})

test('shows the chosen subtitles, and in later visits', async ({ page, consoleErrors }) => {
  const video = await open(page, twoTracks)
  const button = page.getByRole('button', { name: 'Subtitles' })
  await button.press('Enter')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(button).toBeFocused()
  await video.evaluate((element: HTMLVideoElement) => {
    element.pause()
    element.currentTime = 1
  })
  await expect.poll(() => shownCue(video)).toMatch(/^NAR: This is the optical/)
  expect(await menuOf(page, 'Subtitles')).toEqual(['Off', '✓ English', 'English (2)'])

  await page.reload()
  await expect.poll(() => shownLanguages(video)).toEqual(['en'])
  await expect(button).toBeVisible()
  await page.keyboard.press('c')
  await expect.poll(() => shownLanguages(video)).toEqual([])
  expect(await menuOf(page, 'Subtitles')).toEqual(['✓ Off', 'English', 'English (2)'])

  await page.reload()
  await expect(button).toBeVisible()
  expect(await shownLanguages(video)).toEqual([])
  await page.keyboard.press('c')
  await expect.poll(() => shownLanguages(video)).toEqual(['en'])
  expect(consoleErrors.list()).toEqual([])
})

test('remembers subtitles that the next session does not have', async ({ page }) => {
  await addSubtitles(page, older, 'de')
  const video = await open(page, languages)
  expect((await menuOf(page, 'Subtitles')).slice(0, 3)).toEqual(['✓ Off', 'English', 'magyar'])
  await page.getByRole('menuitemradio', { name: 'magyar' }).click()
  await expect.poll(() => shownLanguages(video)).toEqual(['hu'])
  await page.keyboard.press('Shift+P')
  await expect.poll(() => languagesOf(video)).toEqual(['de'])
  await expect(page).toHaveURL(new RegExp(`${older}$`))
  expect(await menuOf(page, 'Subtitles')).toEqual(['✓ Off', 'Deutsch'])
  expect(await shownLanguages(video)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(page.getByRole('menu', { name: 'Subtitles' })).toHaveCount(0)
  await page.keyboard.press('Shift+N')
  await expect.poll(() => shownLanguages(video)).toEqual(['hu'])
})

test('has menus in the window, with roles and names, light and dark', async ({ page }) => {
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    if (width === 360) await open(page, languages)
    await menuOf(page, 'Subtitles')
    const box = await page.getByRole('menu').boundingBox()
    expect(box?.x).toBeGreaterThan(0)
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(width)
    await inBothSchemes(page, () => expectNoViolation(page, '[data-player]'))
    await page.keyboard.press('Escape')
  }
})

test('has no menus without a choice', async ({ page }) => {
  // After the details, which name the tracks.
  const storyboard = page.waitForResponse(/storyboard/)
  await open(page, plain)
  await storyboard
  await expect(page.getByRole('button', { name: /^(?:Audio|Subtitles)$/ })).toHaveCount(0)
})

async function open(page: Page, path: string): Promise<Locator> {
  await page.goto(path)
  await expect(page.getByRole('button', { name: 'Theatre' })).toBeVisible()
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  return video
}

/** Opens a menu; its items, with a check mark for the selected one. */
async function menuOf(page: Page, name: string): Promise<string[]> {
  await page.getByRole('button', { name, exact: true }).click()
  const items = page.getByRole('menu', { name }).getByRole('menuitemradio')
  await expect(items).not.toHaveCount(0)
  return items.evaluateAll((elements) =>
    elements.map(({ ariaChecked, textContent }) =>
      ariaChecked === 'true' ? `✓ ${textContent}` : textContent,
    ),
  )
}

/** The file names of the segments that are requested from now on. */
function recordSegments(page: Page): string[] {
  const names: string[] = []
  page.on('request', (request) => {
    const name = /[^/]+\.m4s$/.exec(new URL(request.url()).pathname)?.[0]
    if (name !== undefined) names.push(name)
  })
  return names
}

/** Adds subtitles to the details of a session. */
async function addSubtitles(page: Page, sessionId: string, language: string): Promise<void> {
  await page.route(`**/api/session/**/${sessionId}`, async (route) => {
    const response = await route.fetch()
    const details: object = await response.json()
    const subtitles = [{ label: '', language, url: '/none.vtt' }]
    await route.fulfill({ response, json: { ...details, tracks: { audio: [], subtitles } } })
  })
}

function position(video: Locator): Promise<number> {
  return video.evaluate((element: HTMLVideoElement) => element.currentTime)
}

function bufferStart(video: Locator): Promise<number> {
  return video.evaluate(({ buffered }: HTMLVideoElement) =>
    buffered.length ? buffered.start(0) : 0,
  )
}

/** Decoded so far. */
function audioBytes(video: Locator): Promise<number> {
  return video.evaluate((element) => Number(Reflect.get(element, 'webkitAudioDecodedByteCount')))
}

function languagesOf(video: Locator): Promise<string[]> {
  return video.evaluate((element: HTMLVideoElement) =>
    Array.from(element.textTracks, ({ language }) => language),
  )
}

function shownLanguages(video: Locator): Promise<string[]> {
  return video.evaluate((element: HTMLVideoElement) =>
    Array.from(element.textTracks)
      .filter(({ mode }) => mode === 'showing')
      .map(({ language }) => language),
  )
}

function shownCue(video: Locator): Promise<string | undefined> {
  return video.evaluate((element: HTMLVideoElement) => {
    const track = Array.from(element.textTracks).find(({ mode }) => mode === 'showing')
    const cue = track?.activeCues?.[0]
    return cue instanceof VTTCue ? cue.text : undefined
  })
}
