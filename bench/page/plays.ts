// The process of `npm run bench -- page-plays`: the time to the first frame after a click on
// 'Play', a visit, and a seek.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { DAY } from '../media.ts'
import type { PagePlan, PageRow } from '../page.ts'
import { openBrowser } from './browser.ts'
import type { Browser, Tab } from './browser.ts'

/** How long a pointer moves from the corner to a button, and hovers before the click. */
const TRAVEL_MS = 300
const HOVER_MS = 150
/** Interval of pointer moves. */
const MOVE_MS = 15
/** A page and its player, or a new tab, are idle by then. */
const SETTLE_MS = 2500
const BETWEEN_SEEKS_MS = 500
const HOUR: SessionReference = { ...DAY, sessionId: 'hour' }

/** Milliseconds since the navigation that made the document. */
interface Marks {
  clickedMs: number | undefined
  firstFrameMs: number | undefined
}

declare global {
  interface Window {
    marks: Marks
  }
}

const place = z.tuple([z.number(), z.number()])
const seenMarks = z.object({ clickedMs: z.number().optional(), firstFrameMs: z.number() })

// bench/page.ts is the only caller and shares the type.
await measure(JSON.parse(process.argv[2] ?? '') as PagePlan)

interface Site extends PagePlan {
  browser: Browser
  /** How long a tab is left alone before anything in it is measured. */
  settleMs: number
}

async function measure(plan: PagePlan): Promise<void> {
  const settleMs = plan.isSmoke ? 0 : SETTLE_MS
  const site: Site = { ...plan, settleMs, browser: await openBrowser(plan.chromium, settleMs) }
  const rows: PageRow[] = []
  const add = async (name: string, target: string, run: (at: number) => Promise<number>) => {
    const values: number[] = []
    for (let at = 1; at <= plan.runs; at += 1) values.push(await run(at))
    rows.push({ name, values, target })
  }
  try {
    await add('click on Play to first frame', '110 / 160', () => clickPlay(site, HOUR, HOVER_MS))
    if (!plan.isSmoke) {
      await add('the same, pressed without resting on it', '110 / 160', () =>
        clickPlay(site, HOUR, 0),
      )
      await add('click on Play, ten times as long, never opened', '300', (at) =>
        clickPlay(site, { ...DAY, sessionId: `long-${at}` }, HOVER_MS),
      )
    }
    await add('visit of a player page to first frame', '250', () => visit(site))
    const values = await seekAround(site)
    rows.push({ name: 'seek to an unbuffered position to first frame', values, target: '120' })
    process.send?.(rows)
  } finally {
    await site.browser.close()
  }
  process.disconnect()
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

/** Runs in a document before all else: notes the click, and the first frame of a video. */
function noteMarks(): void {
  const marks: Marks = { clickedMs: undefined, firstFrameMs: undefined }
  window.marks = marks
  // The time of the event includes the browser's delay before it dispatches the event.
  const note = (event: Event): void => void (marks.clickedMs ??= event.timeStamp)
  addEventListener('click', note, { capture: true })
  const watcher = new MutationObserver(() => {
    const video = document.querySelector('video')
    if (!video) return
    watcher.disconnect()
    video.requestVideoFrameCallback(() => (marks.firstFrameMs = performance.now()))
  })
  watcher.observe(document, { childList: true, subtree: true })
}

/** Waits for the first frame. */
async function readMarks(tab: Tab) {
  const marks = 'window.marks?.firstFrameMs === undefined ? null : window.marks'
  return seenMarks.parse(await tab.waitFor(marks))
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
async function moveTo(tab: Tab, x: number, y: number): Promise<void> {
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

async function openPlayer(tab: Tab, { url, settleMs }: Site): Promise<void> {
  await tab.runFirst(noteMarks)
  await tab.open(url + playerPagePath(HOUR))
  // Nothing reads from the tab before.
  await sleep(settleMs)
}

/** Each seek is far from all loaded positions. */
async function seekAround(site: Site): Promise<number[]> {
  return site.browser.inNewTab(async (tab) => {
    await openPlayer(tab, site)
    await readMarks(tab)
    const values: number[] = []
    for (let at = 1; at <= site.runs; at += 1) {
      // Evenly scattered: multiples of the golden ratio are never close to each other.
      const share = (at * 0.618_034) % 1
      values.push(z.number().parse(await tab.call(seek, share * (site.mediaSeconds - 10))))
      await sleep(site.isSmoke ? 0 : BETWEEN_SEEKS_MS)
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
  })
}
