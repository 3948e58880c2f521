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

export interface ProcessFigures {
  /** Delays of the event loop since they were last read, in milliseconds. */
  p50: number
  p99: number
  /** Memory of JavaScript objects and buffers in all processes. */
  heapMebibytes: number
}

/** @param metrics `host:port` of the listener for metrics */
export async function readFigures(metrics: string): Promise<ProcessFigures> {
  const text = await (await fetch(`http://${metrics}/metrics`)).text()
  const figure = (name: string): number =>
    Number(new RegExp(`^nodejs_${name} (?<value>\\S+)`, 'm').exec(text)?.groups?.value)
  const delay = (name: string): number =>
    Math.max(0, figure(`eventloop_lag_${name}_seconds`) * 1000 - TIMER_MS)
  const heapBytes = figure('heap_size_used_bytes') + figure('external_memory_bytes')
  return { p50: delay('p50'), p99: delay('p99'), heapMebibytes: heapBytes / 2 ** 20 }
}
