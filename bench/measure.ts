// Measures rows of a benchmark, round after round, and prints them as tables: requests to servers,
// and the load of the rest of the machine.
import type { Bench } from './harness.ts'
import { runLoad } from './load.ts'
import type { LoadPlan } from './load.ts'
import { readLoad, readPeakMebibytes, readProcessSeconds, watchOthers } from './machine.ts'
import { formatTable, median } from './table.ts'

/** A server and its requests. */
export interface Row {
  name: string
  pid: number
  origin: string
  /** Names of other rows that it is compared with. */
  beside?: readonly string[]
  /** Of each request. Default none. */
  headers?: Readonly<Record<string, string>>
  /** Requested paths of a round, in order. */
  paths: (round: number) => string[]
  /** Rounds before the measurement. Default none. */
  warmUpRounds?: number
}

/** What was measured in a round. */
export interface Sample {
  megabytesPerSecond: number
  cpuSecondsPerGigabyte: number
  cpuMicrosecondsPerRequest: number
  requestsPerSecond: number
  p50: number
  p99: number
  peakMebibytes: number
  /** Share of the machine that went to neither the server nor the client. */
  othersShare: number
  /** Measurements of the round in which that share was too large. */
  disturbed: number
}

export interface MeasuredRow {
  row: Row
  samples: Sample[]
}

/** With a larger share for other processes, a row does not show the speed. */
export const DISTURBED_SHARE = 0.1
/** How often a round of a row is measured where other load disturbs it. */
const MAX_TRIES = 3

/**
 * Row by row, round after round, so that what disturbs the machine disturbs all rows alike; every
 * other round in reverse order. Prints each measurement on stderr.
 */
export async function measureRows(rows: readonly Row[], bench: Bench): Promise<MeasuredRow[]> {
  const { rounds, rowSeconds: seconds, isSmoke } = bench.options
  const plan = { seconds, wrapper: bench.pin(1), scratch: bench.scratch, isSmoke }
  for (const { warmUpRounds = 0, ...row } of rows) {
    for (let round = isSmoke ? Math.min(1, warmUpRounds) : warmUpRounds; round > 0; round -= 1)
      await runLoad({ ...plan, origin: row.origin, paths: row.paths(-round) })
  }
  const measured = rows.map((row): MeasuredRow => ({ row, samples: [] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { row, samples } of round % 2 === 0 ? measured : measured.toReversed()) {
      const sample = await measureRound(row, { ...plan, round, tries: isSmoke ? 1 : MAX_TRIES })
      console.error(`${round + 1}/${rounds} ${row.name}: ${describe(sample)}`)
      samples.push(sample)
    }
  }
  return measured
}

type RoundPlan = Omit<LoadPlan, 'origin' | 'paths' | 'headers'> & { round: number; tries: number }

/** Again where it was disturbed. */
async function measureRound(row: Row, plan: RoundPlan): Promise<Sample> {
  let disturbed = 0
  for (;;) {
    const sample = await measureOnce(row, plan)
    if (sample.othersShare > DISTURBED_SHARE) disturbed += 1
    const isLast = sample.othersShare <= DISTURBED_SHARE || disturbed >= plan.tries
    if (isLast) return { ...sample, disturbed }
  }
}

function describe({ megabytesPerSecond, requestsPerSecond, othersShare }: Sample): string {
  const speed = `${megabytesPerSecond.toFixed(0)} MB/s, ${requestsPerSecond.toFixed(0)} req/s`
  return `${speed} (load ${readLoad().toFixed(1)}, others ${(othersShare * 100).toFixed(0)} %)`
}

async function measureOnce(
  { pid, origin, paths, headers }: Row,
  { round, ...plan }: RoundPlan,
): Promise<Sample> {
  const before = readProcessSeconds(pid)
  const readOthersShare = watchOthers()
  const result = await runLoad({ ...plan, origin, headers, paths: paths(round) })
  const seconds = readProcessSeconds(pid) - before
  return {
    megabytesPerSecond: result.bytes / 1e6 / result.seconds,
    cpuSecondsPerGigabyte: seconds / (result.bytes / 1e9),
    cpuMicrosecondsPerRequest: (seconds * 1e6) / result.requests,
    requestsPerSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    peakMebibytes: readPeakMebibytes(pid),
    othersShare: readOthersShare(),
    disturbed: 0,
  }
}

/** Rounds that were not disturbed, unless there are no others. */
function counted(samples: readonly Sample[]): readonly Sample[] {
  const calm = samples.filter(({ othersShare }) => othersShare <= DISTURBED_SHARE)
  return calm.length > 0 ? calm : samples
}

/** The median of the rounds that count. */
export function figureOf({ samples }: MeasuredRow, name: keyof Sample): number {
  return median(counted(samples).map((sample) => sample[name]))
}

/** A table of the rows, and one of those that are compared with others. */
export function formatRows(measured: readonly MeasuredRow[]): string[] {
  const speed = ['row', 'MB/s', 'req/s', 'best', 'p50 ms', 'p99 ms']
  const head = [...speed, 'CPU s/GB', 'CPU µs', 'least', 'peak MiB', '*']
  return [
    ...formatTable(head, ...measured.map(formatRow)),
    ...formatTable(
      ['row', 'beside', 'speed', 'CPU'],
      ...measured.flatMap((one) =>
        (one.row.beside ?? []).flatMap((name) => {
          const other = measured.find(({ row }) => row.name === name)
          return other === undefined ? [] : [compare(one, other)]
        }),
      ),
    ),
    `*: measurements in which others used over ${DISTURBED_SHARE * 100} % of the machine; they`,
    'count only where there are no others. Medians; over 1x is better than what is beside it.',
  ]
}

function formatRow(measured: MeasuredRow): string[] {
  const { row, samples } = measured
  const values = (name: keyof Sample) => counted(samples).map((sample) => sample[name])
  const figure = (name: keyof Sample, digits = 0) => figureOf(measured, name).toFixed(digits)
  return [
    row.name,
    figure('megabytesPerSecond'),
    figure('requestsPerSecond'),
    Math.max(...values('requestsPerSecond')).toFixed(0),
    figure('p50', 1),
    figure('p99', 1),
    figure('cpuSecondsPerGigabyte', 3),
    figure('cpuMicrosecondsPerRequest'),
    Math.min(...values('cpuMicrosecondsPerRequest')).toFixed(0),
    Math.max(...samples.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
    String(samples.reduce((sum, { disturbed }) => sum + disturbed, 0)),
  ]
}

/** Ratios of the medians of the same requests. */
function compare(ours: MeasuredRow, other: MeasuredRow): string[] {
  const speed = figureOf(ours, 'requestsPerSecond') / figureOf(other, 'requestsPerSecond')
  const cost = (row: MeasuredRow) => figureOf(row, 'cpuMicrosecondsPerRequest')
  const ratios = [speed, cost(other) / cost(ours)].map((ratio) => `${ratio.toFixed(2)}x`)
  return [ours.row.name, other.row.name, ...ratios]
}
