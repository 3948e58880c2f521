// A crowd of clients in a process of its own, so that its event loop is not the measured one:
// viewers, which request segment after segment, or connections that misbehave.
import { createHash } from 'node:crypto'
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The order of the crowd. */
export type CrowdPlan = ViewersPlan | ConnectionsPlan

interface ViewersPlan {
  kind: 'viewers'
  count: number
  urls: readonly string[]
  /** Pause after each received chunk. */
  pauseMs: number
  /** From the beginning of one segment to that of the next, at least. */
  everyMs: number
  /** Counts 503 as late: a smoke run shares the machine. */
  isPatient: boolean
}

/** Each opens a connection, sends some bytes, and reads slowly or not at all. */
interface ConnectionsPlan {
  kind: 'connections'
  count: number
  port: number
  /** Connection number n sends the text at n, modulo their number. */
  requests: readonly string[]
  /** What each sends every second after that. */
  trickle?: string
  /** Bytes that each reads every half second. */
  readBytes?: number
}

/** Sent periodically. */
export interface CrowdReport {
  /** Clients that have a connection, or a first response. */
  begun: number
  /** Complete responses. */
  ended: number
  failed: number
  /** Why the first one failed. */
  failure?: string
  /** With other bytes than the first response of its URL. */
  wrong: number
  /** Took longer than `everyMs`. */
  late: number
}

const REPORT_MS = 100
/** Connections that are opened without a pause: a listener's queue has few more. */
const BURST = 100
const hashes = new Map<string, string>()
const report: CrowdReport = { begun: 0, ended: 0, failed: 0, wrong: 0, late: 0 }

// run-scenario.ts is the only sender and shares the type.
process.once('message', (plan) => void begin(plan as CrowdPlan))

async function begin(plan: CrowdPlan): Promise<void> {
  // The listener may be gone by then, and this process ends a moment later.
  setInterval(() => process.send?.(report, undefined, undefined, () => undefined), REPORT_MS)
  process.once('disconnect', () => process.exit())
  if (plan.kind === 'viewers') return watch(plan)
  for (let number = 0; number < plan.count; number += 1) {
    open(number, plan)
    if (number % BURST === 0) await sleep(10)
  }
}

async function watch({ urls, count, ...pace }: ViewersPlan): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const viewers = Array.from({ length: count }, async (_, number) => {
    // Each starts at another time and another position of the recordings.
    await sleep((pace.everyMs * number) / count)
    for (let at = number * 7, isFirst = true; ; at += 1, isFirst = false) {
      const startedMs = performance.now()
      const isGood = await view(urls[at % urls.length] ?? '', agent, pace).catch(fail)
      if (isGood === true && isFirst) report.begun += 1
      const tookMs = performance.now() - startedMs
      if (pace.everyMs > 0 && tookMs > pace.everyMs) report.late += 1
      await sleep(Math.max(0, pace.everyMs - tookMs))
    }
  })
  await Promise.all(viewers)
}

type Pace = Pick<ViewersPlan, 'pauseMs' | 'isPatient'>

async function view(url: string, agent: Agent, pace: Pace): Promise<boolean> {
  const response = await ask(url, agent)
  if (response.statusCode !== 200) {
    response.resume()
    if (!pace.isPatient || response.statusCode !== 503)
      throw new Error(`status ${response.statusCode}`)
    report.late += 1
    return false
  }
  const hash = createHash('sha1')
  for await (const bytes of response) {
    hash.update(bytes)
    if (pace.pauseMs > 0) await sleep(pace.pauseMs)
  }
  report.ended += 1
  const digest = hash.digest('hex')
  if ((hashes.get(url) ?? digest) !== digest) report.wrong += 1
  hashes.set(url, digest)
  return true
}

function fail(reason: unknown): undefined {
  report.failed += 1
  report.failure ??= String(reason)
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

function open(number: number, { port, requests, trickle, readBytes }: ConnectionsPlan): void {
  const socket = connect(port, '127.0.0.1', () => {
    report.begun += 1
    socket.write(requests[number % requests.length] ?? '')
  })
  socket.pause()
  socket.on('error', () => undefined)
  const timers = [
    trickle !== undefined && setInterval(() => socket.write(trickle), 1000),
    readBytes !== undefined && setInterval(() => socket.read(readBytes), 500),
  ]
  socket.once('close', () => timers.forEach((timer) => timer && clearInterval(timer)))
}
