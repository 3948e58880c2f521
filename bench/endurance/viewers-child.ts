// Viewers in their own process, so that their event loop is not the measured one: each requests
// segment after segment.
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'

/** The order of the viewers. */
export interface ViewersPlan {
  urls: string[]
  viewers: number
  /** Pause after each received chunk. */
  pauseMs: number
  /** From the beginning of one segment to that of the next, at least. */
  everyMs: number
}

/** Sent periodically: responses in flight and completed responses. */
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
  // The listener may be gone by then, and this process ends a moment later.
  const send = () => process.send?.(report, undefined, undefined, () => undefined)
  setInterval(send, REPORT_MS)
  process.once('disconnect', () => process.exit())
  const watchers = Array.from({ length: viewers }, async (_, number) => {
    // Each starts at another time and another position of the recordings.
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
