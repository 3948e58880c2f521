// The list of 10,000 streamers: its first paint, what shifts, and how soon it answers to typing.
import type { Browser, Page } from '@playwright/test'
import type { BenchOptions } from '../options.ts'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { ensureCrowd } from './library.ts'
import { printRows } from './result.ts'
import { indexLibrary, inNewTab, openBrowser, serveLibrary } from './site.ts'

const STREAMERS = 10_000
const SMOKE_STREAMERS = 20
const RUNS = 20
const SMOKE_RUNS = 1
/** A quick typist's. */
const KEY_PAUSE_MS = 120
const TYPED = 'amber brook'

interface ListTimes {
  paintMs: number
  cardsMs: number
  /** The worst answer to a key: the page's INP where there are fewer than 50 (web.dev/articles/inp). */
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
  const browser = await openBrowser()
  try {
    const times: ListTimes[] = []
    const runs = options.isSmoke ? SMOKE_RUNS : RUNS
    for (let run = 0; run < runs; run += 1) times.push(await visitList(browser, server.url))
    printRows([
      { name: 'list: first paint', values: times.map(({ paintMs }) => paintMs), target: '350' },
      { name: 'list: first cards', values: times.map(({ cardsMs }) => cardsMs), target: '' },
      { name: 'list: INP of the search', values: times.map(({ inpMs }) => inpMs), target: '60' },
      {
        name: 'list: layout shift, no unit',
        values: times.map(({ shift }) => shift),
        target: '0.01',
        digits: 4,
      },
    ])
  } finally {
    await browser.close()
    await server.stop()
  }
}

async function visitList(browser: Browser, url: string): Promise<ListTimes> {
  return inNewTab(browser, url, async (page) => {
    await noteTimes(page)
    await page.goto('/')
    const search = page.getByRole('searchbox')
    await page.locator('ul[aria-label="Streamers"] > li').first().waitFor()
    await search.click()
    await page.keyboard.type(TYPED, { delay: KEY_PAUSE_MS })
    for (let at = 0; at < TYPED.length; at += 1) {
      await page.keyboard.press('Backspace', { delay: KEY_PAUSE_MS / 2 })
      await page.waitForTimeout(KEY_PAUSE_MS / 2)
    }
    // Entries of events come behind their picture.
    await page.waitForTimeout(500)
    return page.evaluate(() => window.listTimes)
  })
}

async function noteTimes(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const times: ListTimes = { paintMs: NaN, cardsMs: NaN, inpMs: 0, shift: 0 }
    window.listTimes = times
    const observe = (type: string, note: (entry: PerformanceEntry) => void): void => {
      const observer = new PerformanceObserver((list) => list.getEntries().forEach(note))
      // Event Timing 5.1: without it, only what takes 104 ms is told.
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
  })
}
