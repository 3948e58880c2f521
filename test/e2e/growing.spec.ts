// Recordings that are still being written play in the browser, go on as they grow, and end when they are finished: no reload.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test, type Page } from '@playwright/test'
import { growFile } from '../support/growing-file.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { fixturePath } from '../support/temp-library.ts'

/** Recordings by container, and how long they are in seconds. */
const recordings = [
  { name: 'ts', file: 'ts-h264-aac-clean-hls-concat.ts', seconds: 36 },
  { name: 'mkv', file: 'mkv-h264-aac-60s.mkv', seconds: 60 },
  { name: 'fmp4', file: 'fmp4-h264-aac-18frag.mp4', seconds: 15.5 },
  { name: 'flv', file: 'flv-h264-aac.flv', seconds: 10 },
] as const

const growing = { startShare: 0.7, seconds: 12 }
const settleSeconds = 4
/** From the last byte to the end of playback: it settles, the player asks again, and plays what is left. */
const endWithinMs = 90_000

let folder: string
let server: StartedServer

test.beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'aftercast-growing-'))
  const config = path.join(folder, 'aftercast.config.json')
  await writeFile(config, JSON.stringify({ library: { settleSeconds } }))
  const library = path.join(folder, 'library')
  const args = [library, '--data', path.join(folder, 'data'), '--config', config]
  await growFile(path.join(library, 'Live/2026-01-31/none.txt'), new Uint8Array(1), {
    startShare: 1,
    seconds: 0,
  })
  server = await startServer({ args, readyWithinMs: 30_000 })
})

test.afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

test('plays on while recordings grow, and to their end', async ({ context }) => {
  test.setTimeout(180_000)
  await Promise.all(
    recordings.map(async ({ name, file, seconds }) => {
      const bytes = await readFile(fixturePath(file))
      const target = path.join(folder, `library/Live/2026-01-31/${name}${path.extname(file)}`)
      const written = growFile(target, bytes, growing)
      const page = await context.newPage()
      await page.goto(`${server.url}/p/Live/2026-01-31/${name}`)
      await page.evaluate(() => Object.assign(window, { wasNotReloaded: true }))
      await expect.poll(() => currentTime(page), { timeout: 30_000 }).toBeGreaterThan(0.5)
      await page.locator('video').evaluate((video: HTMLVideoElement) => {
        video.muted = true
        video.playbackRate = 2
      })
      await written
      await expect
        .poll(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.ended), {
          timeout: endWithinMs,
          message: `${name} ends`,
        })
        .toBe(true)
      expect(Math.abs((await currentTime(page)) - seconds), name).toBeLessThan(0.5)
      expect(await page.evaluate(() => 'wasNotReloaded' in window), name).toBe(true)
      await page.close()
    }),
  )
})

function currentTime(page: Page): Promise<number> {
  return page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
}
