// The list of 10,000 streamers: first paint, layout shift, and response time to typing.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { BenchOptions } from '../options.ts'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { openBareBrowser } from './bare-browser.ts'
import type { BareBrowser } from './bare-browser.ts'
import { ensureCrowd } from './library.ts'
import { printRows } from './result.ts'
import { indexLibrary, serveLibrary } from './site.ts'

const STREAMERS = 10_000
const SMOKE_STREAMERS = 20
const RUNS = 20
const SMOKE_RUNS = 1
/** The pauses of a fast typist. */
const KEY_PAUSE_MS = 120
const SMOKE_KEY_PAUSE_MS = 10
const TYPED = 'amber brook'
const SEARCH = 'input[type="search"]'

/** The page is idle by then; nothing reads from it before. */
const SETTLE_MS = 2000
/** Entries of events arrive after their frame. */
const ENTRIES_MS = 500

const times = z.object({
  paintMs: z.number(),
  cardsMs: z.number(),
  inpMs: z.number(),
  shift: z.number(),
})

interface ListTimes {
  paintMs: number
  cardsMs: number
  /** The slowest key event: the INP where there are fewer than 50 (web.dev/articles/inp). */
  inpMs: number
  shift: number
}

declare global {
  interface Window {
    listTimes: ListTimes
  }
}

export async function benchLists(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const library = ensureCrowd(options, options.isSmoke ? SMOKE_STREAMERS : STREAMERS)
  indexLibrary(library)
  const server = await serveLibrary(library)
  const browser = await openBareBrowser(options)
  try {
    const visits: ListTimes[] = []
    const runs = options.isSmoke ? SMOKE_RUNS : RUNS
    const visit = { url: server.url, isSmoke: options.isSmoke }
    for (let run = 0; run < runs; run += 1) visits.push(await visitList(browser, visit))
    printRows([
      { name: 'list: first paint', values: visits.map(({ paintMs }) => paintMs), target: '350' },
      { name: 'list: first cards', values: visits.map(({ cardsMs }) => cardsMs), target: '' },
      { name: 'list: INP of the search', values: visits.map(({ inpMs }) => inpMs), target: '60' },
      {
        name: 'list: layout shift, no unit',
        values: visits.map(({ shift }) => shift),
        target: '0.01',
        digits: 4,
      },
    ])
  } finally {
    await browser.close()
    await server.stop()
  }
}

async function visitList(
  browser: BareBrowser,
  { url, isSmoke }: { url: string; isSmoke: boolean },
): Promise<ListTimes> {
  const keyPauseMs = isSmoke ? SMOKE_KEY_PAUSE_MS : KEY_PAUSE_MS
  return browser.inNewTab(async (tab) => {
    await tab.runFirst(noteTimes)
    await tab.open(url)
    if (!isSmoke) await sleep(SETTLE_MS)
    await tab.waitFor(`document.querySelector('ul[aria-label="Streamers"] > li')?.tagName`)
    await tab.call((selector) => document.querySelector<HTMLElement>(selector)?.focus(), SEARCH)
    for (const key of TYPED) {
      await tab.type(key)
      await sleep(keyPauseMs)
    }
    const typed = await tab.waitFor(`document.querySelector('${SEARCH}')?.value`)
    if (typed !== TYPED) throw new Error('the search was not typed into')
    for (let at = 0; at < TYPED.length; at += 1) {
      await tab.type('Backspace')
      await sleep(keyPauseMs)
    }
    if (!isSmoke) await sleep(ENTRIES_MS)
    return times.parse(await tab.waitFor('window.listTimes'))
  })
}

/** Runs in the page before all else. */
function noteTimes(): void {
  const times: ListTimes = { paintMs: NaN, cardsMs: NaN, inpMs: 0, shift: 0 }
  window.listTimes = times
  const observe = (type: string, note: (entry: PerformanceEntry) => void): void => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(note))
    // Event Timing 5.1: the default reports only events of 104 ms and more.
    const wanted = { type, buffered: true, durationThreshold: 16 }
    observer.observe(wanted)
  }
  observe('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') times.paintMs = startTime
  })
  observe('event', (entry) => {
    // Only what belongs to an interaction counts: moves of the pointer do not.
    const interaction: unknown = Reflect.get(entry, 'interactionId')
    if (typeof interaction !== 'number' || interaction === 0) return
    times.inpMs = Math.max(times.inpMs, entry.duration)
  })
  observe('layout-shift', (entry) => {
    const value: unknown = Reflect.get(entry, 'value')
    const isOwn = Reflect.get(entry, 'hadRecentInput') !== true
    if (typeof value === 'number' && isOwn) times.shift += value
  })
  const watcher = new MutationObserver(() => {
    if (!document.querySelector('ul > li')) return
    watcher.disconnect()
    requestAnimationFrame(() => setTimeout(() => (times.cardsMs = performance.now())))
  })
  watcher.observe(document, { childList: true, subtree: true })
}
