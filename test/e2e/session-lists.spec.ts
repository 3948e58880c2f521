// The sessions of a streamer with thousands of them: months, search, scrolling, Back.
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'

const streamer = 'Marathon'
const path = `/s/${streamer}`
/** One session every five hours, newest first: about 14 months. */
const count = 2000
const newestMs = Date.UTC(2026, 0, 31, 20)

const sessions = Array.from({ length: count }, (_, at) => ({
  date: new Date(newestMs - at * 5 * 3_600_000).toISOString().slice(0, 10),
  sessionId: String(count - at),
  duration: '4:05:00',
}))
const details = sessions.map(({ date, sessionId }, at) => ({
  date,
  sessionId,
  title: `Stage ${sessionId}`,
  ...(at === 0 && { growing: true }),
}))

// It renders thousands of cards: once for all tests.
sharePage(
  async (page) => {
    await page.route(/\/api\/thumbnail/, (route) => route.abort())
    await page.route(`**/api/sessions/${streamer}`, (route) => route.fulfill({ json: sessions }))
    await page.route(`**/api/details/${streamer}`, (route) =>
      route.fulfill({ json: { sessions: details } }),
    )
    await page.goto(path)
  },
  async (page) => {
    await expect.poll(() => page.locator('ul[aria-label="Sessions"] > li').count()).toBe(count)
    await page.evaluate(() => scrollTo(0, 0))
  },
)

test('has a heading for each month, which stays while its sessions scroll', async ({ page }) => {
  const heading = page.getByRole('heading', { level: 2, name: 'January 2026' })
  await page.evaluate(() => scrollTo(0, 1500))
  await expect.poll(async () => (await heading.boundingBox())?.y).toBe(0)
  const december = page.getByRole('heading', { level: 2, name: 'December 2025' })
  await december.scrollIntoViewIfNeeded()
  await expect(december).toBeInViewport()
})

test("finds the text of a distant session with the browser's own search", async ({ page }) => {
  const target = page.getByRole('listitem').filter({ hasText: 'Session 123 •' })
  await expect(target).not.toBeInViewport()
  expect(await page.evaluate<boolean>(`window.find('Session 123 •')`)).toBe(true)
  await expect(target).toBeInViewport()
})

test('restores the position in the list', async ({ page }) => {
  const target = page.getByRole('listitem').filter({ hasText: 'Stage 1234' })
  await target.scrollIntoViewIfNeeded()
  await expect(target).toBeInViewport()
  const top = () => target.evaluate((card) => card.getBoundingClientRect().top)
  const before = await top()
  await target.getByRole('link').click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('1234')
  await page.goBack()
  await expect(target).toBeInViewport()
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(200)
})

test('shows the sessions of a month, and one of them after a search', async ({ page }) => {
  await page.getByLabel('Month').selectOption('November 2025')
  await expect(page.getByRole('heading', { level: 2 })).toHaveText(['November 2025'])
  await expect(page.getByRole('listitem').first()).toContainText('2025-11-30')
  await page.getByLabel('Month').selectOption('All')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('stage 1321')
  await expect(page.getByRole('listitem')).toHaveCount(1)
  await expect(page).toHaveURL(`${path}?q=stage+1321`)
  await page.reload()
  await expect(page.getByRole('listitem')).toHaveCount(1)
  await page.getByRole('searchbox').press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toContainText('1321')
  await page.goBack()
  await expect(page.getByPlaceholder('Search session…')).toHaveValue('stage 1321')
})
