// All pages, also those of what does not exist, pass the automatic checks of WCAG 2.2 AA in both
// colour schemes, and work by keyboard.
import { expectNoViolation, inBothSchemes, setColors } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'

const streamer = encodeURIComponent(fixtureStreamer)
const pages = [
  { name: 'sessions', path: `/s/${streamer}` },
  { name: 'player', path: `/p/${streamer}/${fixtureDate}/mp4-h264-aac-moov-first` },
  { name: 'unknown streamer', path: '/s/nobody' },
  { name: 'unknown session', path: `/p/${streamer}/${fixtureDate}/unknown` },
  { name: 'session of an unknown streamer', path: `/p/nobody/${fixtureDate}/1` },
]

for (const { name, path } of pages) {
  test(`has no violation on the page: ${name}, light and dark`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByRole('listitem').first()).toBeVisible()
    if (path.startsWith('/p/')) {
      await expect(page.getByRole('list', { name: 'Recommended' })).toBeVisible()
    }
    await inBothSchemes(page, () => expectNoViolation(page))
    if (name !== 'sessions') return
    await test.step('in the rows of a phone', async () => {
      await setColors(page, { colorScheme: 'light', contrast: 'no-preference' })
      await page.setViewportSize({ width: 360, height: 780 })
      await expectNoViolation(page)
    })
  })
}

test('reaches all of the player with Tab in a low window, where the video is first', async ({
  page,
}) => {
  await page.setViewportSize({ width: 640, height: 360 })
  await page.goto(`/p/${streamer}/${fixtureDate}/mp4-h264-aac-moov-first`)
  await expect(page.getByRole('list', { name: 'Recommended' })).toBeVisible()
  const reached = new Set<string>()
  // The browser's own controls are several stops.
  for (let stop = 0; stop < 60 && !reached.has('Language'); stop += 1) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate(() => {
      const { ariaLabel, textContent = '', parentElement } = document.activeElement ?? {}
      return ariaLabel ?? parentElement?.querySelector(':scope > span')?.textContent ?? textContent
    })
    reached.add(name?.trim() ?? '')
  }
  const wanted = ['Skip to content', 'Home', 'Back', 'Position', 'Speed', 'Crowd 01', 'Language']
  expect([...reached].filter((name) => wanted.includes(name))).toEqual(wanted)
})

test.describe('the page of streamers', () => {
  sharePage(async (page) => {
    await page.goto('/')
    await expect(page.getByRole('listitem').first()).toBeVisible()
  })

  test('has a link past the header as the first tab stop', async ({ page }) => {
    await page.keyboard.press('Tab')
    await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  })

  test('has no violation, light and dark', async ({ page }) => {
    await inBothSchemes(page, () => expectNoViolation(page))
  })

  test('moves the focus to the heading of the opened page', async ({ page }) => {
    const card = page.getByRole('listitem').filter({ hasText: fixtureStreamer })
    await card.getByRole('link', { name: 'View Sessions' }).press('Enter')
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Sessions: ${fixtureStreamer}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  })
})
