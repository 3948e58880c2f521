// `npm run bench -- catalog`: the lists of ten thousand streamers and a million sessions, and how
// soon a change shows.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { scatter } from '../segments/cut-segments.ts'
import { hasLoadProgram } from '../load.ts'
import { describeMachine, hasProgram, readPeakMebibytes, readProcessSeconds } from '../machine.ts'
import { ensureCatalog } from './make-catalog.ts'
import { ensureTree, streamerName } from './make-tree.ts'
import type { TreeSize } from './make-tree.ts'
import { DISTURBED_SHARE, measureRow } from '../measure.ts'
import type { Row, Sample } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import { readResult } from '../read-answer.ts'
import type { ReadyAnswersOrder } from './ready-answers-child.ts'
import { formatTable, median } from '../table.ts'

const COMPETITOR = path.resolve(import.meta.dirname, 'ready-answers-child.ts')
const MEDIA = path.resolve(import.meta.dirname, '../../test/fixtures/media')
/** Two recordings of different length. */
const RECORDINGS = ['mp4-h264-vfr.mp4', 'mp4-hevc-hvc1-aac.mp4'] as const
const FULL: TreeSize = { streamers: 10_000, dates: 2, files: 50 }
const SMOKE: TreeSize = { streamers: 20, dates: 2, files: 5 }
/** Number of streamers whose lists are requested one after another. */
const MANY_STREAMERS = 1000
const ENCODINGS = ['identity', 'br'] as const
const READY_WITHIN_MS = 300_000
const CHANGES = 10
const SHOWN_WITHIN_MS = 30_000
const POLL_MS = 20

interface Setting {
  options: BenchOptions
  folder: string
  size: TreeSize
  server: StartedServer
  scratch: string
  stops: (() => unknown)[]
}

/** Prints the tables. */
export async function benchCatalog(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const size = options.isSmoke ? SMOKE : FULL
  const name = `catalog-${size.streamers}`
  const folder = path.join(options.cache, name)
  const data = path.join(options.cache, `${name}-data`)
  ensureTree(folder, size)
  await ensureCatalog(folder, data)
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-catalog-'))
  const stops: (() => unknown)[] = [() => rmSync(scratch, { recursive: true, force: true })]
  try {
    const server = await startServer({
      args: [folder, '--data', data],
      wrapper: createPin()(0),
      readyWithinMs: READY_WITHIN_MS,
      environment: { AFTERCAST_WORKERS: '1' },
    })
    stops.push(() => server.stop())
    const setting: Setting = { options, folder, size, server, scratch, stops }
    const requests = await measureRequests(setting)
    const changes = await measureChanges(setting)
    const peak = readPeakMebibytes(server.pid).toFixed(0)
    const machine = describeMachine(['wrk'].filter(hasProgram))
    for (const line of [...machine, '', ...requests, '', ...changes]) console.log(line)
    console.log(`The server held ${peak} MiB at most.`)
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** Each of our rows is followed by the competitor's. */
async function measureRequests(setting: Setting): Promise<string[]> {
  const { options, scratch } = setting
  const pin = createPin()
  const rows = await prepareRows(setting)
  const samples: Sample[][] = rows.map(() => [])
  if (!hasLoadProgram()) console.error('wrk is not installed: figures are of our own slow client.')
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, row] of rows.entries()) {
      const sample = await measureRow(row, {
        seconds: options.rowSeconds,
        wrapper: pin(1),
        scratch,
        round,
      })
      samples[at]?.push(sample)
      console.error(
        [
          `${round + 1}/${options.rounds} ${row.name}:`,
          `${sample.requestsPerSecond.toFixed(0)} req/s,`,
          `others ${(sample.othersShare * 100).toFixed(0)} %`,
        ].join(' '),
      )
    }
  }
  const head = ['row', 'req/s', 'best', 'CPU µs', 'least', '*', 'req/s beside', 'CPU beside']
  return formatTable([head, ...rows.map((row, at) => formatRow(row, at, samples))])
}

async function prepareRows(setting: Setting): Promise<Row[]> {
  const { options, size, server } = setting
  const lists = Array.from({ length: Math.min(size.streamers, MANY_STREAMERS) }, (_, number) =>
    sessionsApiPath(streamerName(number)),
  )
  const many = scatter(lists)
  const one = lists.slice(0, 1)
  const competitor = await startCompetitor(setting, [streamersApiPath, ...lists])
  const rows: Row[] = []
  const add = (name: string, paths: string[], headers: Record<string, string>): void => {
    const { url: origin, pid } = server
    rows.push({ name: `ours ${name}`, pid, origin, paths: () => paths, headers })
    rows.push({ ...competitor, name: `ready bytes ${name}`, paths: () => paths, headers })
  }
  for (const encoding of options.isSmoke ? ENCODINGS.slice(0, 1) : ENCODINGS) {
    add(`streamers, ${encoding}`, [streamersApiPath], { 'accept-encoding': encoding })
    if (!options.isSmoke) add(`sessions of one, ${encoding}`, one, { 'accept-encoding': encoding })
    add(`sessions of ${many.length}, ${encoding}`, many, { 'accept-encoding': encoding })
  }
  const etag = await readEtag(server.url + streamersApiPath)
  add('streamers, 304', [streamersApiPath], { 'accept-encoding': 'br', 'if-none-match': etag })
  return rows
}

async function startCompetitor(
  { server, stops }: Setting,
  paths: string[],
): Promise<{ pid: number; origin: string }> {
  const [command, ...words] = [...createPin()(0), process.execPath]
  const child = fork(COMPETITOR, { execPath: command, execArgv: words })
  stops.push(() => child.kill())
  const order: ReadyAnswersOrder = { origin: server.url, paths, encodings: ENCODINGS }
  child.send(order)
  const [origin]: unknown[] = await once(child, 'message')
  return { pid: child.pid ?? NaN, origin: String(origin) }
}

async function readEtag(url: string): Promise<string> {
  const { headers } = await readResult(url, {})
  const etag = headers.etag ?? ''
  const { status } = await readResult(url, { 'if-none-match': etag })
  if (status !== 304) throw new Error(`${status} instead of 304`)
  return etag
}

function formatRow({ name }: Row, at: number, samples: readonly Sample[][]): string[] {
  const own = samples[at] ?? []
  const speeds = own.map(({ requestsPerSecond }) => requestsPerSecond)
  const costs = own.map(({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest)
  const cells = [
    name,
    median(speeds).toFixed(0),
    Math.max(...speeds).toFixed(0),
    median(costs).toFixed(0),
    Math.min(...costs).toFixed(0),
    String(own.filter(({ othersShare }) => othersShare > DISTURBED_SHARE).length),
  ]
  if (!name.startsWith('ours ')) return [...cells, '', '']
  const other = samples[at + 1] ?? []
  const speed = median(speeds) / median(other.map((sample) => sample.requestsPerSecond))
  const cost = median(other.map((sample) => sample.cpuMicrosecondsPerRequest)) / median(costs)
  return [...cells, `${speed.toFixed(2)}x`, `${cost.toFixed(2)}x`]
}

/** Adds new recordings, then replaces them; each is removed at the end. */
async function measureChanges({ options, folder, server, stops }: Setting): Promise<string[]> {
  const count = options.isSmoke ? 1 : CHANGES
  const places = Array.from({ length: count }, (_, number) => {
    const streamer = streamerName(number * 2)
    const sessionId = `new-${process.pid}-${number}`
    return {
      streamer,
      sessionId,
      file: path.join(folder, streamer, '2025-01-01', `${sessionId}.mp4`),
    }
  })
  stops.push(() => places.forEach(({ file }) => rmSync(file, { force: true })))
  const head = ['change', 'p50 ms', 'most ms', 'server CPU ms', 'longest answer ms']
  const rows = [head]
  for (const [kind, model] of [
    ['new', RECORDINGS[0]],
    ['another in its place', RECORDINGS[1]],
  ] as const) {
    const delays: number[] = []
    let longestMs = 0
    const cpuBefore = readProcessSeconds(server.pid)
    for (const { streamer, sessionId, file } of places) {
      const seen = { before: await findSession(server, streamer, sessionId) }
      const startedMs = performance.now()
      copyFileSync(path.join(MEDIA, model), file)
      const shown = await waitUntilShown(server, { streamer, sessionId, duration: seen.before })
      delays.push(performance.now() - startedMs)
      longestMs = Math.max(longestMs, shown)
    }
    const cpuMs = ((readProcessSeconds(server.pid) - cpuBefore) * 1000) / count
    rows.push([
      kind,
      median(delays).toFixed(0),
      Math.max(...delays).toFixed(0),
      cpuMs.toFixed(0),
      longestMs.toFixed(0),
    ])
  }
  return formatTable(rows)
}

interface Expected {
  streamer: string
  sessionId: string
  /** The duration that is shown now; another is waited for. */
  duration: string | undefined
}

/**
 * Resolves once the session's list shows another length, with the longest response time of the
 * lists of sessions and streamers.
 */
async function waitUntilShown(server: StartedServer, expected: Expected): Promise<number> {
  const { streamer, sessionId, duration } = expected
  const endMs = performance.now() + SHOWN_WITHIN_MS
  let longestMs = 0
  while (performance.now() < endMs) {
    const startedMs = performance.now()
    const shown = await findSession(server, streamer, sessionId)
    const listedMs = performance.now()
    await (await fetch(server.url + streamersApiPath)).arrayBuffer()
    longestMs = Math.max(longestMs, listedMs - startedMs, performance.now() - listedMs)
    if (shown !== undefined && shown !== duration) return longestMs
    await sleep(POLL_MS)
  }
  throw new Error(`a change was not shown within ${SHOWN_WITHIN_MS / 1000} s`)
}

/** The listed length of a session; undefined if it is not listed, or has no length. */
async function findSession(
  server: StartedServer,
  streamer: string,
  sessionId: string,
): Promise<string | undefined> {
  const answer = await fetch(server.url + sessionsApiPath(streamer))
  const sessions: { sessionId: string; duration?: string }[] = JSON.parse(await answer.text())
  return sessions.find((session) => session.sessionId === sessionId)?.duration
}
