// `npm run bench -- soak`: 200 viewers for an hour, while recordings are added, removed, hidden and
// recorded; memory and descriptors of the server have to stay flat.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { sessionsResponse } from '../../shared/contract.ts'
import { playlistApiPath, sessionsApiPath } from '../../shared/paths.ts'
import { findFreePort } from '../../test/support/servers/free-port.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { childrenOf, startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { RECORDED_AT } from '../../test/support/temp-library.ts'
import { describeMachine, readMebibytes } from '../machine.ts'
import { ALL_FORMATS, ensureMedia } from '../make-media.ts'
import type { BenchLibrary } from '../make-media.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { fetchShape } from './fetch-shape.ts'
import { SoakActivity } from './soak-activity.ts'
import { readFigures, startViewers } from './viewers.ts'
import type { StartedViewers } from './viewers.ts'
import type { ViewersReport } from './viewers-child.ts'

const VIEWERS = 200
const SEGMENT_MS = 6000
const DAY = { streamer: 'bench', date: '2026-01-31' }
const SAMPLES = 60
const SMOKE_SAMPLES = 12
const SHOWN_ROWS = 12
/** Growth from the second quarter to the last one that counts as flat. */
const MAX_GROWTH = 1.1

interface Sample {
  mebibytes: number
  heapMebibytes: number
  descriptors: number
  loopP99Ms: number
  viewers: ViewersReport
}

/** Prints the table; rejects if anything failed or grew. */
export async function benchSoak(options: BenchOptions): Promise<void> {
  const media = await ensureMedia(options, ALL_FORMATS)
  const scratch = mkdtempSync(path.join(options.cache, 'soak-'))
  const folders = { library: path.join(scratch, 'library'), data: path.join(scratch, 'data') }
  copyRecordings(media, path.join(folders.library, DAY.streamer, DAY.date))
  const metrics = `127.0.0.1:${await findFreePort()}`
  const server = await startServer({
    args: [folders.library, '--data', folders.data],
    environment: { AFTERCAST_METRICS: metrics, AFTERCAST_WORKERS: '2' },
  })
  let viewers: StartedViewers | undefined
  try {
    viewers = await watchAll(server, options)
    const activity = await SoakActivity.create(server.url, folders)
    const samples: Sample[] = []
    const count = options.isSmoke ? SMOKE_SAMPLES : SAMPLES
    for (let at = 0; at < count; at += 1) {
      const untilMs = performance.now() + (options.soakMinutes * 60_000) / count
      while (performance.now() < untilMs) await activity.step()
      samples.push({ ...(await measure(server, metrics)), viewers: viewers.report() })
      console.error(JSON.stringify(samples.at(-1)))
    }
    for (const line of formatReport(samples, activity, options)) console.log(line)
    console.error(server.output())
    const faults = findFaults(samples, activity, options)
    if (faults.length > 0) throw new Error(faults.join('\n'))
  } finally {
    viewers?.stop()
    await server.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Another link to a recording, by a later benchmark, would change its ctime, and so its URLs. */
function copyRecordings({ outputs }: BenchLibrary, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const output of outputs) {
    const copy = path.join(folder, path.basename(output.path))
    copyFileSync(output.path, copy)
    utimesSync(copy, RECORDED_AT, RECORDED_AT)
  }
}

/** Viewers of the segments of all recordings. */
async function watchAll(
  { url }: StartedServer,
  { isSmoke }: BenchOptions,
): Promise<StartedViewers> {
  const urls: string[] = []
  const sessions = await fetchShape(url + sessionsApiPath(DAY.streamer), sessionsResponse)
  for (const { date, sessionId } of sessions) {
    const path = playlistApiPath({ streamer: DAY.streamer, date, sessionId })
    const { segments } = await fetchPlaylist(url + path)
    urls.push(...segments.map((segment) => segment.url))
  }
  const pace = { viewers: VIEWERS, pauseMs: 0, everyMs: SEGMENT_MS }
  return startViewers({ urls, ...pace, isCompared: true, isPatient: isSmoke })
}

/** Of the primary and all processes that it started. */
async function measure(server: StartedServer, metrics: string): Promise<Omit<Sample, 'viewers'>> {
  const pids = [server.pid, ...childrenOf(server.pid)]
  const { p99, heapMebibytes } = await readFigures(metrics)
  return {
    mebibytes: sum(pids.map(readMebibytes)),
    descriptors: sum(pids.map((pid) => readdirSync(`/proc/${pid}/fd`).length)),
    heapMebibytes,
    loopP99Ms: p99,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

type Measured = 'mebibytes' | 'descriptors'

/** Median of the last quarter in relation to that of the second one. */
function growth(samples: readonly Sample[], name: Measured): number {
  const quarter = samples.length / 4
  const values = samples.map((sample) => sample[name])
  return median(values.slice(3 * quarter)) / median(values.slice(quarter, 2 * quarter))
}

function findFaults(
  samples: readonly Sample[],
  activity: SoakActivity,
  { isSmoke }: BenchOptions,
): string[] {
  const faults = activity.faults.slice(0, SHOWN_ROWS)
  const { failed = NaN, wrong, failure } = samples.at(-1)?.viewers ?? {}
  if (failed !== 0 || wrong !== 0)
    faults.push(`${failed} responses failed (${failure}), ${wrong} were wrong`)
  if (isSmoke) return faults
  for (const name of ['mebibytes', 'descriptors'] as const) {
    const factor = growth(samples, name)
    if (factor > MAX_GROWTH) faults.push(`${name} grew by a factor of ${factor.toFixed(2)}`)
  }
  return faults
}

function formatReport(
  samples: readonly Sample[],
  { counts, faults }: SoakActivity,
  { soakMinutes }: BenchOptions,
): string[] {
  const head = [
    'minute',
    'MiB',
    'heap MiB',
    'descriptors',
    'loop p99 ms',
    'segments',
    'late',
    'wrong',
    'failed',
  ]
  const rows = samples.flatMap((sample, at) => {
    const { mebibytes, heapMebibytes, descriptors, loopP99Ms, viewers } = sample
    if ((at + 1) % (samples.length / SHOWN_ROWS) !== 0) return []
    const { ended, late, wrong, failed } = viewers
    return [
      [
        (((at + 1) * soakMinutes) / samples.length).toFixed(1),
        mebibytes.toFixed(0),
        heapMebibytes.toFixed(0),
        String(descriptors),
        loopP99Ms.toFixed(1),
        ...[ended, late, wrong, failed].map(String),
      ],
    ]
  })
  const { added, hidden, recorded, requests } = counts
  return [
    ...describeMachine([]),
    `${VIEWERS} viewers with a segment every ${SEGMENT_MS / 1000} s; ${added} recordings added,`,
    `${recorded} recorded, ${hidden} hides, ${requests} other requests, ${faults.length} faults`,
    '',
    ...formatTable([head, ...rows]),
    '',
    `last quarter / second quarter: memory ${growth(samples, 'mebibytes').toFixed(3)},`,
    `descriptors ${growth(samples, 'descriptors').toFixed(3)}`,
  ]
}
