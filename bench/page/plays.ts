// The time to the first frame after a click on 'Play', a visit, and a seek.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { playerPagePath, playlistApiPath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import type { BenchOptions } from '../options.ts'
import { openBareBrowser } from './bare-browser.ts'
import type { BareBrowser, BareTab } from './bare-browser.ts'
import { noteMarks } from './first-frame.ts'
import { ensureRecordings, LONG_SESSIONS, PLAYED } from './library.ts'
import { printRows } from './result.ts'
import { indexLibrary, serveLibrary } from './site.ts'

/** Times that each thing is done. */
const RUNS = 20
const SMOKE_RUNS = 1
/** How long a pointer moves from the corner to a button, and hovers before the click. */
const TRAVEL_MS = 300
const HOVER_MS = 150
/** Interval of pointer moves. */
const MOVE_MS = 15
/** A page and its player are idle by then. */
const SETTLE_MS = 2500
const HOUR: SessionReference = { ...PLAYED, sessionId: 'hour' }

const place = z.tuple([z.number(), z.number()])
const marks = z.object({ clickedMs: z.number().optional(), firstFrameMs: z.number() })

export async function benchPlays(options: BenchOptions): Promise<void> {
  const runs = options.isSmoke ? SMOKE_RUNS : RUNS
  await ensureBuilt()
  const library = await ensureRecordings(options)
  indexLibrary(library)
  const server = await serveLibrary(library)
  const browser = await openBareBrowser(options)
  try {
    const warm = await fetch(server.url + playlistApiPath(HOUR))
    if (!warm.ok) throw new Error(`the recording cannot be played: ${await warm.text()}`)
    const repeat = async (play: (at: number) => Promise<number>): Promise<number[]> => {
      const values: number[] = []
      for (let at = 0; at < runs; at += 1) values.push(await play(at))
      return values
    }
    const settleMs = options.isSmoke ? 0 : SETTLE_MS
    const site = { browser, url: server.url, settleMs }
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
        name: 'seek to an unbuffered position to first frame',
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
  browser: BareBrowser
  url: string
  /** How long a tab is left alone before anything in it is measured. */
  settleMs: number
}

/** Milliseconds. */
async function clickPlay(
  { browser, url, settleMs }: Site,
  session: SessionReference,
  hoverMs: number,
): Promise<number> {
  return browser.inNewTab(async (tab) => {
    await tab.runFirst(noteMarks)
    await tab.open(url + sessionsPagePath(session.streamer))
    const button = `a[href="${playerPagePath(session)}"]`
    await tab.waitFor(`document.querySelector('${button}')?.href`)
    // The work of the list after its first paint is not part of the measurement.
    await sleep(settleMs)
    const [x, y] = place.parse(await tab.call(toMiddle, button))
    await moveTo(tab, x, y)
    await sleep(hoverMs)
    await tab.press(x, y)
    const { clickedMs = NaN, firstFrameMs } = await readMarks(tab)
    return firstFrameMs - clickedMs
  })
}

/** Runs in the page: where to press a button. */
function toMiddle(selector: string): number[] {
  const button = document.querySelector(selector)
  if (!button) throw new Error('there is no button')
  button.scrollIntoView({ block: 'center' })
  const { left, top, width, height } = button.getBoundingClientRect()
  return [left + width / 2, top + height / 2]
}

/** Moves like a hand: over all elements in between. */
async function moveTo(tab: BareTab, x: number, y: number): Promise<void> {
  const moves = TRAVEL_MS / MOVE_MS
  for (let move = 1; move <= moves; move += 1) {
    await tab.movePointer((x * move) / moves, (y * move) / moves)
    if (move < moves) await sleep(MOVE_MS)
  }
}

async function visit(site: Site): Promise<number> {
  return site.browser.inNewTab(async (tab) => {
    await openPlayer(tab, site)
    return (await readMarks(tab)).firstFrameMs
  })
}

async function openPlayer(tab: BareTab, { url, settleMs }: Site): Promise<void> {
  await tab.runFirst(noteMarks)
  await tab.open(url + playerPagePath(HOUR))
  // Nothing reads from the tab before.
  await sleep(settleMs)
}

async function readMarks(tab: BareTab) {
  return marks.parse(
    await tab.waitFor('window.marks?.firstFrameMs === undefined ? null : window.marks'),
  )
}

/** Each seek is far from all loaded positions. */
async function seekAround(site: Site, runs: number, seconds: number) {
  return site.browser.inNewTab(async (tab) => {
    await openPlayer(tab, site)
    await readMarks(tab)
    const values: number[] = []
    for (let at = 0; at < runs; at += 1) {
      // Evenly scattered: multiples of the golden ratio are never close to each other.
      const share = ((at + 1) * 0.618_034) % 1
      values.push(z.number().parse(await tab.call(seek, share * (seconds - 10))))
      await sleep(500)
    }
    return values
  })
}

/** Runs in the page. Milliseconds until a frame of the new position is shown. */
async function seek(toSeconds: number): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    const video = document.querySelector('video')
    if (!video) return reject(new Error('there is no video'))
    const startedMs = performance.now()
    const lookup = (_nowMs: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
      // A frame of the old position may still arrive.
      if (Math.abs(mediaTime - toSeconds) < 1) resolve(performance.now() - startedMs)
      else video.requestVideoFrameCallback(lookup)
    }
    video.requestVideoFrameCallback(lookup)
    video.currentTime = toSeconds
    setTimeout(() => reject(new Error(`no frame at ${toSeconds} s`)), 30_000)
  })
}
