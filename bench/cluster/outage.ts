// `npm run bench -- cluster-outage`: what visitors notice while PostgreSQL is stopped, hangs, or is
// restarted every five seconds.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../test/support/servers/postgres.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { startRequestLoop } from '../../test/support/servers/request-loop.ts'
import type { LoopResponse } from '../../test/support/servers/request-loop.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { writeRecording } from '../endurance/kill-library.ts'
import { describeMachine } from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import type { BenchLibrary } from '../make-media.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median, percentile } from '../table.ts'
import { startNode } from './node.ts'

const NODES = ['a', 'b']
const STREAMER = 'bench'
const RESTART_EVERY_MS = 5000
const RESTARTS = 12
const MINUTE_MS = 60_000
const WORKS_MS = 20_000
/** Statements and connections fail before. */
const HANGS_MS = 40_000
const SMOKE_MS = 500
const POLL_MS = 100
const LISTED_WITHIN_MS = 60_000

/** Something that happens to the database. */
interface Phase {
  name: string
  run: () => Promise<unknown>
}

/** Prints the table; rejects if a response failed, or a process has ended. */
export async function benchClusterOutage(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const media = await ensureMedia({ ...options, mediaSeconds: options.isSmoke ? 30 : 600 })
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-outage-'))
  const stops: (() => Promise<unknown>)[] = []
  try {
    const postgres = await startPostgres()
    stops.push(() => postgres.remove())
    const database = await postgres.createDatabase()
    const recordings = media.folder
    const nodes: StartedServer[] = []
    for (const name of NODES) {
      const server = await startNode({ name, scratch, recordings, database })
      stops.push(() => server.stop())
      nodes.push(server)
    }
    const rows: string[][] = []
    const failures: string[] = []
    for (const phase of phasesOf(postgres, options)) {
      const responses = await measurePhase(phase, nodes, media)
      failures.push(
        ...responses.flatMap(({ url, status }) => (status === 200 ? [] : [`${url} ${status}`])),
      )
      rows.push([phase.name, ...formatResponses(responses)])
      console.error(rows.at(-1)?.join(' '))
    }
    const listedMs = await measureChange(media, nodes)
    for (const line of [...describeMachine([]), '', ...formatTable([HEAD, ...rows])])
      console.log(line)
    console.log(`A change was listed on all nodes ${(listedMs / 1000).toFixed(1)} s after that.`)
    const codes = await Promise.all(nodes.map(async (node) => node.stop()))
    if (codes.some((code) => code !== 0)) failures.push(`exit codes ${codes.join(', ')}`)
    if (failures.length > 0) throw new Error(failures.slice(0, 5).join('\n'))
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function phasesOf(postgres: StartedPostgres, options: BenchOptions): Phase[] {
  const restarts = options.isSmoke ? 1 : RESTARTS
  const pause = async (milliseconds: number): Promise<void> =>
    sleep(options.isSmoke ? Math.min(milliseconds, SMOKE_MS) : milliseconds)
  return [
    { name: 'works', run: async () => pause(WORKS_MS) },
    {
      name: `stopped for ${options.outageMinutes} min`,
      run: async () => {
        await postgres.stop()
        await pause(options.outageMinutes * MINUTE_MS)
        await postgres.start()
      },
    },
    { name: 'works again', run: async () => pause(WORKS_MS) },
    {
      name: 'hangs for 40 s',
      run: async () => {
        postgres.suspend()
        await pause(HANGS_MS)
        postgres.resume()
      },
    },
    {
      name: `restarted ${restarts} times, every 5 s`,
      run: async () => {
        for (let restart = 0; restart < restarts; restart += 1) {
          const next = pause(RESTART_EVERY_MS)
          await postgres.stop()
          await postgres.start()
          await next
        }
      },
    },
  ]
}

/** Each node has a loop of lists and one of segments. */
async function measurePhase(
  { run }: Phase,
  nodes: readonly StartedServer[],
  { sessions }: BenchLibrary,
): Promise<LoopResponse[]> {
  const loops = await Promise.all(
    nodes.map(async ({ url }) => {
      const { segments } = await fetchPlaylist(`${url}/api/video/${sessions.ts}/playlist.m3u8`)
      const lists = [streamersApiPath, sessionsApiPath(STREAMER)].map((target) => url + target)
      return [startRequestLoop(lists), startRequestLoop(segments.map((segment) => segment.url))]
    }),
  )
  await run()
  return (await Promise.all(loops.flat().map(async (loop) => loop.end()))).flat()
}

const HEAD = [
  'the database',
  'lists',
  'failed',
  'p50 ms',
  'p99 ms',
  'segments',
  'failed',
  'p50 ms',
  'p99 ms',
]

function formatResponses(responses: readonly LoopResponse[]): string[] {
  const isSegment = ({ url }: LoopResponse): boolean => url.includes('/api/video/')
  return [responses.filter((each) => !isSegment(each)), responses.filter(isSegment)].flatMap(
    (kind) => {
      const times = kind.map(({ milliseconds }) => milliseconds)
      return [
        String(kind.length),
        String(kind.filter(({ status }) => status !== 200).length),
        median(times).toFixed(1),
        percentile(times, 0.99).toFixed(1),
      ]
    },
  )
}

/** Milliseconds until all nodes list a new recording. */
async function measureChange(
  { folder }: BenchLibrary,
  nodes: readonly StartedServer[],
): Promise<number> {
  const streamer = `outage-${process.pid}`
  const added = path.join(folder, streamer)
  mkdirSync(added)
  try {
    writeRecording(folder, { streamer, date: '2026-01-31', sessionId: '1' })
    const startedMs = performance.now()
    await Promise.all(nodes.map(async ({ url }) => waitUntilListed(url, streamer)))
    return performance.now() - startedMs
  } finally {
    rmSync(added, { recursive: true })
  }
}

async function waitUntilListed(url: string, streamer: string): Promise<void> {
  const deadlineMs = performance.now() + LISTED_WITHIN_MS
  while (!(await (await fetch(url + streamersApiPath)).text()).includes(streamer)) {
    if (performance.now() > deadlineMs) throw new Error('a change was not listed')
    await sleep(POLL_MS)
  }
}
