// A server that stops during playback, and the time from its restart to a moving frame.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from '@playwright/test'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { playerPagePath } from '../../shared/paths.ts'
import type { BenchOptions } from '../options.ts'
import { noteFirstFrame, readMarks } from './first-frame.ts'
import { ensureRecordings, PLAYED } from './library.ts'
import { printRows } from './result.ts'
import { indexLibrary, inNewTab, openBrowser, serveLibrary } from './site.ts'

const AWAY_MS = 60_000
const SMOKE_AWAY_MS = 1000
/** Played so fast, what was loaded runs out long before the server is back. */
const FAST = 4
const PLAYED_MS = 5000
const SMOKE_PLAYED_MS = 500
const GIVE_UP_MS = 60_000

export async function benchAway(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const library = await ensureRecordings(options)
  indexLibrary(library)
  const browser = await openBrowser()
  try {
    const away = options.isSmoke
      ? { playedMs: SMOKE_PLAYED_MS, awayMs: SMOKE_AWAY_MS }
      : { playedMs: PLAYED_MS, awayMs: AWAY_MS }
    const fast: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      console.error(`page-away: round ${round + 1} of ${options.rounds}`)
      fast.push(await leaveAndReturn(browser, library, { ...away, speed: FAST }))
    }
    const name = `server away for ${away.awayMs / 1000} s, to the first frame after its return`
    const rows = [{ name: `${name}, at ${FAST}x speed`, values: fast, target: '2000' }]
    if (!options.isSmoke) {
      const usual = [await leaveAndReturn(browser, library, { ...away, speed: 1 })]
      rows.push({ name: `${name}, at usual speed`, values: usual, target: '2000' })
    }
    printRows(rows)
  } finally {
    await browser.close()
  }
}

interface Absence {
  /** Before the server stops: time to fill the buffer. */
  playedMs: number
  awayMs: number
  speed: number
}

/** Milliseconds from the server's ready line to a moving frame; 0 if playback never stalled. */
async function leaveAndReturn(
  browser: Browser,
  library: string,
  { playedMs, awayMs, speed }: Absence,
): Promise<number> {
  let server = await serveLibrary(library)
  const port = Number(new URL(server.url).port)
  try {
    return await inNewTab(browser, server.url, async (page) => {
      await noteFirstFrame(page)
      await page.goto(playerPagePath({ ...PLAYED, sessionId: 'hour' }))
      await readMarks(page)
      await page.evaluate((rate) => {
        const video = document.querySelector('video')
        if (video) video.playbackRate = rate
      }, speed)
      await sleep(playedMs)
      await server.kill()
      await sleep(awayMs)
      const stood = await readPosition(page)
      server = await serveLibrary(library, port)
      return await waitForFrame(page, { atLeast: stood, sinceMs: Date.now() })
    })
  } finally {
    await server.stop()
  }
}

function readPosition(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelector('video')?.currentTime ?? NaN)
}

/** Waits for a frame that is newer than the current one. */
async function waitForFrame(
  page: Page,
  { atLeast, sinceMs }: { atLeast: number; sinceMs: number },
): Promise<number> {
  const movedMs = await page.evaluate(
    ({ position, giveUpMs }) =>
      new Promise<number>((resolve, reject) => {
        const timer = setInterval(() => {
          const now = document.querySelector('video')?.currentTime ?? NaN
          if (now <= position + 0.05) return
          clearInterval(timer)
          resolve(Date.now())
        }, 10)
        setTimeout(() => reject(new Error('it never played on')), giveUpMs)
      }),
    { position: atLeast, giveUpMs: GIVE_UP_MS },
  )
  return Math.max(0, movedMs - sinceMs)
}
