// Measures one row of a benchmark, and the load of the rest of the machine.
import { availableParallelism } from 'node:os'
import { runLoad } from './load.ts'
import type { LoadPlan } from './load.ts'
import type { BenchOptions } from './options.ts'
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
  /** Processes that work for the server. */
  backends?: readonly number[]
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

/** How often a round of a row is measured where other load disturbs it. */
const MAX_TRIES = 3

type RoundPlan = Omit<LoadPlan, 'origin' | 'paths' | 'headers'> & { round: number }

/** Measures a round of a row, again if it was disturbed. Prints each measurement. */
export async function measureRound(
  row: Row,
  plan: RoundPlan,
  { rounds, isSmoke }: Pick<BenchOptions, 'rounds' | 'isSmoke'>,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const tries = isSmoke ? 1 : MAX_TRIES
  while (samples.length < tries && !samples.some(isCalm)) {
    const sample = await measureRow(row, plan)
    console.error(describeSample(`${plan.round + 1}/${rounds} ${row.name}`, sample))
    samples.push(sample)
  }
  return samples
}

function describeSample(label: string, sample: Sample): string {
  const { megabytesPerSecond, cpuSecondsPerGigabyte, load, othersShare } = sample
  const cost = cpuSecondsPerGigabyte.toFixed(3)
  const figures = `${megabytesPerSecond.toFixed(0)} MB/s, ${cost} CPU s/GB`
  const others = `others ${(othersShare * 100).toFixed(0)} %`
  const mark = isCalm(sample) ? '' : ' DISTURBED'
  return `${label}: ${figures} (load before ${load.toFixed(1)}, ${others}${mark})`
}

export async function measureRow(
  { pid, origin, backends = [], paths, headers }: Row,
  { round, ...plan }: RoundPlan,
): Promise<Sample> {
  const load = readLoad()
  const before = readClocks(pid, backends)
  const result = await runLoad({ ...plan, origin, headers, paths: paths(round) })
  const after = readClocks(pid, backends)
  const server = after.server - before.server
  const known = server + (after.client - before.client) + (after.backends - before.backends)
  const others = after.busy - before.busy - known
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

function readClocks(pid: number, backends: readonly number[]) {
  return {
    backends: backends.reduce((sum, each) => sum + readProcessSeconds(each), 0),
    server: readProcessSeconds(pid),
    client: readEndedChildrenSeconds(),
    busy: readBusySeconds(),
    wallMs: performance.now(),
  }
}
