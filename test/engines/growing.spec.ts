// A recording that is still being written plays to its end in the engines other than Chromium, which test/e2e watches closer.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { findFirefox } from '../../scripts/find-firefox.mjs'
import { findWebKit } from '../../scripts/find-webkit.mjs'
import { growFile } from '../support/growing-file.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { fixturePath } from '../support/temp-library.ts'
import type { EnginePage } from './engine-page.ts'
import { openFirefoxPage } from './playwright-page.ts'
import { openWebKitPage } from './webkit-page.ts'
import { patienceMs } from '../support/patience.ts'

// Sound and pictures begin together, at 0: WebKitGTK now and then never comes back from the seek over a hole at the start.
const recording = { file: 'ts-h264-aac-clean-hls-concat.ts', bytes: 5500 * 188, seconds: 10 }
const growing = { startShare: 0.7, seconds: 3 }
const settleSeconds = 4

let folder: string
let library: string
let server: StartedServer

test.beforeAll(async () => {
  test.setTimeout(120_000)
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-engines-'))
  library = path.join(folder, 'library')
  const config = path.join(folder, 'aftercast.config.json')
  await writeFile(config, JSON.stringify({ library: { settleSeconds } }))
  await mkdir(path.join(library, 'Live/2026-01-31'), { recursive: true })
  const args = [library, '--data', path.join(folder, 'data'), '--config', config]
  server = await startServer({ args })
})

test.afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const firefox = findFirefox()
const webKit = findWebKit()
const engines: { name: string; open(): Promise<EnginePage> }[] = [
  ...(firefox ? [{ name: 'Firefox', open: () => openFirefoxPage(firefox) }] : []),
  ...(webKit ? [{ name: 'WebKitGTK', open: () => openWebKitPage(webKit) }] : []),
]

for (const engine of engines) {
  const { name } = engine
  test(`${name}: plays on while a recording grows, and to its end`, async () => {
    const page = await engine.open()
    try {
      const bytes = (await readFile(fixturePath(recording.file))).subarray(0, recording.bytes)
      const begun = begin(page, name)
      const target = path.join(library, `Live/2026-01-31/${name}.ts`)
      await Promise.all([begun, growFile(target, bytes, { ...growing, after: begun })])
      await expect.poll(() => page.evaluate(`${video}.ended`), { timeout: patienceMs }).toBe(true)
      const seconds = Number(await page.evaluate(`${video}.currentTime`))
      expect(Math.abs(seconds - recording.seconds)).toBeLessThan(0.5)
      expect(await page.evaluate('window.wasNotReloaded')).toBe(true)
    } finally {
      await page.close()
    }
  })
}

async function begin(page: EnginePage, name: string): Promise<void> {
  await page.open(`${server.url}/p/Live/2026-01-31/${name}`)
  await page.evaluate(`void (window.wasNotReloaded = true)`)
  await expect.poll(() => page.evaluate(playMuted), { timeout: patienceMs }).toBeGreaterThan(0.2)
}

const video = `document.querySelector('video')`
/** Sound is not what is tested here, and without it no browser refuses to play. */
const playMuted = `(() => {
  const video = ${video}
  if (!video) return -1
  video.muted = true
  if (video.paused) video.play().catch(() => undefined)
  return video.currentTime
})()`
