// Viewers of a server, and the delays of its event loop while they are served.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { ViewersPlan, ViewersReport } from './viewers-child.ts'

const CHILD = path.resolve(import.meta.dirname, 'viewers-child.ts')
/** prom-client measures the time from tick to tick of a timer with this period: more is delay. */
const TIMER_MS = 10

export interface StartedViewers {
  /** The latest report. */
  report: () => ViewersReport
  /** Most responses that were in flight at once. */
  mostInFlight: () => number
  /** Resolves when all viewers have got a response, or one has failed. */
  begun: () => Promise<void>
  stop: () => void
}

/** In a process of their own. */
export function startViewers(plan: ViewersPlan): StartedViewers {
  const child = fork(CHILD)
  let latest: ViewersReport = { inFlight: 0, ended: 0, failed: 0, wrong: 0, late: 0 }
  let mostInFlight = 0
  child.on('message', (report: ViewersReport) => {
    latest = report
    mostInFlight = Math.max(mostInFlight, report.inFlight)
  })
  child.send(plan)
  return {
    report: () => latest,
    mostInFlight: () => mostInFlight,
    begun: async () => {
      while (latest.inFlight + latest.ended < plan.viewers && latest.failed === 0)
        await once(child, 'message')
    },
    stop: () => child.disconnect(),
  }
}

/**
 * Delays of the event loop since they were last read, in milliseconds.
 *
 * @param metrics `host:port` of the listener for metrics
 */
export async function readDelays(metrics: string): Promise<{ p50: number; p99: number }> {
  const text = await (await fetch(`http://${metrics}/metrics`)).text()
  const delay = (name: string): number => {
    const line = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (?<value>\\S+)`, 'm').exec(text)
    return Math.max(0, Number(line?.groups?.value) * 1000 - TIMER_MS)
  }
  return { p50: delay('p50'), p99: delay('p99') }
}
