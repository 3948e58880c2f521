// Viewers in a process of their own, so that theirs is not the event loop that is measured: each asks for segment after segment.
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'

/** What the viewers are told. */
export interface ViewersPlan {
  urls: string[]
  viewers: number
  /** After each piece of an answer that has come, so long nothing is read. */
  pauseMs: number
  /** From the beginning of one segment to that of the next, at least. */
  everyMs: number
}

/** Now and then: how many answers are under way, and how many have come whole. */
export interface ViewersReport {
  inFlight: number
  ended: number
  failed: number
}

const REPORT_MS = 250
const report: ViewersReport = { inFlight: 0, ended: 0, failed: 0 }

// memory.ts is the only sender and shares the type.
process.once('message', (plan) => void watch(plan as ViewersPlan))

async function watch({ urls, viewers, ...pace }: ViewersPlan): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: viewers })
  // Who listens may be gone by then, and this process ends a moment later.
  const tell = () => process.send?.(report, undefined, undefined, () => undefined)
  setInterval(tell, REPORT_MS)
  process.once('disconnect', () => process.exit())
  const watchers = Array.from({ length: viewers }, async (_, number) => {
    // Each comes at another time, and is somewhere else in the recordings.
    await sleep((pace.everyMs * number) / viewers)
    for (let at = number * 7; ; at += 1) {
      const begun = performance.now()
      await view(urls[at % urls.length] ?? '', agent, pace.pauseMs)
      await sleep(pace.everyMs - (performance.now() - begun))
    }
  })
  await Promise.all(watchers)
}

async function view(url: string, agent: Agent, pauseMs: number): Promise<void> {
  const response = await ask(url, agent).catch(() => undefined)
  if (response?.statusCode !== 200) {
    report.failed += 1
    response?.resume()
    return
  }
  report.inFlight += 1
  try {
    for await (const _ of response) await sleep(pauseMs)
    report.ended += 1
  } catch {
    report.failed += 1
  }
  report.inFlight -= 1
}

function ask(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, resolve).once('error', reject)
  })
}

function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}
