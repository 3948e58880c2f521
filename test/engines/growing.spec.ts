// A growing recording plays to its end in the engines other than Chromium, which test/e2e tests in
// detail.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { playlistApiPath } from '../../shared/paths.ts'
import { expect, test } from '../e2e/site.ts'
import { growFile, settleSeconds } from '../support/growing-file.ts'
import { startServer, type StartedServer } from '../support/servers/start-server.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { fixturePath } from '../support/temp-library.ts'
import type { EnginePage } from './engine-page.ts'
import { findEngines, mainVideo, playMuted } from './find-engines.ts'

// Audio and video start together, at 0: WebKitGTK sometimes hangs in a seek over a gap at the
// start.
const recording = { file: 'ts-h264-aac-clean-hls-concat.ts', bytes: 5500 * 188, seconds: 10 }
const startShare = 0.7

let library: string
let server: StartedServer

test.beforeAll(async () => {
  const folder = makeTempFolder('engines')
  library = path.join(folder, 'library')
  await mkdir(path.join(library, 'Live/2026-01-31'), { recursive: true })
  server = await startServer({
    args: [library, '--data', path.join(folder, 'data')],
    settings: { library: { settleSeconds } },
    environment: { AFTERCAST_WORKERS: '2' },
  })
})

for (const { name, open } of findEngines()) {
  // test/e2e has it in detail.
  if (name === 'Chromium') continue
  test(`${name}: continues while a recording grows, and to its end`, async ({ browser }) => {
    const page = await open(browser)
    try {
      const bytes = (await readFile(fixturePath(recording.file))).subarray(0, recording.bytes)
      const played = start(page, name)
      const target = path.join(library, `Live/2026-01-31/${name}.ts`)
      await Promise.all([played, growFile(target, bytes, { startShare, played })])
      await expect.poll(() => page.evaluate(`${mainVideo}.ended`)).toBe(true)
      const seconds = Number(await page.evaluate(`${mainVideo}.currentTime`))
      expect(Math.abs(seconds - recording.seconds)).toBeLessThan(0.5)
      expect(await page.evaluate('window.wasNotReloaded')).toBe(true)
    } finally {
      await page.close()
    }
  })
}

async function start(page: EnginePage, name: string): Promise<void> {
  const playlist =
    server.url + playlistApiPath({ streamer: 'Live', date: '2026-01-31', sessionId: name })
  // The page of a session that is not listed yet shows other sessions.
  await expect.poll(async () => (await fetch(playlist)).status).toBe(200)
  await page.open(`${server.url}/p/Live/2026-01-31/${name}`)
  await page.evaluate(`void (window.wasNotReloaded = true)`)
  await expect.poll(() => page.evaluate(playMuted)).toBeGreaterThan(0.2)
}
