// The list `At the same time` below the video: links to the moment that is shown, in sessions of
// other streamers.
import type { Locator, Page } from '@playwright/test'
import type { AroundResponse } from '../../shared/around-response.ts'
import { aroundApiPath, playerPagePath } from '../../shared/paths.ts'
import { expectNoViolation, inBothSchemes } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { expect, test } from './site.ts'
import { position, seek } from './video-position.ts'

const named = (sessionId: string) => ({ streamer: fixtureStreamer, date: fixtureDate, sessionId })
const session = named('mkv-h264-aac-60s')
const other = named('ts-h264-aac-clean-hls-concat')
/** Of 60 s: one that begins at 20.5 s, and one that has ended by 40 s. */
const sessions: AroundResponse['sessions'] = [
  { ...other, title: 'Grand <b>final</b>', offsetSeconds: 20.5, durationSeconds: 30 },
  { ...named('1'), streamer: 'bob', offsetSeconds: -3600, durationSeconds: 3640 },
]

test.describe.configure({ mode: 'parallel' })

// A test may end while the details of the last page are on their way.
test.afterEach(async ({ page }) => page.unrouteAll({ behavior: 'ignoreErrors' }))

test('links to the moment that is shown, as far as both have it', async ({ page }) => {
  await answerAround(page, sessions)
  const video = await open(page)
  const list = listOf(page)
  await expect(list.getByRole('listitem')).toHaveText([
    `${fixtureStreamer}Grand <b>final</b>0:00:20 – 0:00:50Watch together`,
    'bob0:00:00 – 0:00:40Watch together',
  ])
  const targets = () =>
    list.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const expectTargets = async (...seconds: number[]) =>
    expect.poll(targets).toEqual(sessions.map((one, i) => `${playerPagePath(one)}?t=${seconds[i]}`))
  for (const [at, moments] of [
    [5, [0, 3605]],
    [30, [9, 3630]],
    [55, [29, 3639]],
  ] as const) {
    await seek(video, at)
    await expectTargets(...moments)
  }
  await seek(video, 30)
  await expectTargets(9, 3630)
  await list.getByRole('link').first().click()
  await expect(page).toHaveURL(`${playerPagePath(other)}?t=9`)
  await expect.poll(() => position(video)).toBeGreaterThan(9)
})

test('fits, without a violation of WCAG: light and dark, in all widths', async ({ page }) => {
  const many = Array.from({ length: 48 }, (_, i) => ({
    ...named(`${i}`),
    streamer: i === 0 ? 'a streamer with a long name '.repeat(3) : `streamer-${i}`,
    ...(i % 3 === 0 && { title: 'A title that needs more than one line on a phone' }),
    offsetSeconds: -i,
    durationSeconds: 100,
  }))
  await answerAround(page, [...sessions, ...many])
  await open(page)
  await expect(listOf(page).getByRole('link')).toHaveCount(50)
  await expect(page.locator('[data-player]')).toHaveAttribute('data-settled')
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 1000 })
    await inBothSchemes(page, async () => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(wide, `${width} px`).toBeLessThanOrEqual(0)
      await expectNoViolation(page, 'main')
    })
  }
})

test('is absent where there is no other session, and where the request fails', async ({ page }) => {
  await answerAround(page, [])
  await open(page)
  await expect(page.locator('[data-player]')).toHaveAttribute('data-settled')
  await expect(listOf(page)).toHaveCount(0)
  await page.route(`**${aroundApiPath(session)}`, (route) => route.abort())
  await open(page)
  await expect(page.locator('[data-player]')).toHaveAttribute('data-settled')
  await expect(listOf(page)).toHaveCount(0)
})

function listOf(page: Page): Locator {
  return page.getByRole('list', { name: 'At the same time' })
}

async function answerAround(page: Page, answer: AroundResponse['sessions']): Promise<void> {
  await page.route('**/api/session/**', async (route) => {
    const response = await route.fetch()
    const around = { url: aroundApiPath(session) }
    await route.fulfill({ response, json: { ...(await response.json()), around } })
  })
  await page.route(`**${aroundApiPath(session)}`, (route) =>
    route.fulfill({ json: { sessions: answer } satisfies AroundResponse }),
  )
}

/** Opens the session, plays it, and pauses. */
async function open(page: Page): Promise<Locator> {
  await page.goto(playerPagePath(session))
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(0)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  return video
}
