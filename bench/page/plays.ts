// From the click on 'Play', from a visit and from a seek to the picture.
import type { Browser, Locator, Page } from '@playwright/test'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { playerPagePath, playlistApiPath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { BenchOptions } from '../options.ts'
import { noteFirstFrame, readMarks } from './first-frame.ts'
import { ensureRecordings, LONG_SESSIONS, PLAYED } from './library.ts'
import { printRows } from './result.ts'
import { indexLibrary, inNewTab, openBrowser, serveLibrary } from './site.ts'

/** Times that each thing is done. */
const RUNS = 20
const SMOKE_RUNS = 1
/** How long a hand takes to a button from the corner of the page, and rests on it before it presses. */
const TRAVEL_MS = 300
const HOVER_MS = 150
/** Between the moves that a pointer tells of on its way. */
const MOVE_MS = 15
const HOUR: SessionReference = { ...PLAYED, sessionId: 'hour' }

export async function benchPlays(options: BenchOptions): Promise<void> {
  const runs = options.isSmoke ? SMOKE_RUNS : RUNS
  await ensureBuilt()
  const library = await ensureRecordings(options)
  indexLibrary(library)
  const server = await serveLibrary(library)
  const browser = await openBrowser()
  try {
    const warm = await fetch(server.url + playlistApiPath(HOUR))
    if (!warm.ok) throw new Error(`the recording cannot be played: ${await warm.text()}`)
    const repeat = async (play: (at: number) => Promise<number>): Promise<number[]> => {
      const values: number[] = []
      for (let at = 0; at < runs; at += 1) values.push(await play(at))
      return values
    }
    const site = { browser, url: server.url }
    const seconds = options.mediaSeconds
    printRows([
      {
        name: 'click on Play to first frame',
        values: await repeat(() => clickPlay(site, HOUR, HOVER_MS)),
        target: '110 / 160',
      },
      {
        name: 'the same, pressed without resting on it',
        values: await repeat(() => clickPlay(site, HOUR, 0)),
        target: '110 / 160',
      },
      {
        name: 'click on Play, ten times as long, never opened',
        values: await repeat((at) =>
          clickPlay(site, { ...PLAYED, sessionId: `long-${(at % LONG_SESSIONS) + 1}` }, HOVER_MS),
        ),
        target: '300',
      },
      {
        name: 'visit of a player page to first frame',
        values: await repeat(() => visit(site)),
        target: '250',
      },
      {
        name: 'seek to an unbuffered place to picture',
        values: await seekAround(site, runs, seconds),
        target: '120',
      },
    ])
  } finally {
    await browser.close()
    await server.stop()
  }
}

interface Site {
  browser: Browser
  url: string
}

/** Milliseconds. */
async function clickPlay(
  { browser, url }: Site,
  session: SessionReference,
  hoverMs: number,
): Promise<number> {
  return inNewTab(browser, url, async (page) => {
    await noteFirstFrame(page)
    await page.goto(sessionsPagePath(session.streamer), { waitUntil: 'networkidle' })
    const button = page.locator(`a[href="${playerPagePath(session)}"]`)
    await button.scrollIntoViewIfNeeded()
    await moveTo(page, button)
    await page.waitForTimeout(hoverMs)
    await page.mouse.down()
    await page.mouse.up()
    const { clickedMs = NaN, firstFrameMs = NaN } = await readMarks(page)
    return firstFrameMs - clickedMs
  })
}

/** As a hand does: over what lies between. */
async function moveTo(page: Page, button: Locator): Promise<void> {
  const box = await button.boundingBox()
  if (!box) throw new Error('there is no button')
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const moves = TRAVEL_MS / MOVE_MS
  for (let move = 1; move <= moves; move += 1) {
    await page.mouse.move((x * move) / moves, (y * move) / moves)
    if (move < moves) await page.waitForTimeout(MOVE_MS)
  }
}

async function visit({ browser, url }: Site): Promise<number> {
  return inNewTab(browser, url, async (page) => {
    await noteFirstFrame(page)
    await page.goto(playerPagePath(HOUR))
    return (await readMarks(page)).firstFrameMs ?? NaN
  })
}

/** Each time to a place that is far from all that was loaded. */
async function seekAround({ browser, url }: Site, runs: number, seconds: number) {
  return inNewTab(browser, url, async (page) => {
    await noteFirstFrame(page)
    await page.goto(playerPagePath(HOUR))
    await readMarks(page)
    const values: number[] = []
    for (let at = 0; at < runs; at += 1) {
      // Scattered evenly: multiples of the golden ratio never come close to each other.
      const share = ((at + 1) * 0.618_034) % 1
      values.push(await seek(page, share * (seconds - 10)))
      await page.waitForTimeout(500)
    }
    return values
  })
}

async function seek(page: Page, toSeconds: number): Promise<number> {
  return page.evaluate(
    (seconds) =>
      new Promise<number>((resolve, reject) => {
        const video = document.querySelector('video')
        if (!video) return reject(new Error('there is no video'))
        const startedMs = performance.now()
        const look = (_nowMs: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
          // The picture of before may still be on its way.
          if (Math.abs(mediaTime - seconds) < 1) resolve(performance.now() - startedMs)
          else video.requestVideoFrameCallback(look)
        }
        video.requestVideoFrameCallback(look)
        video.currentTime = seconds
        setTimeout(() => reject(new Error(`no picture at ${seconds} s`)), 30_000)
      }),
    toSeconds,
  )
}
