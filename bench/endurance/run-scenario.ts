// Runs a scenario: servers with a crowd of clients, to which something happens phase by phase,
// while visitors request lists and segments. No response may fail, and what must stay flat does.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath, sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import { findFreePort } from '../../test/support/servers/free-port.ts'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../test/support/servers/postgres.ts'
import { startRequestLoop } from '../../test/support/servers/request-loop.ts'
import type { LoopResponse, RequestLoop } from '../../test/support/servers/request-loop.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { listSegments } from '../cut-segments.ts'
import type { Bench } from '../harness.ts'
import { readMebibytes, readPeakMebibytes } from '../machine.ts'
import { DAY, ensureMedia, sessionOf } from '../media.ts'
import type { MediaFormat } from '../media.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median, percentile } from '../table.ts'
import type { CrowdPlan, CrowdReport } from './crowd-child.ts'
import { waitUntilListed } from './listing.ts'

/** What happens, as data. */
export interface Scenario {
  /** Scenes are independent of each other; a smoke run has the first one. */
  scenes: readonly Scene[]
  /** In every scene, one after another. */
  phases: readonly Phase[]
}

export interface Scene {
  name: string
  /** Two nodes with PostgreSQL, of this release or of `--older`. Default one server without. */
  cluster?: 'this' | 'older'
  environment?: NodeJS.ProcessEnv
  /** Adds to the library before the servers start; returns how many sessions. */
  prepare?: (recordings: string, options: BenchOptions) => number
  /** Clients besides the visitors. */
  crowd?: (stage: Stage) => Promise<CrowdPlan>
}

export interface Phase {
  name: string
  run: (stage: Stage, actions: Actions) => Promise<unknown>
  /** Whether memory and descriptors must not grow meanwhile. */
  isFlat?: boolean
}

/** What a phase can change. */
export interface Stage {
  bench: Bench
  recordings: string
  /** Of the first node. */
  data: string
  /** Sessions in the beginning. */
  sessions: number
  nodes: StartedServer[]
  /** Paths of segments. */
  segments: readonly string[]
  postgres: StartedPostgres | undefined
  crowd: Crowd | undefined
  /** Descriptors of the nodes before the crowd came. */
  descriptors: number
}

export interface Actions {
  /** Waits; in a smoke run only until each visitor has got every response once more. */
  hold: (milliseconds: number) => Promise<unknown>
  /** Replaces a node by one of this release. As with a load balancer, visitors have left it. */
  replace: (at: number) => Promise<void>
}

export interface Crowd {
  report(): CrowdReport
  leave(): Promise<void>
}

const CHILD = path.resolve(import.meta.dirname, 'crowd-child.ts')
const FORMATS: readonly MediaFormat[] = ['mp4', 'ts']
const SMOKE_CROWD = 5
/** Segments of each playlist that visitors request again and again. */
const SEGMENTS = 60
const SAMPLE_MS = 2000
/** Growth from the second quarter of a phase to its last that counts as flat. */
const MAX_GROWTH = 1.1
/** prom-client measures the time from tick to tick of a timer with this period: more is delay. */
const TIMER_MS = 10

export async function runScenario(bench: Bench, scenario: Scenario): Promise<string[]> {
  const { isSmoke, rows: wanted } = bench.options
  const scenes = scenario.scenes.filter(({ name }) => name.includes(wanted))
  const rows: string[][] = []
  for (const scene of isSmoke ? scenes.slice(0, 1) : scenes) {
    rows.push(...(await runScene(bench, scene, scenario.phases)))
  }
  const head = ['scene', 'requests', 'failed', 'p50 ms', 'p99 ms', 'loop p99 ms', 'MiB', 'peak']
  const crowd = ['descriptors', 'crowd', 'late', 'growth']
  return formatTable([...head, ...crowd], ...rows)
}

async function runScene(bench: Bench, scene: Scene, phases: readonly Phase[]): Promise<string[][]> {
  const metrics = `127.0.0.1:${await findFreePort()}`
  const { stage, start } = await openStage(bench, scene, metrics)
  if (scene.crowd) stage.crowd = await startCrowd(bench, await scene.crowd(stage))
  const rows: string[][] = []
  for (const phase of phases) {
    await readDelay(metrics)
    const loops = stage.nodes.map(({ url }) => startVisitors(url, stage.segments))
    const actions: Actions = {
      hold: async (ms) =>
        bench.options.isSmoke
          ? Promise.all(loops.flat().map(async (loop) => loop.round()))
          : sleep(ms),
      async replace(at) {
        await Promise.all((loops[at] ?? []).map(async (loop) => loop.end()))
        await stage.nodes[at]?.stop()
        stage.nodes[at] = await start(at)
      },
    }
    const stopSampling = startSampling(stage)
    await phase.run(stage, actions)
    const growths = stopSampling()
    const responses = (await Promise.all(loops.flat().map(async (loop) => loop.end()))).flat()
    const name = `${scene.name}: ${phase.name}`
    findFaults(bench, { name, responses, growths: phase.isFlat === true ? growths : [] })
    const delay = await readDelay(metrics)
    rows.push([name, ...formatPhase(stage, responses, delay), format(Math.max(...growths), 2)])
    console.error(rows.at(-1)?.join(' '))
  }
  const { failed = 0, wrong = 0, failure } = stage.crowd?.report() ?? {}
  if (failed > 0 || wrong > 0)
    bench.faults.push(`${scene.name}: ${failed} failed (${failure}), ${wrong} wrong`)
  await stage.crowd?.leave()
  const codes = await Promise.all(stage.nodes.map(async (node) => node.stop()))
  if (codes.some((code) => code !== 0)) bench.faults.push(`exit codes ${codes.join(', ')}`)
  return rows
}

async function openStage(bench: Bench, scene: Scene, metrics: string) {
  const place = path.join(bench.scratch, scene.name.replaceAll(/\W+/g, '-'))
  const recordings = path.join(place, 'library')
  const day = path.join(recordings, DAY.streamer, DAY.date)
  mkdirSync(day, { recursive: true })
  for (const { format, path: file } of ensureMedia(bench.options).outputs)
    if (FORMATS.includes(format)) linkSync(file, path.join(day, path.basename(file)))
  const sessions = FORMATS.length + (scene.prepare?.(recordings, bench.options) ?? 0)
  const postgres = scene.cluster === undefined ? undefined : await startPostgres()
  if (postgres) bench.defer(async () => postgres.remove())
  const database = await postgres?.createDatabase()
  const start = async (at: number, checkout?: string): Promise<StartedServer> => {
    const own = at === 0 ? { AFTERCAST_METRICS: metrics } : {}
    const server = await bench.startNode({
      recordings,
      processor: 'any',
      data: path.join(place, `node-${at}`),
      environment: {
        ...scene.environment,
        ...own,
        ...(scene.cluster === 'older' && { AFTERCAST_ARTIFACTS: path.join(place, 'artifacts') }),
      },
      ...(database !== undefined && { database }),
      ...(checkout !== undefined && { checkout }),
    })
    await waitUntilListed(server.url, sessions)
    return server
  }
  const checkout = scene.cluster === 'older' ? bench.options.older : undefined
  const nodes = [await start(0, checkout)]
  if (postgres) nodes.push(await start(1, checkout))
  const segments: string[] = []
  for (const format of FORMATS)
    segments.push(...(await listSegments(`${nodes[0]?.url}${playlistApiPath(sessionOf(format))}`)))
  const data = path.join(place, 'node-0')
  const stage: Stage = {
    bench,
    recordings,
    data,
    sessions,
    nodes,
    segments,
    postgres,
    crowd: undefined,
    descriptors: countDescriptors(nodes),
  }
  return { stage, start }
}

/** Each node has a visitor of lists and one of segments. */
function startVisitors(url: string, segments: readonly string[]): RequestLoop[] {
  const lists = [streamersApiPath, sessionsApiPath(DAY.streamer)]
  return [lists, segments.slice(0, SEGMENTS)].map((paths) =>
    startRequestLoop(paths.map((target) => url + target)),
  )
}

/** Resolves when all clients have begun, or one has failed. */
async function startCrowd(bench: Bench, plan: CrowdPlan): Promise<Crowd> {
  const count = bench.options.isSmoke ? SMOKE_CROWD : plan.count
  const child = fork(CHILD)
  let latest: CrowdReport = { begun: 0, ended: 0, failed: 0, wrong: 0, late: 0 }
  child.on('message', (report: CrowdReport) => (latest = report))
  const ended = once(child, 'exit')
  const leave = async (): Promise<void> => {
    if (child.connected) child.disconnect()
    await ended
  }
  bench.defer(leave)
  child.send({ ...plan, count })
  while (latest.begun < count && latest.failed === 0) await once(child, 'message')
  return { report: () => latest, leave }
}

/** Ends with the growth of memory and descriptors, NaN where there were few samples. */
function startSampling({ nodes, bench }: Stage): () => number[] {
  const samples: { mebibytes: number; descriptors: number }[] = []
  const timer = setInterval(() => {
    // A node that is being replaced is gone for a moment.
    if (bench.options.isSmoke || nodes.some(({ pid }) => !existsSync(`/proc/${pid}`))) return
    const mebibytes = sum(nodes.map(({ pid }) => readMebibytes(pid)))
    samples.push({ mebibytes, descriptors: countDescriptors(nodes) })
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    const quarter = Math.floor(samples.length / 4)
    return (['mebibytes', 'descriptors'] as const).map((name) => {
      const values = samples.map((sample) => sample[name])
      return median(values.slice(3 * quarter)) / median(values.slice(quarter, 2 * quarter))
    })
  }
}

export function countDescriptors(nodes: readonly StartedServer[]): number {
  return sum(nodes.map(({ pid }) => readdirSync(`/proc/${pid}/fd`).length))
}

/** Milliseconds that the event loop of the node was late since the last call. */
async function readDelay(metrics: string): Promise<number> {
  const response = await fetch(`http://${metrics}/metrics`).catch(() => undefined)
  const text = (await response?.text()) ?? ''
  const seconds = /^nodejs_eventloop_lag_p99_seconds (?<value>\S+)/m.exec(text)?.groups?.value
  return Math.max(0, Number(seconds) * 1000 - TIMER_MS)
}

interface Outcome {
  name: string
  responses: readonly LoopResponse[]
  growths: readonly number[]
}

function findFaults({ faults, options }: Bench, { name, responses, growths }: Outcome): void {
  // In a smoke run, a busy machine makes servers refuse requests.
  const isGood = (status: number): boolean => status === 200 || (options.isSmoke && status === 503)
  for (const { url, status } of responses)
    if (!isGood(status)) faults.push(`${name}: ${url} ${status}`)
  if (options.isSmoke) return
  for (const growth of growths)
    if (growth > MAX_GROWTH) faults.push(`${name}: grew by a factor of ${growth.toFixed(2)}`)
}

function formatPhase(
  { nodes, crowd }: Stage,
  responses: readonly LoopResponse[],
  delayMs: number,
): string[] {
  const times = responses.map(({ milliseconds }) => milliseconds)
  const { ended, late } = crowd?.report() ?? { ended: NaN, late: NaN }
  return [
    String(responses.length),
    String(responses.filter(({ status }) => status !== 200).length),
    ...[median(times), percentile(times, 0.99), delayMs].map((value) => format(value, 1)),
    format(sum(nodes.map(({ pid }) => readMebibytes(pid))), 0),
    format(Math.max(...nodes.map(({ pid }) => readPeakMebibytes(pid))), 0),
    String(countDescriptors(nodes)),
    ...[ended, late].map((value) => format(value, 0)),
  ]
}

function format(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
