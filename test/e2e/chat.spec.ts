// The chat beside the video: it follows the session, can be searched, and shows where the crowd was
// loud.
import { appendFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { bilibiliXml, ircLine, twitchJson } from '../support/make/make-chat.ts'
import type { MadeMessage } from '../support/make/make-chat.ts'
import { makeLongMp4 } from '../support/make/make-long-mp4.ts'
import { patienceMs } from '../support/patience.ts'
import { sessionApiPath } from '../../shared/paths.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from '../support/temp-library.ts'
import type { TempLibrary } from '../support/temp-library.ts'
import { expectNoViolation, inBothSchemes } from './expect-no-violation.ts'
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'
import { position, seek } from './video-position.ts'

const date = '2026-01-31'
const phone = { width: 360, height: 780 }
/** Four parts. */
const SECONDS = 240
/** A message per second, and ten per second in the third minute, by three users. */
const messages = Array.from({ length: SECONDS }, (_, second) => second).flatMap((second) =>
  Array.from({ length: second >= 120 && second < 180 ? 10 : 1 }, (_, nth): MadeMessage => ({
    seconds: second,
    user: ['Ann', 'Bob', 'مستخدم'][(second + nth) % 3] ?? '',
    text: `said ${second}`,
    color: '#0000FF',
    id: `${second}.${nth}`,
  })),
)
messages.push({ seconds: 7, user: 'Eve', text: '<b>needle</b> https://a.example', id: 'eve' })

/** 83 per second. */
const BUSY_MESSAGES = 300_000
const BUSY_SECONDS = 3600
/** Notes on what was loaded. With the 40,000 messages of the eight minutes it would be 3.7 MB. */
const MAX_GROWTH_BYTES = 3_000_000

let library: TempLibrary
let server: StartedServer
/** The chat file that a test appends to. */
const growingFile = `chats/${date}/growing.log`

test.beforeAll(async () => {
  library = await createTempLibrary('chats')
  const minute = 'mkv-h264-aac-60s.mkv'
  for (const part of ['1', '2', '3', '4']) {
    await library.place(`chats/${date}/talk/${part}.mkv`, minute)
  }
  await library.place(`chats/${date}/talk/chat.json`, Buffer.from(twitchJson(messages)))
  await library.place(`chats/${date}/growing.mkv`, minute)
  const first = ircLine({ seconds: 0, user: 'Ann', text: 'first' })
  await library.place(growingFile, Buffer.from(first), new Date())
  await library.place(`chats/${date}/silent.mkv`, minute)
  server = await startServer({ args: library.args })
  for (const sessionId of ['talk', 'growing', 'silent']) await indexed(sessionId)
})

test('is loaded before it is opened, so that it moves what is in sight at once', async ({
  page,
}) => {
  const loaded = page.waitForResponse(/\/rare-parts-[^/]+\.js$/)
  await open(page, 'talk')
  expect((await loaded).ok()).toBe(true)
  await expect(page.getByRole('button', { name: 'Chat', exact: true })).toHaveAttribute(
    'aria-expanded',
    'false',
  )
})

test('follows the position through pause, seek and speed', async ({ page, consoleErrors }) => {
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  const video = await open(page, 'talk?t=100')
  await pause(video)
  const log = await openChat(page)
  const start = Math.floor(await position(video))
  await expect.poll(async () => lastSecond(log)).toBe(start)
  expect(await log.locator('p').count()).toBeGreaterThanOrEqual(50)

  await seek(video, 200.5)
  await expect.poll(async () => lastSecond(log)).toBe(200)
  await seek(video, 20.5)
  await expect.poll(async () => lastSecond(log)).toBe(20)
  await expect(log.locator('p')).toHaveCount(22)

  await video.evaluate(async (element: HTMLVideoElement) => {
    element.playbackRate = 2
    await element.play()
  })
  await expect.poll(async () => lastSecond(log)).toBeGreaterThan(24)
  await pause(video)
  const paused = Math.floor(await position(video))
  await expect.poll(async () => lastSecond(log)).toBe(paused)
  await expect.poll(() => distanceToEnd(log)).toBeLessThan(2)
  expect([...hosts]).toEqual([server.url])
  expect(consoleErrors.list()).toEqual([])
})

test.describe('on one visit', () => {
  sharePage(async (page) => {
    await open(page, 'talk')
    await openChat(page)
  })

  test('stops while the visitor reads, until Jump to now or a seek', async ({ page }) => {
    const { video, log } = partsOf(page)
    await seek(video, 150)
    await expect(log.locator('p')).toHaveCount(200)
    const jump = page.getByRole('button', { name: 'Jump to now' })
    await expect(jump).toHaveCount(0)
    await log.hover()
    await page.mouse.wheel(0, -400)
    await expect(jump).toBeVisible()
    const read = await lastSecond(log)
    const before = await position(video)
    await expect.poll(() => position(video)).toBeGreaterThan(before + 2)
    expect(await lastSecond(log)).toBe(read)
    await jump.click()
    await expect(jump).toHaveCount(0)
    await expect.poll(() => lastSecond(log)).toBeGreaterThan(read)

    await log.hover()
    await page.mouse.wheel(0, -400)
    await expect(jump).toBeVisible()
    await seek(video, 30)
    await expect(jump).toHaveCount(0)
    await expect.poll(() => lastSecond(log)).toBeLessThan(60)
  })

  test('searches all of the chat, shows one user, and seeks to a message', async ({ page }) => {
    const { video, log } = partsOf(page)
    await pause(video)
    await seek(video, 100)
    const chat = page.getByRole('region', { name: 'Chat' })
    const search = chat.getByRole('searchbox', { name: 'Search chat…' })
    await search.fill('NEEDLE')
    await expect(log.locator('p')).toHaveText([
      '0:00:07 subscriber Eve <b>needle</b> https://a.example',
    ])
    await expect(chat.getByRole('status')).toHaveText('1 message')
    await expect(chat.getByRole('link')).toHaveCount(0)
    await log.getByRole('button', { name: '0:00:07' }).click()
    await expect.poll(() => position(video)).toBeGreaterThanOrEqual(7)
    expect(await position(video)).toBeLessThan(60)
    await search.fill('nothing like it')
    await expect(chat.getByRole('status')).toHaveText('No messages found')
    await search.fill('')
    await expect(log).toContainText('needle')

    await log.getByRole('button', { name: 'Eve' }).click()
    const only = chat.getByRole('button', { name: 'Only Eve' })
    await expect(only).toBeFocused()
    await expect(chat.getByRole('status')).toHaveText('1 message')
    await only.press('Enter')
    await expect(log.locator('p').nth(5)).toBeVisible()

    // By keyboard, the list is one stop.
    await log.focus()
    await page.keyboard.press('ArrowUp')
    await expect(log.getByRole('button').nth(-2)).toBeFocused()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await expect(log.getByRole('button').nth(-4)).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(log).toBeFocused()
  })

  test('has buttons to where the crowd was loud', async ({ page }) => {
    const { video } = partsOf(page)
    await seek(video, 10)
    const peaks = page.getByRole('list', { name: 'Where it got loud' }).getByRole('button')
    await expect(peaks).toHaveText(['0:02:00'])
    await peaks.click()
    await expect.poll(() => position(video)).toBeGreaterThanOrEqual(120)
  })

  test('is beside the video where there is room, also in the theatre', async ({ page }) => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const { video } = partsOf(page)
    const chat = page.getByRole('region', { name: 'Chat' })
    for (const look of ['page', 'theatre']) {
      if (look === 'theatre') await page.keyboard.press('t')
      const isBeside = async () => {
        const [left, right] = [await boxOf(video), await boxOf(chat)]
        const isAligned = Math.abs(left.y - right.y) < 2 && Math.abs(left.height - right.height) < 2
        return isAligned && right.x > left.x + left.width && right.x + right.width <= 1440
      }
      await expect.poll(isBeside, look).toBe(true)
    }
    expect((await boxOf(video)).x).toBeLessThanOrEqual(0)
    await page.keyboard.press('t')
  })

  test('has no violation of WCAG 2.2 AA, light and dark', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 })
    const { video } = partsOf(page)
    await pause(video)
    await seek(video, 20)
    await inBothSchemes(page, () => expectNoViolation(page))
    await page.getByRole('searchbox').fill('said 23')
    await expect(page.getByRole('status').filter({ hasText: 'messages' })).toBeVisible()
    await inBothSchemes(page, () => expectNoViolation(page))
  })
})

test('remembers the offset of a session, and that the chat was open', async ({ page }) => {
  const video = await open(page, 'talk?t=100')
  await pause(video)
  const log = await openChat(page)
  const offset = page.getByRole('spinbutton', { name: 'Chat offset' })
  const found = log.locator('p', { hasText: 'said 90' })
  await offset.fill('10')
  await expect
    .poll(async () => Math.floor(await position(video)) - (await lastSecond(log)))
    .toBe(10)
  await expect(found).toContainText('0:01:40')
  await page.reload()
  await expect(offset).toHaveValue('10')
  await pause(video)
  await expect(found).toContainText('0:01:40')
  await offset.fill('200')
  await expect(log.locator('p')).toHaveCount(0)
  await offset.fill('')
  await expect(found).toContainText('0:01:30')
})

test('searches a chat that is loaded later', async ({ page }) => {
  const released = Promise.withResolvers<void>()
  await page.route('**/index.json', async (route) => {
    await released.promise
    await route.continue()
  })
  await open(page, 'talk')
  await page.getByRole('button', { name: 'Chat' }).click()
  const chat = page.getByRole('region', { name: 'Chat' })
  await chat.getByRole('searchbox').fill('needle')
  await expect(chat.getByRole('progressbar')).toBeVisible()
  released.resolve()
  await expect(chat.getByRole('status')).toHaveText('1 message')
})

test('is closed on a phone, and opens below the controls', async ({ page }) => {
  await page.setViewportSize(phone)
  const video = await open(page, 'talk?t=100')
  await pause(video)
  await expect(page.getByRole('button', { name: 'Chat' })).toHaveAttribute('aria-expanded', 'false')
  const log = await openChat(page)
  const [above, below] = [await boxOf(page.getByRole('slider')), await boxOf(log)]
  expect(below.y).toBeGreaterThan(above.y + above.height)
  expect(below.width).toBeGreaterThan(300)
  await page.reload()
  await expect(page.getByRole('button', { name: 'Chat' })).toHaveAttribute('aria-expanded', 'false')
})

test('has no button without a chat', async ({ page }) => {
  await open(page, 'silent')
  await expect(page.getByRole('button', { name: 'Theatre' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Chat' })).toHaveCount(0)
})

test('has no button for files that are no chat', async ({ page }) => {
  await page.route('**/index.json', (route) => route.fulfill({ status: 404 }))
  const response = page.waitForResponse('**/index.json')
  await open(page, 'talk')
  await response
  await expect(page.getByRole('button', { name: 'Theatre' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Chat' })).toHaveCount(0)
})

test('shows what is added to a growing chat', async ({ page }) => {
  const append = async (text: string) =>
    appendFile(library.pathOf(growingFile), ircLine({ seconds: 0.5, user: 'Bob', text }))
  // A chat grows while its file was written a moment ago.
  await append('now')
  const video = await open(page, 'growing')
  const log = await openChat(page)
  await expect(log).toContainText('first')
  await append('new')
  const textAtStart = async () => {
    // The chat is loaded again only while something happens, and the session may have ended.
    await seek(video, 1)
    return log.innerText()
  }
  await expect.poll(textAtStart).toContain('new')
})

test('has as much in memory after ten minutes of a busy chat as after two', async ({ page }) => {
  const crowd = Array.from({ length: BUSY_MESSAGES }, (_, nth): MadeMessage => {
    const seconds = (nth * BUSY_SECONDS) / BUSY_MESSAGES
    return { seconds, user: `User ${nth % 5000}`, text: `${nth} said ${Math.floor(seconds)}` }
  })
  await library.place(`chats/${date}/busy.xml`, Buffer.from(bilibiliXml(crowd)))
  const made = path.join(library.folder, 'busy.mp4')
  await makeLongMp4({ sourcePath: fixturePath(SMALL_FIXTURE), path: made, seconds: BUSY_SECONDS })
  await library.place(`chats/${date}/busy.mp4`, await readFile(made))
  for (const field of ['durationSeconds', 'chat']) await indexed('busy', field)
  const video = await open(page, 'busy')
  await pause(video)
  const log = await openChat(page)
  await pass(log, 0, 120)
  const early = await memoryOf(page)
  await pass(log, 120, 600)
  const late = await memoryOf(page)
  await expect(log.locator('p')).toHaveCount(200)
  expect(late.heapBytes - early.heapBytes).toBeLessThan(MAX_GROWTH_BYTES)
  expect(late.nodes).toBeLessThan(early.nodes + 100)
})

async function indexed(sessionId: string, field = 'durationSeconds'): Promise<void> {
  const url = server.url + sessionApiPath({ streamer: 'chats', date, sessionId })
  const details = async () => (await fetch(url)).text()
  await expect.poll(details, { timeout: patienceMs }).toContain(`"${field}"`)
}

/** Seeks on and on; each time the log is rendered up to there. */
async function pass(log: Locator, from: number, to: number): Promise<void> {
  const follow = async (element: HTMLElement, [first, last]: [number, number]) => {
    const video = document.querySelector('video')
    for (let second = first; video && second <= last; second += 8) {
      video.currentTime = second + 0.5
      while (!element.lastElementChild?.textContent.endsWith(` said ${second}`)) {
        await new Promise(requestAnimationFrame)
      }
    }
  }
  await log.evaluate(follow, [from, to] as [number, number])
}

/** What is in use after a garbage collection. */
async function memoryOf(page: Page): Promise<{ heapBytes: number; nodes: number }> {
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  const { nodes } = await client.send('Memory.getDOMCounters')
  await client.detach()
  return { heapBytes: usedSize, nodes }
}

async function open(page: Page, session: string): Promise<Locator> {
  await page.goto(`${server.url}/p/chats/${date}/${session}`)
  const video = page.locator('video')
  const [, linked = '0'] = session.split('?t=')
  await expect.poll(() => position(video)).toBeGreaterThan(Number(linked))
  return video
}

function partsOf(page: Page): { video: Locator; log: Locator } {
  const log = page.getByRole('region', { name: 'Chat' }).getByRole('log')
  return { video: page.locator('video'), log }
}

/** Returns the log, once it has a message. */
async function openChat(page: Page): Promise<Locator> {
  const button = page.getByRole('button', { name: 'Chat' })
  await button.click()
  await expect(button).toHaveAttribute('aria-expanded', 'true')
  const { log } = partsOf(page)
  await expect(log.locator('p').first()).toBeVisible()
  return log
}

/** The second of the last message; -1 without one. */
async function lastSecond(log: Locator): Promise<number> {
  const last = await log.evaluate((element) => element.lastElementChild?.textContent ?? '')
  return Number(/said (\d+)$/.exec(last)?.[1] ?? -1)
}

function distanceToEnd(log: Locator): Promise<number> {
  return log.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)
}

async function pause(video: Locator): Promise<void> {
  await video.evaluate((element: HTMLVideoElement) => element.pause())
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox()
  if (!box) throw new Error('the element is not rendered')
  return box
}
