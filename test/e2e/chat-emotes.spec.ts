// Emotes in the chat: parts of one image, words for everything but the eye.
import type { Locator, Page } from '@playwright/test'
import { embeddedData, twitchJson } from '../support/make/make-chat.ts'
import {
  BLUE,
  GREEN,
  makeAnimatedWebp,
  makeGif,
  makePng,
  RED,
} from '../support/make/make-emotes.ts'
import { patienceMs } from '../support/patience.ts'
import { chatApiPath, playerPagePath } from '../../shared/paths.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary } from '../support/temp-library.ts'
import { expectNoViolation, inBothSchemes } from './expect-no-violation.ts'
import { expect, test } from './site.ts'
import { position } from './video-position.ts'

const session = { streamer: 'chats', date: '2026-01-31', sessionId: 'emotes' }
const square = { width: 56, height: 56 }
const texts = [
  'catJAM',
  'hello catJAM catJAM and bobWave :)',
  'not catJAM, nor broken',
  'مرحبا catJAM يا',
]
const emotes = { bobWave: '25', ':)': '1' }
const chat = twitchJson(
  Array.from({ length: 40 }, (_, seconds) => {
    return { seconds, user: 'Ann', text: texts[seconds % 4] ?? '', color: '#1e90ff', emotes }
  }),
  {
    embeddedData: embeddedData(
      { catJAM: makeGif(square, [RED, BLUE]), broken: Buffer.from('no image') },
      { 25: makePng({ width: 84, height: 28 }, GREEN), 1: makeAnimatedWebp(square, [BLUE, RED]) },
    ),
  },
)

let server: StartedServer

test.beforeAll(async () => {
  const library = await createTempLibrary('emotes')
  const file = `${session.streamer}/${session.date}/${session.sessionId}`
  await library.place(`${file}.mkv`, 'mkv-h264-aac-60s.mkv')
  await library.place(`${file}.json`, Buffer.from(chat))
  server = await startServer({ args: library.args })
  const index = async () => (await fetch(server.url + chatApiPath(session))).text()
  await expect.poll(index, { timeout: patienceMs }).toContain('"emotes"')
})

test('shows the first picture in place of a word', async ({ page, consoleErrors }) => {
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  const loaded = page.waitForResponse(/\/emotes\.webp$/)
  const log = await openChat(page)
  expect((await loaded).status()).toBe(200)
  const row = log.locator('p', { hasText: 'hello' }).first()
  await expect(row.getByTitle('catJAM')).toHaveCount(2)
  for (const [name, width, colour] of [
    ['catJAM', 28, RED],
    ['bobWave', 84, GREEN],
    [':)', 28, BLUE],
  ] as const) {
    const emote = row.getByTitle(name, { exact: true }).first()
    await expect(emote).toHaveCSS('background-image', /^url\("http.+\/emotes\.webp"\)$/)
    await expect(emote).toHaveCSS('background-size', '142px auto')
    const box = await emote.boundingBox()
    expect([box?.width, box?.height]).toEqual([width, 28])
    const found = await middleOf(page, emote)
    const distance = Math.hypot(...colour.map((value, at) => value - (found[at] ?? 0)))
    expect(distance, `${name}: ${found.join()}`).toBeLessThan(30)
  }
  await expect(log.locator('p', { hasText: 'not catJAM, nor broken' }).first()).toBeVisible()
  await expect(log.getByTitle('broken')).toHaveCount(0)
  expect([...hosts]).toEqual([server.url])
  expect(consoleErrors.list()).toEqual([])
})

test('keeps the words for copies, searches and assistive technology', async ({ page }) => {
  const log = await openChat(page)
  const text = log.locator('p', { hasText: 'hello' }).first().locator('bdi').last()
  await expect(text.getByTitle('catJAM')).toHaveCount(2)
  await expect(text).toHaveText(texts[1] ?? '')
  const copied = await text.evaluate((element) => {
    getSelection()?.selectAllChildren(element)
    return getSelection()?.toString()
  })
  expect(copied).toBe(texts[1])
  await expect(text).toMatchAriaSnapshot(`- text: ${texts[1]}`)
  await page.getByRole('searchbox', { name: 'Search chat…' }).fill('bobwave')
  await expect(page.getByRole('status').filter({ hasText: '10 messages' })).toBeVisible()
  await expect(log.getByTitle('bobWave')).toHaveCount(10)
})

test('shows words if the image cannot be loaded', async ({ page }) => {
  await page.route('**/emotes.webp', (route) => route.fulfill({ status: 404 }))
  const failed = page.waitForResponse(/\/emotes\.webp$/)
  const log = await openChat(page)
  await (await failed).finished()
  await expect(log.locator('p', { hasText: texts[1] ?? '' }).first()).toBeVisible()
  await expect(log.getByTitle('catJAM')).toHaveCount(0)
})

test('follows the end of the log when the image comes', async ({ page }) => {
  const held = Promise.withResolvers<void>()
  await page.route('**/emotes.webp', async (route) =>
    held.promise.then(async () => route.continue()),
  )
  const log = await openChat(page)
  await expect(log.getByTitle('catJAM')).toHaveCount(0)
  held.resolve()
  await expect(log.getByTitle('catJAM').first()).toBeVisible()
  const distance = () =>
    log.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)
  await expect.poll(distance).toBeLessThan(2)
})

test('has no violation of WCAG 2.2 AA, light and dark', async ({ page }) => {
  const log = await openChat(page)
  await expect(log.getByTitle('catJAM').first()).toBeVisible()
  await inBothSchemes(page, () => expectNoViolation(page))
})

/** The log of the paused session. */
async function openChat(page: Page): Promise<Locator> {
  await page.goto(`${server.url}${playerPagePath(session)}?t=39`)
  const video = page.locator('video')
  await expect.poll(() => position(video)).toBeGreaterThan(39)
  await video.evaluate((element: HTMLVideoElement) => element.pause())
  await page.getByRole('button', { name: 'Chat' }).click()
  const log = page.getByRole('region', { name: 'Chat' }).getByRole('log')
  await expect(log.locator('p')).toHaveCount(40)
  return log
}

/** Red, green and blue in the middle of what an element shows. */
async function middleOf(page: Page, element: Locator): Promise<number[]> {
  const url = `data:image/png;base64,${(await element.screenshot()).toString('base64')}`
  return page.evaluate(async (source) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context?.drawImage(image, 0, 0)
    const middle = context?.getImageData(image.width / 2, image.height / 2, 1, 1)
    return [...(middle?.data.slice(0, 3) ?? [])]
  }, url)
}
