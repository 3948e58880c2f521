// Measures one row of a benchmark, and the load of the rest of the machine.
import { availableParallelism } from 'node:os'
import { runLoad } from './load.ts'
import type { LoadPlan } from './load.ts'
import {
  readBusySeconds,
  readEndedChildrenSeconds,
  readLoad,
  readPeakMebibytes,
  readProcessSeconds,
} from './machine.ts'

/** A server and its requests. */
export interface Row {
  name: string
  pid: number
  origin: string
  /** Of each request. Default none. */
  headers?: Readonly<Record<string, string>>
  /** Requested paths of a round, in order. */
  paths: (round: number) => string[]
  /** Requested for a while before the measurement. */
  isWarmedUp?: boolean
}

export interface Sample {
  megabytesPerSecond: number
  cpuSecondsPerGigabyte: number
  cpuMicrosecondsPerRequest: number
  requestsPerSecond: number
  p50: number
  p99: number
  peakMebibytes: number
  /** Load of the machine before the row. */
  load: number
  /** Share of the machine that went to neither the server nor the client. */
  othersShare: number
}

/** With a larger share for other processes, a row does not show the speed. */
export const DISTURBED_SHARE = 0.1

/** Whether the machine did little else. */
export function isCalm({ othersShare }: Sample): boolean {
  return othersShare <= DISTURBED_SHARE
}

export async function measureRow(
  { pid, origin, paths, headers }: Row,
  { round, ...plan }: Omit<LoadPlan, 'origin' | 'paths' | 'headers'> & { round: number },
): Promise<Sample> {
  const load = readLoad()
  const before = readClocks(pid)
  const result = await runLoad({ ...plan, origin, headers, paths: paths(round) })
  const after = readClocks(pid)
  const server = after.server - before.server
  const others = after.busy - before.busy - server - (after.client - before.client)
  const wall = (after.wallMs - before.wallMs) / 1000
  return {
    megabytesPerSecond: result.bytes / 1e6 / result.seconds,
    cpuSecondsPerGigabyte: server / (result.bytes / 1e9),
    cpuMicrosecondsPerRequest: (server * 1e6) / result.requests,
    requestsPerSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    peakMebibytes: readPeakMebibytes(pid),
    load,
    othersShare: Math.max(0, others) / (wall * availableParallelism()),
  }
}

function readClocks(pid: number) {
  return {
    server: readProcessSeconds(pid),
    client: readEndedChildrenSeconds(),
    busy: readBusySeconds(),
    wallMs: performance.now(),
  }
}
