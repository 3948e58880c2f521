// The chat follows the video in each engine; test/e2e has the rest of it, in Chromium.
import { appendFile } from 'node:fs/promises'
import { playerPagePath, sessionApiPath } from '../../shared/paths.ts'
import { expect, test } from '../e2e/site.ts'
import { settleSeconds } from '../support/growing-file.ts'
import { ircLine, ircLines } from '../support/make/make-chat.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, type TempLibrary } from '../support/temp-library.ts'
import type { EnginePage } from './engine-page.ts'
import { findEngines, mainVideo, playMuted } from './find-engines.ts'

const session = { streamer: 'chats', date: '2026-01-31', sessionId: 'talk' }
const recording = `${session.streamer}/${session.date}/${session.sessionId}`
/** A message per second. */
const messages = Array.from({ length: 36 }, (_, seconds) => {
  return { seconds, user: 'Ann', text: `said ${seconds}` }
})

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  library = await createTempLibrary('chat-engines')
  await library.place(`${recording}.ts`, 'ts-h264-aac-clean-hls-concat.ts')
  await library.place(`${recording}.log`, Buffer.from(ircLines(messages)), new Date())
  server = await startServer({ args: library.args, settings: { library: { settleSeconds } } })
  const details = async () => (await fetch(server.url + sessionApiPath(session))).text()
  for (const field of ['durationSeconds', 'chat']) {
    await expect.poll(details).toContain(`"${field}"`)
  }
})

for (const { name, open } of findEngines()) {
  test(`${name}: follows seeks, speed and pauses, and shows what is added`, async ({ browser }) => {
    const page = await open(browser)
    try {
      await page.open(server.url + playerPagePath(session))
      await expect.poll(() => page.evaluate(playMuted)).toBeGreaterThan(0)
      await page.evaluate(`${mainVideo}.pause()`)
      await page.click('//main//button[@aria-label="Chat"]')
      await follow(page)
      if (page.hideWhile) await page.hideWhile(() => stayBehind(page))
      await expect.poll(() => page.evaluate(secondsBehind)).toBe(0)
      await grow(page, name)
    } finally {
      await page.close()
    }
  })
}

async function follow(page: EnginePage): Promise<void> {
  for (const seconds of [20, 5]) {
    await page.evaluate(`void (${mainVideo}.currentTime = ${seconds}.5)`)
    await expect.poll(() => page.evaluate(lastSecond)).toBe(seconds)
  }
  await page.evaluate(`void (${mainVideo}.playbackRate = 2, ${mainVideo}.play())`)
  await expect.poll(() => page.evaluate(lastSecond)).toBeGreaterThan(7)
  await expect.poll(() => page.evaluate(secondsBehind)).toBe(0)
  await page.evaluate(`${mainVideo}.pause()`)
  await expect.poll(() => page.evaluate(secondsBehind)).toBe(0)
}

/** In the background, the video plays on without its chat. */
async function stayBehind(page: EnginePage): Promise<void> {
  await expect.poll(() => page.evaluate('document.hidden')).toBe(true)
  await page.evaluate(`void ${mainVideo}.play()`)
  await expect.poll(() => page.evaluate(secondsBehind)).toBeGreaterThan(1)
  await page.evaluate(`${mainVideo}.pause()`)
}

/** The chat is loaded again only while something happens. */
async function grow(page: EnginePage, text: string): Promise<void> {
  const line = ircLine({ seconds: 0.5, user: 'Bob', text })
  await appendFile(library.pathOf(`${recording}.log`), line)
  const logAtStart = `(${mainVideo}.currentTime = 1, ${log}.innerText)`
  await expect.poll(() => page.evaluate(logAtStart)).toContain(text)
}

const log = `document.querySelector('[role="log"]')`

/** The second of the last message; -1 without one. */
const lastSecond = `Number(/said (\\d+)$/.exec(${log}?.lastElementChild?.textContent)?.[1] ?? -1)`

const secondsBehind = `Math.floor(${mainVideo}.currentTime) - ${lastSecond}`
