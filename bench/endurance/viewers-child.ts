// Viewers in their own process, so that their event loop is not the measured one: each requests
// segment after segment.
import { createHash } from 'node:crypto'
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
  /** Compares the bytes of each response with those of the first one of its URL. */
  isCompared?: boolean
  /** Counts 503 as late: for smoke runs, which share the machine with other tests. */
  isPatient?: boolean
}

/** Sent periodically: responses in flight and completed responses. */
export interface ViewersReport {
  inFlight: number
  ended: number
  failed: number
  /** Why the first one failed. */
  failure?: string
  /** With other bytes than before. */
  wrong: number
  /** Took longer than `everyMs`. */
  late: number
}

const REPORT_MS = 250
const hashes = new Map<string, string>()
const report: ViewersReport = { inFlight: 0, ended: 0, failed: 0, wrong: 0, late: 0 }

// The senders share the type.
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
      await view(urls[at % urls.length] ?? '', agent, pace)
      const tookMs = performance.now() - begun
      if (pace.everyMs > 0 && tookMs > pace.everyMs) report.late += 1
      await sleep(pace.everyMs - tookMs)
    }
  })
  await Promise.all(watchers)
}

type Pace = Omit<ViewersPlan, 'urls' | 'viewers'>

async function view(url: string, agent: Agent, pace: Pace): Promise<void> {
  const { pauseMs, isCompared, isPatient } = pace
  const response = await ask(url, agent).catch(fail)
  if (response === undefined) return
  if (response.statusCode !== 200) {
    if (isPatient === true && response.statusCode === 503) report.late += 1
    else fail(`status ${response.statusCode}`)
    response.resume()
    return
  }
  report.inFlight += 1
  try {
    const hash = createHash('sha1')
    for await (const bytes of response) {
      if (isCompared) hash.update(bytes)
      await sleep(pauseMs)
    }
    report.ended += 1
    if (isCompared) compare(url, hash.digest('hex'))
  } catch (error) {
    fail(error)
  }
  report.inFlight -= 1
}

function fail(reason: unknown): undefined {
  report.failed += 1
  report.failure ??= String(reason)
}

function compare(url: string, hash: string): void {
  if ((hashes.get(url) ?? hash) !== hash) report.wrong += 1
  hashes.set(url, hash)
}

/** Once more if the server closed an idle connection at that moment, as browsers do. */
async function ask(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, resolve)
    request.once('error', (error) => {
      if (request.reusedSocket) resolve(ask(url, agent))
      else reject(error)
    })
  })
}

function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}
