// A session of several parts plays from the first to the last without interruption, also where only
// one is MPEG-TS.
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { createTempLibrary, type TempLibrary } from '../support/temp-library.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'

const day = 'Parts/2026-01-31'
/** Sum of both parts. */
const seconds = 10.12 + 10.08
const slackSeconds = 0.5

let library: TempLibrary
let server: StartedServer

test.beforeAll(async () => {
  library = await createTempLibrary('parts')
  await library.place(`${day}/both/1.ts`, 'ts-h264-aac-cea608.ts')
  await library.place(`${day}/both/2.flv`, 'flv-h264-aac.flv')
  server = await startServer({ args: library.args })
})

test('plays parts in MPEG-TS and FLV without interruption', async ({ page }) => {
  await page.goto(`${server.url}/p/${day}/both`)
  const watched = await watchToEnd(page.locator('video'))
  expect(watched).toMatchObject({ reached: 'ended', stepsBack: [], error: '' })
  expect(Math.abs(watched.currentTime - seconds)).toBeLessThan(slackSeconds)
  expect(watched.longestJump).toBeLessThan(slackSeconds)
  expect(watched.audioBytes).toBeGreaterThan(0)
})
