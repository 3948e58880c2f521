// Hours of playback at high speed, and the memory of the tab meanwhile.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from '@playwright/test'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { playerPagePath } from '../../shared/paths.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable } from '../table.ts'
import { noteFirstFrame, readMarks } from './first-frame.ts'
import { ensureRecordings, PLAYED } from './library.ts'
import { indexLibrary, inNewTab, openBrowser, serveLibrary } from './site.ts'

/** As fast as Chromium plays. */
const SPEED = 16
/** Of the length that `--minutes` names: three hours by default. */
const HOURS = 3
const SAMPLES = 12
const SMOKE_SAMPLES = 2

interface Sample {
  positionSeconds: number
  heapMegabytes: number
  processMegabytes: number
  nodes: number
}

export async function benchHours(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const library = await ensureRecordings(options)
  indexLibrary(library)
  const server = await serveLibrary(library)
  const browser = await openBrowser()
  try {
    const { isSmoke, mediaSeconds } = options
    const wholeSeconds = mediaSeconds * (isSmoke ? 0.5 : HOURS)
    const count = isSmoke ? SMOKE_SAMPLES : SAMPLES
    const positions = Array.from({ length: count }, (_, at) => (wholeSeconds * (at + 1)) / count)
    const samples = await inNewTab(browser, server.url, async (page) => {
      await noteFirstFrame(page)
      await page.goto(playerPagePath({ ...PLAYED, sessionId: 'long-1' }))
      await readMarks(page)
      await page.evaluate((rate) => {
        const video = document.querySelector('video')
        if (video) Object.assign(video, { playbackRate: rate, muted: true })
      }, SPEED)
      return takeSamples(browser, page, positions)
    })
    printSamples(samples)
  } finally {
    await browser.close()
    await server.stop()
  }
}

async function takeSamples(
  browser: Browser,
  page: Page,
  positions: readonly number[],
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const wanted of positions) {
    await page.waitForFunction(
      (seconds) => (document.querySelector('video')?.currentTime ?? 0) >= seconds,
      wanted,
      { polling: 500, timeout: 0 },
    )
    samples.push(await readSample(browser, page))
    await sleep(0)
  }
  return samples
}

/** After a garbage collection, so that only live memory counts. */
async function readSample(browser: Browser, page: Page): Promise<Sample> {
  const tab = await page.context().newCDPSession(page)
  await tab.send('HeapProfiler.collectGarbage')
  await tab.send('Performance.enable')
  const { metrics } = await tab.send('Performance.getMetrics')
  const metric = (name: string): number =>
    metrics.find((candidate) => candidate.name === name)?.value ?? NaN
  await tab.detach()
  return {
    positionSeconds: await page.evaluate(() => document.querySelector('video')?.currentTime ?? NaN),
    heapMegabytes: metric('JSHeapUsedSize') / 1e6,
    processMegabytes: await readLargestTab(browser),
    nodes: metric('Nodes'),
  }
}

/** Resident memory of the largest renderer: that of the tab, for there is no other. */
async function readLargestTab(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const size = /VmRSS:\s+(?<size>\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))
      return Number(size?.groups?.size ?? NaN) / 1000
    })
  return Math.max(...sizes)
}

function printSamples(samples: readonly Sample[]): void {
  const cells = samples.map((sample) => [
    (sample.positionSeconds / 60).toFixed(1),
    sample.heapMegabytes.toFixed(1),
    sample.processMegabytes.toFixed(0),
    sample.nodes.toFixed(0),
  ])
  const head = ['minutes played', 'heap MB', 'process MB', 'nodes']
  for (const line of formatTable([head, ...cells])) console.log(line)
}
