// `npm run bench -- cluster-library`: a million sessions on nodes of a cluster: the time to start,
// lists beside a server with SQLite alone, and how soon a change is listed by all nodes.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { queryOnce, startPostgres } from '../../test/support/servers/postgres.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { ensureCatalog } from '../library/make-catalog.ts'
import { ensureTree } from '../library/make-tree.ts'
import type { TreeSize } from '../library/make-tree.ts'
import { describeMachine, hasProgram, readPeakMebibytes, readProcessSeconds } from '../machine.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import { formatTable } from '../table.ts'
import { measureClusterChanges } from './changes.ts'
import { measureClusterLists } from './lists.ts'
import { startNode } from './node.ts'

const FULL: TreeSize = { streamers: 10_000, dates: 2, files: 50 }
const SMOKE: TreeSize = { streamers: 20, dates: 2, files: 5 }
const POLL_MS = 500
/** Nodes that start without a catalog. */
const FOLLOWING = ['first', 'second']

interface Setting {
  scratch: string
  recordings: string
  database: string
  stops: (() => Promise<unknown>)[]
}

/** Prints the tables. */
export async function benchClusterLibrary(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const size = options.isSmoke ? SMOKE : FULL
  const recordings = path.join(options.cache, `catalog-${size.streamers}`)
  const data = `${recordings}-data`
  ensureTree(recordings, size)
  await ensureCatalog(recordings, data)
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-library-'))
  const stops: (() => Promise<unknown>)[] = []
  try {
    const postgres = await startPostgres()
    stops.push(() => postgres.remove())
    const setting = { scratch, recordings, database: await postgres.createDatabase(), stops }
    for (const name of ['sqlite', 'scanning']) {
      cpSync(data, path.join(scratch, name), { recursive: true })
    }
    const scanning = await startPinned(setting, 'scanning', {})
    await waitUntilPublished(setting.database, size)
    const starts: string[][] = []
    const names = options.isSmoke ? FOLLOWING.slice(0, 1) : FOLLOWING
    const following: StartedServer[] = []
    for (const name of names) following.push(await measureStart(setting, name, starts))
    const sqlite = await startPinned({ ...setting, database: undefined }, 'sqlite', {})
    const servers = { sqlite, scanning, following: following[0] ?? scanning }
    const lists = await measureClusterLists({ servers, size, options, scratch })
    await sqlite.stop()
    const nodes = {
      scanning,
      ...Object.fromEntries(names.map((name, at) => [name, following[at] ?? scanning])),
    }
    const changes = await measureClusterChanges({ nodes, recordings, size, options, stops })
    const head = ['start of a node', 's', 'CPU s', 'peak MiB']
    const tables = [formatTable([head, ...starts]), lists, changes]
    const machine = describeMachine(['wrk'].filter(hasProgram))
    for (const line of [...machine, ...tables.flatMap((table) => ['', ...table])]) console.log(line)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function startPinned(
  {
    scratch,
    recordings,
    database,
    stops,
  }: Omit<Setting, 'database'> & { database?: string | undefined },
  name: string,
  environment: NodeJS.ProcessEnv,
): Promise<StartedServer> {
  const place = { name, scratch, recordings, environment, wrapper: createPin()(0) }
  const server = await startNode({ ...place, ...(database !== undefined && { database }) })
  stops.push(() => server.stop())
  return server
}

/** A node without a catalog, which takes a snapshot, and the same node again. */
async function measureStart(
  setting: Setting,
  name: string,
  rows: string[][],
): Promise<StartedServer> {
  for (const state of ['with an empty data folder', 'again']) {
    const startedMs = performance.now()
    const server = await startPinned(setting, name, { AFTERCAST_CLUSTER_JOBS: 'false' })
    const seconds = (performance.now() - startedMs) / 1000
    const cpuSeconds = readProcessSeconds(server.pid)
    const peak = readPeakMebibytes(server.pid)
    rows.push([`${name}, ${state}`, seconds.toFixed(1), cpuSeconds.toFixed(1), peak.toFixed(0)])
    console.error(rows.at(-1)?.join(' '))
    if (state === 'again') return server
    await server.stop()
  }
  throw new Error('unreachable')
}

async function waitUntilPublished(
  database: string,
  { streamers, dates, files }: TreeSize,
): Promise<void> {
  const startedMs = performance.now()
  const statement = `SELECT count(*)::int AS count FROM aftercast.recordings`
  const expected = JSON.stringify([{ count: streamers * dates * files }])
  while (JSON.stringify(await queryOnce(database, statement)) !== expected) await sleep(POLL_MS)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`published ${seconds} s after the scanning node was ready`)
}
