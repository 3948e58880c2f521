// The pre-roll: what is shown, when it ends, and that the recording starts only then, and always
// then.
import type { Locator, Page } from '@playwright/test'
import { browserZones, unansweredZones, vastCases } from '../ad-network/vast-cases.ts'
import {
  adLimitMs,
  closeButton,
  expect,
  expectHeld,
  expectPlaying,
  mainVideo,
  overlay,
  overrideAds,
  playerPath,
  position,
  recommendedMs,
  slowFilms,
  test,
} from './ad-site.ts'
import { fixtureStreamer } from './library.ts'

/** Longest time that the overlay is shown. */
const overlayLimitMs = 30_000
/** How often the page checks whether the ad's video makes progress. */
const progressCheckMs = 250

test.describe.configure({ mode: 'parallel' })

for (const { zone, media } of vastCases.filter((one) => browserZones.has(one.zone))) {
  if (media === undefined) {
    test(`plays the recording without an overlay: ${zone}`, async ({ page, network }) => {
      await openPlayer(page, zone)
      if (unansweredZones.includes(zone)) {
        await expect.poll(() => network.requests('/v1/vast.php').length).toBe(1)
        await page.clock.runFor(adLimitMs - 1)
        await expectHeld(page)
        await page.clock.runFor(1)
      }
      await expectPlaying(page)
      expect(await shownOverlays(page)).toBe(0)
    })
  } else {
    test(`shows the first video of the response: ${zone}`, async ({ page, network }) => {
      await openPlayer(page, zone)
      await expect(overlay(page)).toBeVisible()
      const film = filmOf(page)
      await expect(film).toHaveJSProperty('muted', true)
      expect(await film.evaluate((video: HTMLVideoElement) => video.src)).toBe(
        `${network.url}/media/${media}`,
      )
      await expect.poll(() => filmPosition(page)).toBeGreaterThan(0)
      await expectHeld(page)
      await closeButton(page).click()
      await expectPlaying(page)
    })
  }
}

test('ends with the ad, and the recording starts', async ({ page }) => {
  await openPlayer(page, 'film-short.mp4')
  await expect(overlay(page)).toBeVisible()
  await expectHeld(page)
  await playFilm(page)
  await expect(overlay(page)).toBeHidden()
  await expectPlaying(page)
})

test('ends after thirty seconds where the ad is longer', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect.poll(() => filmPosition(page)).toBeGreaterThan(0)
  await page.clock.fastForward(overlayLimitMs - 1)
  await expect(overlay(page)).toBeVisible()
  await expectHeld(page)
  await page.clock.runFor(1)
  await expectPlaying(page)
})

// Half of a short video does not start either: Chromium waits for a larger block of bytes.
for (const film of ['hanging.mp4', 'half.mp4']) {
  test(`waits five seconds for a video that does not start: ${film}`, async ({ page, network }) => {
    await openPlayer(page, `film-${film}`)
    await expect.poll(() => network.requests(`/media/${film}`).length).toBeGreaterThan(0)
    // The first check is at once, and counts.
    await page.clock.runFor(adLimitMs - progressCheckMs - 1)
    await expect(overlay(page)).toBeVisible()
    await expectHeld(page)
    await page.clock.runFor(1)
    await expectPlaying(page)
  })
}

test('sends the beacons of an ad that played to its end, each once and in order', async ({
  page,
  network,
}) => {
  await openPlayer(page, 'film-short.mp4')
  await expect(overlay(page)).toBeVisible()
  await playFilm(page)
  await expect(overlay(page)).toBeHidden()
  await expect.poll(() => network.beacons()).toContain('event=complete')
  const events = network.beacons()
  expect(new Set(events).size).toBe(events.length)
  expect(events).toContain('event=impression')
  const order = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete']
  const seen = events.map((event) => event.replace('event=', ''))
  expect(seen.filter((event) => order.includes(event))).toEqual(order)
})

test('sends a beacon when the visitor closes the ad', async ({ page, network }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect.poll(() => network.beacons()).toContain('event=start')
  await closeButton(page).click()
  await expect.poll(() => network.beacons().join()).toMatch(/event=(?:skip|closeLinear)/)
  expect(network.beacons()).not.toContain('event=complete')
})

test('counts the impressions of every wrapper with that of the ad', async ({ page, network }) => {
  await openPlayer(page, 'wrapper-3')
  await expect.poll(() => network.beacons()).toContain('event=impression')
  const wrappers = () => network.beacons().filter((event) => event.includes('wrapper-impression'))
  await expect.poll(() => new Set(wrappers()).size).toBe(3)
})

test('closes on Escape and on the keyboard', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await closeButton(page).focus()
  await page.keyboard.press('Enter')
  await expect(overlay(page)).toBeHidden()
  await openPlayer(page, 'film-long.mp4')
  await expect(overlay(page)).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(overlay(page)).toBeHidden()
  await expectPlaying(page)
})

test('stays when Escape closes a dialog', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect(overlay(page)).toBeVisible()
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Share this moment' })
  await expect(dialog).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(overlay(page)).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(overlay(page)).toBeHidden()
})

test('leaves focus and Space to the recording', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect(overlay(page)).toBeVisible()
  await page.keyboard.press(' ')
  await page.keyboard.press('k')
  await expectHeld(page)
  await closeButton(page).click()
  await expectPlaying(page)
  await expect(mainVideo(page)).toBeFocused()
  await page.keyboard.press(' ')
  await expect(mainVideo(page)).toHaveJSProperty('paused', true)
})

test('ends the full screen of the session before, which would hide the ad', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await closeButton(page).click()
  await expectPlaying(page)
  const next = page.getByRole('link', { name: 'Next session' })
  await expect(next).toBeVisible()
  const fullScreen = () => page.evaluate(() => document.fullscreenElement?.localName)
  await page.keyboard.press('f')
  await expect.poll(fullScreen).toBe('video')
  await page.keyboard.press('Shift+N')
  await expect(overlay(page)).toBeVisible()
  await expect.poll(fullScreen).toBeUndefined()
})

test('starts at the linked moment only after the ad', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4', '?t=20')
  await expect.poll(() => filmPosition(page)).toBeGreaterThan(0)
  await expectHeld(page)
  await closeButton(page).click()
  await expectPlaying(page)
  expect(await position(page)).toBeGreaterThanOrEqual(20)
})

test('stops when the visitor leaves the page', async ({ page, network }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect.poll(() => network.beacons()).toContain('event=start')
  const film = await filmOf(page).evaluateHandle((video: HTMLVideoElement) => video)
  await page.getByRole('link', { name: 'Home' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  await expect(page.locator('video')).toHaveCount(0)
  expect(await film.evaluate((video) => [video.paused, video.getAttribute('src')])).toEqual([
    true,
    null,
  ])
  const before = network.beacons().length
  await page.clock.fastForward(overlayLimitMs)
  await film.evaluate((video, url) => {
    for (const type of ['timeupdate', 'ended', 'error']) video.dispatchEvent(new Event(type))
    // Beacons go out in order: this one is the last.
    new Image().src = url
  }, `${network.url}/px?event=last`)
  await expect.poll(() => network.beacons()).toContain('event=last')
  expect(network.beacons().slice(before)).toEqual(['event=last'])
})

test('plays one for each session that is opened, and sends no cookies of its own', async ({
  page,
  network,
}) => {
  await openPlayer(page, 'plain')
  await closeButton(page).click()
  const [asked] = network.requests('/v1/vast.php')
  expect(asked?.query.get('idzone')).toBe('plain')
  expect(asked?.headers.cookie).toBeUndefined()
  await expect(mainVideo(page)).toHaveJSProperty('paused', false)
  await page.clock.runFor(recommendedMs)
  await page
    .getByRole('list', { name: 'Recommended', exact: true })
    .locator('li:not(:has([data-ad-block])) a')
    .first()
    .click()
  await expect(page.getByRole('heading', { level: 1 })).not.toContainText(fixtureStreamer)
  await expect(overlay(page)).toBeVisible()
  await expectHeld(page)
  expect(network.requests('/v1/vast.php').length).toBe(2)
  await closeButton(page).click()
  await expectPlaying(page)
})

test('requests no ad where no zone for it is configured', async ({ page, network }) => {
  await overrideAds(page, { zones: {} })
  await page.goto(playerPath)
  await expectPlaying(page)
  expect(network.requests('/v1/vast.php')).toEqual([])
})

async function openPlayer(page: Page, zone: string, query = ''): Promise<void> {
  await page.unrouteAll()
  await overrideAds(page, { zones: { video: zone } })
  await page.addInitScript(countOverlays)
  await slowFilms(page)
  await page.goto(playerPath + query)
}

/** Plays the ad at its usual rate. */
async function playFilm(page: Page): Promise<void> {
  await filmOf(page).evaluate((video: HTMLVideoElement) => (video.playbackRate = 1))
}

/** The ad's video. */
function filmOf(page: Page): Locator {
  return overlay(page).locator('video')
}

/** Position of the ad's video in seconds. */
function filmPosition(page: Page): Promise<number> {
  return filmOf(page).evaluate((video: HTMLVideoElement) => video.currentTime)
}

/** Counts elements that are an overlay at any time, however short. */
function countOverlays(): void {
  const seen = new Set<Element>()
  const count = (): void => {
    for (const element of document.querySelectorAll('[data-preroll]')) {
      if (element.checkVisibility()) seen.add(element)
    }
    Object.assign(globalThis, { overlaysShown: seen.size })
  }
  count()
  new MutationObserver(count).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
  })
}

function shownOverlays(page: Page): Promise<number> {
  return page.evaluate<number>('globalThis.overlaysShown')
}
