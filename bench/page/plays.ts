// The process of `npm run bench -- page-plays`: the time to the first frame of a visit, a click on
// 'Play' and a seek, in pages at the other end of links.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Page, PagePlan, PageRow } from '../page.ts'
import { openBrowser } from './browser.ts'
import type { Tab } from './browser.ts'
import { startLink } from './link.ts'
import type { Link } from './link.ts'

/** How long a pointer moves from the corner to a button, and hovers before the click. */
const TRAVEL_MS = 300
const HOVER_MS = 150
/** Interval of pointer moves. */
const MOVE_MS = 15
/** A page and its player, or a new tab, are idle by then. */
const SETTLE_MS = 2500

interface LinkPlan {
  name: string
  /** Default loopback itself. */
  link?: Link
  /** By which factor the browser's processor is slower. */
  slowness: number
}

const LINKS: readonly LinkPlan[] = [
  { name: 'loopback', slowness: 1 },
  { name: '20 Mbit/s', link: { megabitsPerSecond: 20, roundTripMs: 50 }, slowness: 1 },
  { name: '5 Mbit/s', link: { megabitsPerSecond: 5, roundTripMs: 100 }, slowness: 4 },
]

/** A page in a new tab, at the other end of a link. */
interface Stage {
  tab: Tab
  page: Page
  /** Position in seconds that is far from those of other rounds. */
  position: number
  settleMs: number
}

/** Milliseconds since the navigation that made the document. */
interface Shown {
  /** What was loaded later belongs to the measurement. */
  sinceMs: number
  beganMs: number
  shownMs: number
}

type Action = (stage: Stage) => Promise<Shown>

const ACTIONS: Readonly<Record<string, Action>> = {
  visit: async (stage) => visit(stage, stage.page.player),
  'visit with ?t=': async (stage) =>
    visit(stage, `${stage.page.player}?t=${Math.floor(stage.position)}`),
  'click on Play': clickPlay,
  seek,
}
/** Those of a smoke run: a seek begins with a visit. */
const SMOKE_ACTIONS: readonly string[] = ['click on Play', 'seek']

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
const seenLoads = z.array(
  z.object({
    url: z.string(),
    startMs: z.number(),
    firstByteMs: z.number(),
    endMs: z.number(),
    bytes: z.number(),
  }),
)

// bench/page.ts is the only caller, parses the output, and shares the types.
await measure(JSON.parse(process.argv[2] ?? '') as PagePlan)

async function measure(plan: PagePlan): Promise<void> {
  const settleMs = plan.isSmoke ? 0 : SETTLE_MS
  const browser = await openBrowser(plan.chromium, settleMs)
  try {
    const rows = await listRows(plan)
    for (let round = 1; round <= plan.rounds; round += 1) {
      // Evenly scattered: multiples of the golden ratio are never close to each other.
      const position = ((round * 0.618_034) % 1) * (plan.mediaSeconds - 10)
      for (const { row, slowness, act, page } of round % 2 === 1 ? rows : rows.toReversed()) {
        const sample = await browser.inNewTab(async (tab) => {
          await tab.slowDown(slowness)
          await tab.runFirst(noteMarks)
          const shown = await act({ tab, page, position, settleMs })
          // What was on its way at the first frame is in the waterfall too.
          await sleep(settleMs)
          const loads = seenLoads.parse(await tab.call(readLoads, shown))
          return { milliseconds: shown.shownMs - shown.beganMs, loads }
        })
        row.samples.push(sample)
        const title = `${round}/${plan.rounds} ${row.action}: ${row.page}`
        console.error(`${title}: ${sample.milliseconds.toFixed(0)} ms`)
      }
    }
    console.log(JSON.stringify(rows.map(({ row }) => row)))
  } finally {
    await browser.close()
  }
}

interface PlannedRow {
  row: PageRow
  slowness: number
  act: Action
  page: Page
}

/** Those that are compared with each other follow each other. */
async function listRows({ isSmoke, pages, rows: wanted }: PagePlan): Promise<PlannedRow[]> {
  const rows: PlannedRow[] = []
  const actions = Object.entries(ACTIONS).filter(
    ([action]) => !isSmoke || SMOKE_ACTIONS.includes(action),
  )
  for (const { name, link, slowness } of isSmoke ? LINKS.slice(0, 1) : LINKS) {
    const reached: Page[] = []
    for (const page of pages)
      reached.push(link ? { ...page, origin: await startLink(page.origin, link) } : page)
    for (const [action, act] of actions) {
      for (const page of reached) {
        const row: PageRow = { action: `${action}, ${name}`, page: page.name, samples: [] }
        rows.push({ row, slowness, act, page })
      }
    }
  }
  return rows.filter(({ row }) => `${row.action}: ${row.page}`.includes(wanted))
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

async function visit({ tab, page, settleMs }: Stage, path: string): Promise<Shown> {
  await tab.open(page.origin + path)
  // Nothing reads from the tab before.
  await sleep(settleMs)
  return { sinceMs: 0, beganMs: 0, shownMs: (await readMarks(tab)).firstFrameMs }
}

/** Waits for the first frame. */
async function readMarks(tab: Tab) {
  const marks = 'window.marks?.firstFrameMs === undefined ? null : window.marks'
  return seenMarks.parse(await tab.waitFor(marks))
}

async function clickPlay({ tab, page, settleMs }: Stage): Promise<Shown> {
  await tab.open(page.origin + page.list)
  const button = `a[href="${page.player}"]`
  await tab.waitFor(`document.querySelector('${button}')?.href`)
  // The work of the list after its first paint is not part of the measurement.
  await sleep(settleMs)
  const [x, y] = place.parse(await tab.call(toMiddle, button))
  const sinceMs = z.number().parse(await tab.call(() => performance.now(), undefined))
  await moveTo(tab, x, y)
  await sleep(HOVER_MS)
  await tab.press(x, y)
  const { clickedMs = NaN, firstFrameMs } = await readMarks(tab)
  return { sinceMs, beganMs: clickedMs, shownMs: firstFrameMs }
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

async function seek(stage: Stage): Promise<Shown> {
  await visit(stage, stage.page.player)
  await sleep(stage.settleMs)
  const times = place.parse(await stage.tab.call(seekTo, stage.position))
  const [beganMs, shownMs] = times
  return { sinceMs: beganMs, beganMs, shownMs }
}

/** Runs in the page. When it began, and when a frame of the new position was shown. */
async function seekTo(seconds: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const video = document.querySelector('video')
    if (!video) return reject(new Error('there is no video'))
    const beganMs = performance.now()
    const lookUp = (_nowMs: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
      // A frame of the old position may still arrive.
      if (Math.abs(mediaTime - seconds) < 1) resolve([beganMs, performance.now()])
      else video.requestVideoFrameCallback(lookUp)
    }
    video.requestVideoFrameCallback(lookUp)
    video.currentTime = seconds
  })
}

/** Runs in the page: what it has loaded, in milliseconds since the measurement began. */
function readLoads({ sinceMs, beganMs }: Shown): unknown {
  return [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ].flatMap((entry) => {
    if (!(entry instanceof PerformanceResourceTiming) || entry.startTime < sinceMs) return []
    const { name, startTime, responseStart, responseEnd, transferSize: bytes } = entry
    const [startMs, firstByteMs, endMs] = [startTime, responseStart, responseEnd].map(
      (ms) => ms - beganMs,
    )
    return [{ url: name.replace(location.origin, ''), startMs, firstByteMs, endMs, bytes }]
  })
}
