// `npm run bench -- cluster-library`: a million sessions on nodes of a cluster: the time to start,
// lists beside a server with SQLite alone, and how soon a change is listed by all nodes.
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { queryOnce, startPostgres } from '../test/support/servers/postgres.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import type { Bench } from './harness.ts'
import { measureChanges, planLists } from './lists.ts'
import { hasProgram, readPeakMebibytes, readProcessSeconds } from './machine.ts'
import { formatRows, measureRows } from './measure.ts'
import { formatTable } from './table.ts'
import { ensureMillion } from './tree.ts'
import type { TreeSize } from './tree.ts'

const POLL_MS = 100
/** Nodes that start without a catalog. */
const FOLLOWING = ['following', 'second']

export async function benchClusterLibrary(bench: Bench): Promise<string[]> {
  const { recordings, data, size } = await ensureMillion(bench)
  const postgres = await startPostgres()
  bench.defer(async () => postgres.remove())
  const database = await postgres.createDatabase()
  const copyOf = (name: string): string => {
    const copy = path.join(bench.scratch, name)
    cpSync(data, copy, { recursive: true })
    return copy
  }
  const scanning = await bench.startNode({ recordings, database, data: copyOf('scanning') })
  await waitUntilPublished(database, size)
  const starts: string[][] = []
  const nodes = [{ name: 'scanning', server: scanning }]
  for (const name of bench.options.isSmoke ? FOLLOWING.slice(0, 1) : FOLLOWING) {
    nodes.push({ name, server: await measureStart(bench, { name, recordings, database }, starts) })
  }
  // In smoke runs, the benchmark of the catalog has its lists.
  const sqlite = bench.options.isSmoke
    ? undefined
    : await bench.startNode({ recordings, data: copyOf('sqlite') })
  const servers = [...(sqlite ? [{ name: 'sqlite', server: sqlite }] : []), ...nodes.slice(0, 2)]
  const rows = planLists(bench, size).flatMap(({ name: list, paths, headers }) =>
    servers.map(({ name, server: { url: origin, pid } }) => ({
      name: `${name} ${list}`,
      pid,
      origin,
      headers,
      paths: () => paths,
      beside: name === 'sqlite' ? [] : [`sqlite ${list}`],
    })),
  )
  const measured = await measureRows(rows, bench)
  await sqlite?.stop()
  unpin(nodes.map(({ server }) => server))
  const changes = await measureChanges(bench, { recordings, data, size }, nodes)
  return [
    ...formatTable(['start of a node', 's', 'CPU s', 'peak MiB'], ...starts),
    ...formatRows(measured),
    '',
    ...formatTable(...changes),
  ]
}

/** A node without a catalog, which takes a snapshot, and the same node again. */
async function measureStart(
  bench: Bench,
  { name, ...plan }: { name: string; recordings: string; database: string },
  rows: string[][],
): Promise<StartedServer> {
  const start = async (state: string): Promise<StartedServer> => {
    const startedMs = performance.now()
    const server = await bench.startNode({
      ...plan,
      data: path.join(bench.scratch, name),
      environment: { AFTERCAST_CLUSTER_JOBS: 'false' },
    })
    const seconds = (performance.now() - startedMs) / 1000
    const cpuSeconds = readProcessSeconds(server.pid)
    const peak = readPeakMebibytes(server.pid)
    rows.push([`${name}, ${state}`, seconds.toFixed(1), cpuSeconds.toFixed(1), peak.toFixed(0)])
    console.error(rows.at(-1)?.join(' '))
    return server
  }
  const first = await start('with an empty data folder')
  if (bench.options.isSmoke) return first
  await first.stop()
  return start('again')
}

async function waitUntilPublished(
  database: string,
  { streamers, dates, files }: TreeSize,
): Promise<void> {
  const startedMs = performance.now()
  const count = streamers * dates * files
  const statement = `SELECT 1 FROM aftercast.recordings OFFSET ${count - 1} LIMIT 1`
  while ((await queryOnce(database, statement)).length === 0) await sleep(POLL_MS)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.error(`published ${seconds} s after the scanning node was ready`)
}

/** Nodes of a cluster have machines of their own. */
function unpin(servers: readonly StartedServer[]): void {
  if (!hasProgram('taskset')) return
  for (const { pid } of servers) spawnSync('taskset', ['-a', '-c', '-p', '0-1', String(pid)])
}
