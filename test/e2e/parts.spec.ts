// A folder of parts plays from the first to the last in one go, also where one is MPEG-TS and the next is not.
import { expect, test } from '@playwright/test'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { createTempLibrary, type TempLibrary } from '../support/temp-library.ts'
import { watchToEnd } from './watch-to-end.ts'

const day = 'Parts/2026-01-31'
/** Both parts together. */
const seconds = 10.12 + 10.08
const slackSeconds = 0.5

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(60_000)
  library = await createTempLibrary('parts')
  await library.place(`${day}/both/1.ts`, 'ts-h264-aac-cea608.ts')
  await library.place(`${day}/both/2.flv`, 'flv-h264-aac.flv')
  server = await startServer({ args: library.args })
})

test.afterAll(async () => {
  await server.stop()
  await library.remove()
})

test('plays parts in MPEG-TS and FLV without a stop', async ({ page }) => {
  await page.goto(`${server.url}/p/${day}/both`)
  const watched = await watchToEnd(page.locator('video'))
  expect(watched).toMatchObject({ reached: 'ended', stepsBack: 0, error: '' })
  expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(slackSeconds)
  expect(watched.longestJump).toBeLessThan(slackSeconds)
  expect(watched.audioBytes).toBeGreaterThan(0)
})
