// How fast segments leave: ours, made just in time, beside nginx that sends the same bytes from files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBuilt } from '../scripts/prepare.mjs'
import { startServer } from '../test/support/start-server.ts'
import type { StartedServer } from '../test/support/start-server.ts'
import { cutSegments, scatter } from './cut-segments.ts'
import { hasLoadProgram } from './load.ts'
import { describeMachine, hasProgram } from './machine.ts'
import { ensureMedia } from './make-media.ts'
import type { BenchLibrary } from './make-media.ts'
import { DISTURBED_SHARE, measureRow } from './measure.ts'
import type { Row, Sample } from './measure.ts'
import { startNginx } from './nginx.ts'
import type { StartedNginx } from './nginx.ts'
import type { BenchOptions } from './options.ts'
import { createPin } from './pin.ts'
import type { Pin } from './pin.ts'
import { formatTable, median } from './table.ts'

const PROTECTIONS = ['plain', 'aes'] as const
const CONTAINERS = ['mp4', 'ts'] as const
const READY_WITHIN_MS = 120_000

/** Prints the table. */
export async function benchSegments(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const library = await ensureMedia(options)
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-run-'))
  const stops: (() => Promise<unknown>)[] = []
  try {
    const setting: Setting = { options, library, scratch, pin: createPin(), stops }
    const rows = await prepareRows(setting)
    const samples = await measureRounds(rows, setting)
    for (const line of report(rows, samples, options)) console.log(line)
  } finally {
    for (const stop of stops) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Setting {
  options: BenchOptions
  library: BenchLibrary
  scratch: string
  pin: Pin
  /** What has to be ended when all is over. */
  stops: (() => Promise<unknown>)[]
}

async function prepareRows(setting: Setting): Promise<Row[]> {
  const { library, options, stops } = setting
  const cutRoot = path.join(options.cache, `cut-${library.name}`)
  const servers = { plain: await startOurs(setting, 'plain'), aes: await startOurs(setting, 'aes') }
  const nginx = await startCompetitor(setting, cutRoot)
  if (nginx !== undefined) stops.push(() => nginx.stop())
  const rows: Row[] = []
  for (const protection of PROTECTIONS) {
    for (const container of CONTAINERS) {
      const { url, pid } = servers[protection]
      const name = `${container} ${protection}`
      const playlist = `${url}/api/video/${library.sessions[container]}/playlist.m3u8`
      const cut = await cutSegments(playlist, cutRoot, `${container}-${protection}`)
      rows.push({ name: `ours ${name}`, pid, origin: url, paths: scatter(cut.serverPaths) })
      if (nginx !== undefined) rows.push(...nginxRows(nginx, name, scatter(cut.filePaths)))
    }
  }
  return rows
}

/** One worker, so that a row is one processor's work. */
async function startOurs(
  { library, options, pin, stops }: Setting,
  protection: (typeof PROTECTIONS)[number],
): Promise<StartedServer> {
  // Kept between runs: the index and the key, and with the key the encrypted files.
  const data = path.join(options.cache, `data-${library.name}-${protection}`)
  const server = await startServer({
    args: [library.folder, '--data', data],
    wrapper: pin(0),
    readyWithinMs: READY_WITHIN_MS,
    environment: {
      AFTERCAST_WORKERS: '1',
      AFTERCAST_HLS_ENCRYPTION: protection === 'plain' ? 'none' : 'aes-128',
    },
  })
  stops.push(() => server.stop())
  return server
}

async function startCompetitor(
  { scratch, pin }: Setting,
  cutRoot: string,
): Promise<StartedNginx | undefined> {
  if (hasProgram('nginx')) return startNginx(cutRoot, scratch, pin(0))
  console.error('No rows of nginx: it is not installed.')
  return undefined
}

function nginxRows({ pid, origins }: StartedNginx, name: string, paths: string[]): Row[] {
  const cut = name.replace('aes', 'aes, encrypted before')
  return [
    { name: `nginx default ${cut}`, pid, origin: origins.default, paths },
    { name: `nginx tuned ${cut}`, pid, origin: origins.tuned, paths },
  ]
}

/** Row by row, round after round, so that what disturbs the machine disturbs all rows alike. */
async function measureRounds(rows: Row[], { options, pin, scratch }: Setting): Promise<Sample[][]> {
  const samples: Sample[][] = rows.map(() => [])
  if (!hasLoadProgram()) console.error('wrk is not installed: figures are of our own slow client.')
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, row] of rows.entries()) {
      const seconds = options.rowSeconds
      const sample = await measureRow(row, { seconds, wrapper: pin(1), scratch })
      samples[at]?.push(sample)
      console.error(describeSample(`${round + 1}/${options.rounds} ${row.name}`, sample))
    }
  }
  return samples
}

function describeSample(label: string, sample: Sample): string {
  const { megabytesPerSecond, cpuSecondsPerGigabyte, load, othersShare } = sample
  const figures = `${megabytesPerSecond.toFixed(0)} MB/s, ${cpuSecondsPerGigabyte.toFixed(3)} CPU s/GB`
  const others = `others ${(othersShare * 100).toFixed(0)} %`
  const mark = othersShare > DISTURBED_SHARE ? ' DISTURBED' : ''
  return `${label}: ${figures} (load before ${load.toFixed(1)}, ${others}${mark})`
}

function report(rows: Row[], samples: Sample[][], options: BenchOptions): string[] {
  const head = ['row', 'MB/s', 'best', 'req/s', 'p50 ms', 'p99 ms', 'CPU s/GB', 'least', 'peak MiB']
  const cells = rows.map((row, at) => formatRow(row, samples[at] ?? []))
  const { rounds, rowSeconds, mediaSeconds } = options
  return [
    ...describeMachine(['nginx', 'wrk', 'openssl'].filter(hasProgram)),
    `${rounds} rounds of ${rowSeconds} s, ${mediaSeconds / 60} min of media; medians. *: rounds in which others took over ${DISTURBED_SHARE * 100} % of the machine`,
    ...formatTable([[...head, '*'], ...cells]),
    '',
    ...formatTable([
      ['ours beside nginx', 'MB/s default', 'MB/s tuned', 'CPU default', 'CPU tuned'],
      ...ratioRows(rows, samples),
    ]),
  ]
}

function formatRow({ name }: Row, samples: Sample[]): string[] {
  const speeds = samples.map((sample) => sample.megabytesPerSecond)
  const costs = samples.map((sample) => sample.cpuSecondsPerGigabyte)
  const disturbed = samples.filter(({ othersShare }) => othersShare > DISTURBED_SHARE).length
  return [
    name,
    median(speeds).toFixed(0),
    Math.max(...speeds).toFixed(0),
    median(samples.map((sample) => sample.requestsPerSecond)).toFixed(0),
    median(samples.map(({ p50 }) => p50)).toFixed(1),
    median(samples.map(({ p99 }) => p99)).toFixed(1),
    median(costs).toFixed(3),
    Math.min(...costs).toFixed(3),
    Math.max(...samples.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
    String(disturbed),
  ]
}

/** Speed as a multiple of nginx's; and as often as nginx could do our work in the same processor time. */
function ratioRows(rows: Row[], samples: Sample[][]): string[][] {
  return rows.flatMap(({ name }, at) => {
    if (!name.startsWith('ours ') || rows[at + 1]?.name.startsWith('nginx') !== true) return []
    const [ours = [], standard = [], tuned = []] = samples.slice(at, at + 3)
    const speed = (list: Sample[]): number => median(list.map((one) => one.megabytesPerSecond))
    const thrift = (list: Sample[]): number =>
      1 / median(list.map((one) => one.cpuSecondsPerGigabyte))
    const ratios = [speed, thrift].flatMap((figure) =>
      [standard, tuned].map((other) => `${(figure(ours) / figure(other)).toFixed(2)}x`),
    )
    return [[name, ...ratios]]
  })
}
