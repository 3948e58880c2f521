// The pre-roll: what is shown, when it goes, and that the recording starts only then, and always then.
import type { Page } from '@playwright/test'
import { filmCases, vastCases } from '../ad-network/vast-cases.ts'
import {
  closeButton,
  expect,
  mainVideo,
  overlay,
  place,
  playerPath,
  position,
  test,
} from './ad-site.ts'
import { fixtureStreamer } from './library.ts'
import { patienceMs } from '../support/patience.ts'

/** Longest wait for a recording to start behind an ad that cannot be shown: the network's five seconds, and loading. */
const startLimitMs = 9000

test.describe.configure({ mode: 'parallel' })

for (const { zone, media } of vastCases) {
  if (media === undefined) {
    test(`plays the recording without an overlay: ${zone}`, async ({ page }) => {
      await openPlayer(page, zone)
      await expectPlaying(page)
      expect(await shownOverlays(page)).toBe(0)
    })
  } else {
    test(`shows the first film of the answer: ${zone}`, async ({ page, network }) => {
      await openPlayer(page, zone)
      await expect(overlay(page)).toBeVisible()
      const film = overlay(page).locator('video')
      await expect(film).toHaveJSProperty('muted', true)
      expect(await film.evaluate((video: HTMLVideoElement) => video.src)).toBe(
        `${network.url}/media/${media}`,
      )
      await expect
        .poll(() => film.evaluate((video: HTMLVideoElement) => video.currentTime))
        .toBeGreaterThan(0.2)
      await expect(mainVideo(page)).toHaveJSProperty('paused', true)
      await closeButton(page).click()
      await expect(overlay(page)).toBeHidden()
      await expectPlaying(page)
    })
  }
}

test('goes when the ad has ended, and the recording starts', async ({ page }) => {
  await openPlayer(page, 'film-short.mp4')
  await expect(overlay(page)).toBeVisible()
  expect(await position(page)).toBe(0)
  await expect(overlay(page)).toBeHidden({ timeout: 8000 })
  await expectPlaying(page)
})

test('goes after thirty seconds where the ad is longer', async ({ page }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect(overlay(page)).toBeVisible()
  const begin = Date.now()
  await page.waitForTimeout(27_000)
  await expect(overlay(page)).toBeVisible()
  await expect(mainVideo(page)).toHaveJSProperty('paused', true)
  await expect(overlay(page)).toBeHidden({ timeout: 5000 })
  expect(Date.now() - begin).toBeLessThan(32_000)
  await expectPlaying(page)
})

for (const film of filmCases.filter((name) => name !== 'long.mp4')) {
  test(`does not wait for a film that does not play: ${film}`, async ({ page }) => {
    await openPlayer(page, `film-${film}`)
    // What has come of half a film plays first: five seconds of it.
    await expectPlaying(page, film === 'half.mp4' ? 20_000 : 12_000)
    await expect(overlay(page)).toBeHidden()
  })
}

test('says in beacons what became of an ad that ran to its end, each once and in order', async ({
  page,
  network,
}) => {
  await openPlayer(page, 'film-short.mp4')
  await expect(overlay(page)).toBeVisible()
  await expect(overlay(page)).toBeHidden({ timeout: 8000 })
  await expect.poll(() => network.beacons()).toContain('event=complete')
  const events = network.beacons()
  expect(new Set(events).size).toBe(events.length)
  expect(events).toContain('event=impression')
  const order = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete']
  const seen = events.map((event) => event.replace('event=', ''))
  expect(seen.filter((event) => order.includes(event))).toEqual(order)
})

test('says in beacons that the visitor closed the ad', async ({ page, network }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect.poll(() => network.beacons()).toContain('event=start')
  await closeButton(page).click()
  await expect.poll(() => network.beacons().join()).toMatch(/event=(?:skip|closeLinear)/)
  expect(network.beacons()).not.toContain('event=complete')
})

for (const [zone, code] of [
  ['empty-error', '303'],
  ['film-text.mp4', '40\\d'],
] as const) {
  test(`tells the network why there was no ad: ${zone}`, async ({ page, network }) => {
    await openPlayer(page, zone)
    await expect
      .poll(() => network.beacons().join(), { timeout: patienceMs })
      .toMatch(new RegExp(`error=${code}`))
  })
}

test('counts the impressions of every wrapper with that of the ad', async ({ page, network }) => {
  await openPlayer(page, 'wrapper-3')
  await expect.poll(() => network.beacons()).toContain('event=impression')
  const wrappers = () => network.beacons().filter((event) => event.includes('wrapper-impression'))
  await expect.poll(() => new Set(wrappers()).size).toBe(3)
})

test('leads to the advertiser by a link that cannot touch the page', async ({ page, network }) => {
  await openPlayer(page, 'film-long.mp4')
  const link = overlay(page).locator('a[href]').first()
  await expect(link).toHaveAttribute('href', `${network.url}/landing`)
  await expect(link).toHaveAttribute('target', '_blank')
  await expect(link).toHaveAttribute('rel', /noopener/)
  await expect(link).toHaveAttribute('rel', /sponsored/)
})

test('offers no link where the click would run a script', async ({ page }) => {
  await openPlayer(page, 'script-click')
  await expect(overlay(page)).toBeVisible()
  await expect(overlay(page).locator('a[href^="javascript"]')).toHaveCount(0)
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

test('leaves nothing behind when the visitor goes on while it plays', async ({ page, network }) => {
  await openPlayer(page, 'film-long.mp4')
  await expect.poll(() => network.beacons()).toContain('event=start')
  await page.getByRole('link', { name: 'Home' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  await expect(page.locator('video')).toHaveCount(0)
  const beacons = network.beacons().length
  await page.waitForTimeout(2000)
  const later = network.beacons().slice(beacons)
  expect(later.filter((event) => /Quartile|midpoint|complete/.test(event))).toEqual([])
})

test('plays one for each session that is opened', async ({ page, network }) => {
  await openPlayer(page, 'plain')
  await closeButton(page).click()
  await page
    .getByRole('list', { name: 'Recommended', exact: true })
    .locator('li:not(:has([data-ad-block])) a')
    .first()
    .click()
  await expect(page.getByRole('heading', { level: 1 })).not.toContainText(fixtureStreamer)
  await expect(overlay(page)).toBeVisible()
  await expect(mainVideo(page)).toHaveJSProperty('paused', true)
  expect(network.requests('/v1/vast.php').length).toBe(2)
  await closeButton(page).click()
  await expectPlaying(page)
})

test('asks for no ad where no zone for it is configured', async ({ page, network }) => {
  await place(page, { zones: {} })
  await page.goto(playerPath)
  await expectPlaying(page)
  expect(network.requests('/v1/vast.php')).toEqual([])
})

test('sends the network no cookies of its own with the VAST request', async ({ page, network }) => {
  await openPlayer(page, 'plain')
  await expect(overlay(page)).toBeVisible()
  const [asked] = network.requests('/v1/vast.php')
  expect(asked?.query.get('idzone')).toBe('plain')
  expect(asked?.headers.cookie).toBeUndefined()
})

async function openPlayer(page: Page, zone: string): Promise<void> {
  await page.unrouteAll()
  await place(page, { zones: { video: zone } })
  await page.addInitScript(countOverlays)
  await page.goto(playerPath)
}

async function expectPlaying(page: Page, timeout = startLimitMs): Promise<void> {
  await expect.poll(() => position(page), { timeout, intervals: [100] }).toBeGreaterThan(0.2)
  await expect(overlay(page)).toBeHidden()
}

/** Counts elements that are an overlay at any time, however short. */
function countOverlays(): void {
  const seen = new Set<Element>()
  const lookup = (): void => {
    for (const element of document.querySelectorAll('[data-preroll]')) {
      if (element.checkVisibility()) seen.add(element)
    }
    Object.assign(globalThis, { overlaysShown: seen.size })
  }
  lookup()
  new MutationObserver(lookup).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
  })
}

function shownOverlays(page: Page): Promise<number> {
  return page.evaluate<number>('globalThis.overlaysShown')
}
