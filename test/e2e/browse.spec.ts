// Navigation: streamers, sessions, search, Back, and what the pages show while requests are pending
// or fail.
import type { Locator } from '@playwright/test'
import { fixtureDate, fixtureStreamer, playableFixtures, sessionIdOf } from './library.ts'
import { expect, test } from './site.ts'

const cards = (name: string) => ({ name, exact: true })

test('leads from the streamers over the sessions to the player', async ({
  page,
  request,
  consoleErrors,
}) => {
  const path = `/api/sessions/${encodeURIComponent(fixtureStreamer)}`
  await expect.poll(async () => unknownDurations(await (await request.get(path)).json())).toBe(0)
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1, name: 'Streamers' })).toBeVisible()
  const card = page.getByRole('listitem').filter({ hasText: fixtureStreamer })
  await expect(card).toContainText(`${playableFixtures.length} recordings`)

  await card.getByRole('link', { name: 'View Sessions' }).click()
  await expect(page).toHaveURL(`/s/${encodeURIComponent(fixtureStreamer)}`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Sessions: ${fixtureStreamer}`)
  await expect(page).toHaveTitle(new RegExp(fixtureStreamer))
  const sessions = page.getByRole('list', cards('Sessions')).getByRole('listitem')
  await expect(sessions).toHaveCount(playableFixtures.length)
  const long = sessions.filter({ hasText: 'ts-h264-aac-clean-hls-concat' })
  await expect(long).toContainText('Session ts-h264-aac-clean-hls-concat • 0:00:36')

  const sessionId = 'mp4-h264-aac-moov-first'
  const session = sessions.filter({ hasText: `Session ${sessionId} •` })
  await expect(session).toContainText(fixtureDate)
  await session.getByRole('link', { name: 'Play' }).click()
  const title = `${fixtureStreamer} - ${fixtureDate} - ${sessionId}`
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title)
  await expect(page).toHaveTitle(new RegExp(title))
  await expect(page.locator('video')).toHaveJSProperty('controls', true)

  await page.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Sessions: ${fixtureStreamer}`)
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  expect(consoleErrors.list()).toEqual([])
})

test.describe('a card at rest', () => {
  test.use({ pageClock: 'stopped' })

  test('flicks through its session under a mouse', async ({ page }) => {
    const loads: string[] = []
    page.on('request', (request) => {
      if (/flick-storyboard|\.vtt$/.test(request.url())) loads.push(request.url())
    })
    await page.goto(`/s/${encodeURIComponent(fixtureStreamer)}`)
    const cardOf = (sessionId: string) =>
      page.getByRole('listitem').filter({ hasText: `Session ${sessionId} •` })
    const touched = cardOf('mp4-h264-aac-moov-first')
    await touched.dispatchEvent('pointerover', { pointerType: 'touch' })
    await page.clock.runFor(1000)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await cardOf('mkv-h264-aac-60s').hover()
    await page.clock.runFor(1000)
    // Requests are reported in order: those before this one are known with its response.
    await page.evaluate(async () => (await fetch('/api/config')).status)
    expect(loads).toEqual([])
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    const card = cardOf('ts-h264-aac-clean-hls-concat')
    await card.hover()
    await page.clock.runFor(1000)
    const frame = card.locator('canvas')
    await expect(frame).toBeVisible()
    const pixels = () => frame.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL())
    const first = await pixels()
    await page.clock.runFor(1000)
    await expect.poll(pixels).not.toBe(first)
    await page.mouse.move(1, 1)
    await expect(frame).toHaveCount(0)
    expect(loads).toHaveLength(2)
  })
})

test('hides thumbnails that fail and shows two letters on streamers', async ({ page }) => {
  await page.route(/\/api\/thumbnail/, (route) => route.abort())
  await page.goto('/')
  // Thumbnails load only near the viewport.
  const streamer = page.getByRole('listitem').first()
  await expect(streamer.getByText('CR', { exact: true })).toBeVisible()
  await expect(streamer.locator('img:visible')).toHaveCount(0)
  await page.goto(`/s/${encodeURIComponent(fixtureStreamer)}`)
  const session = page.getByRole('listitem').first()
  await expect(session).toBeVisible()
  await expect(session.locator('img:visible')).toHaveCount(0)
})

test('shows a thumbnail on the card of a session, and the newest one on the streamer', async ({
  page,
}) => {
  await page.goto(`/s/${encodeURIComponent(fixtureStreamer)}`)
  const session = page.getByRole('listitem').filter({ hasText: 'ts-h264-aac-clean-hls-concat' })
  await session.scrollIntoViewIfNeeded()
  await expect.poll(() => imageWidth(session.locator('img'))).toBeGreaterThan(100)
  await page.goto('/')
  const streamer = page.getByRole('listitem').first()
  await expect.poll(() => imageWidth(streamer.locator('img'))).toBeGreaterThan(100)
})

test('restores the scroll position', async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 600 })
  await page.goto('/')
  const card = page.getByRole('listitem').filter({ hasText: 'Crowd 40' })
  await card.scrollIntoViewIfNeeded()
  await expect(card).toBeInViewport()
  const before = await page.evaluate(() => scrollY)
  expect(before).toBeGreaterThan(300)
  await card.getByRole('link', { name: 'View Sessions' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sessions: Crowd 40')
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(card).toBeInViewport()
  await expect
    .poll(async () => Math.abs((await page.evaluate(() => scrollY)) - before))
    .toBeLessThan(120)
})

test.describe('with a stopped clock', () => {
  test.use({ pageClock: 'stopped' })
  const preparedMs = 5000
  const sessions = `/s/${encodeURIComponent(fixtureStreamer)}`

  test('prepares the first segment of the session while the pointer rests on Play', async ({
    page,
    consoleErrors,
  }) => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    const segments = () => requested.filter((path) => /^\/api\/video\/.*\.(?:ts|m4s)$/.test(path))
    await page.goto(sessions)
    const card = page.getByRole('listitem').filter({ hasText: 'ts-h264-aac-clean-hls-concat' })
    const play = card.getByRole('link', { name: 'Play' })
    const loaded = page.waitForResponse((response) => /\.(?:ts|m4s)$/.test(response.url()))
    await play.hover()
    await expect(async () => {
      await page.clock.runFor(20)
      expect(segments().length).toBe(1)
    }).toPass({ intervals: [50] })
    await (await loaded).finished()
    await page.clock.runFor(preparedMs)
    expect(segments().length).toBe(1)
    await expect(page.locator('video')).toHaveCount(0)
    await play.click()
    await page.clock.resume()
    const position = () =>
      page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
    await expect.poll(position).toBeGreaterThan(0.2)
    await expect.poll(() => segments().length).toBeGreaterThan(1)
    // The prepared session plays: no segment is requested twice, and there is no second worker.
    expect(new Set(segments()).size).toBe(segments().length)
    expect(page.workers().length).toBe(1)
    expect(requested.filter((path) => path.includes('warm'))).toEqual([])
    expect(consoleErrors.list()).toEqual([])
  })

  test('prepares no session where the pointer only crosses Play', async ({ page }) => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await page.goto(sessions)
    const link = page.getByRole('link', { name: 'Play' }).first()
    await expect(link).toBeVisible()
    // The first movement of the pointer loads the player.
    expect(page.workers().length).toBe(0)
    await page.mouse.move(1, 1)
    await expect.poll(() => page.workers().length).toBe(1)
    await link.evaluate((element) => {
      for (const type of ['pointerover', 'pointerout']) {
        const init = { bubbles: true, relatedTarget: document.body }
        element.dispatchEvent(new PointerEvent(type, init))
      }
    })
    await expect.poll(() => requested.some((path) => path.endsWith('/playlist.m3u8'))).toBe(true)
    await page.clock.runFor(preparedMs)
    // Any request of the page was sent before this one.
    await page.evaluate(() => fetch('/api/config'))
    expect(requested.filter((path) => /\.(?:ts|m4s)$/.test(path))).toEqual([])
  })
})

test('recommends at most eight sessions, each of another streamer', async ({ page }) => {
  await page.goto(`/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/mp4-h264-mp3`)
  const recommended = page.getByRole('list', cards('Recommended')).getByRole('listitem')
  await expect(recommended).toHaveCount(8)
  const links = await recommended
    .getByRole('link')
    .evaluateAll((anchors) =>
      anchors.map((anchor) => new URL(anchor.getAttribute('href') ?? '', location.href).pathname),
    )
  const streamers = new Set(links.map((path) => path.split('/')[2]))
  expect(streamers.size).toBe(8)
  for (const path of links) expect(path).toMatch(/^\/p\/[^/]+\/[^/]+\/[^/]+$/)
})

test('has three columns of sessions on a desktop, one on a phone', async ({ page }) => {
  await page.goto(`/s/${encodeURIComponent(fixtureStreamer)}`)
  const items = page.getByRole('list', cards('Sessions')).getByRole('listitem')
  await expect(items).toHaveCount(playableFixtures.length)
  const columnsAt = async (width: number) => {
    await page.setViewportSize({ width, height: 900 })
    return items.evaluateAll(
      (all) => new Set(all.map((item) => item.getBoundingClientRect().x)).size,
    )
  }
  expect(await columnsAt(1440)).toBe(3)
  expect(await columnsAt(360)).toBe(1)
})

test('responds to unknown names with 404 and JSON', async ({ request }) => {
  for (const path of [
    '/api/sessions/nobody',
    '/api/thumbnail-streamer/nobody',
    '/api/thumbnail/nobody/2026-01-01/1',
    '/api/video/nobody/2026-01-01/1/playlist.m3u8',
    '/api/nothing',
  ]) {
    const response = await request.get(path)
    expect(response.status(), path).toBe(404)
    expect(await response.json(), path).toMatchObject({
      error: { code: expect.any(String), message: expect.any(String) },
    })
  }
})

test('renders every route after a reload', async ({ page }) => {
  const sessionId = sessionIdOf({ file: 'mp4-h264-mp3.mp4' })
  for (const path of [
    '/',
    `/s/${fixtureStreamer}`,
    `/p/${fixtureStreamer}/${fixtureDate}/${sessionId}`,
  ]) {
    await page.goto(path)
    await page.reload()
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  }
})

/** Width of the loaded image in its own pixels; 0 before that. */
function imageWidth(image: Locator): Promise<number> {
  return image.evaluate((element: HTMLImageElement) => element.naturalWidth)
}

function unknownDurations(sessions: { duration?: string }[]): number {
  return sessions.filter(({ duration }) => duration === undefined).length
}
