// `npm run bench -- cluster-indexing`: how fast one, two and three nodes that serve nobody index
// the recordings of a folder.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeNumberedTs } from '../../test/support/make/make-numbered-ts.ts'
import { queryOnce, startPostgres } from '../../test/support/servers/postgres.ts'
import type { StartedPostgres } from '../../test/support/servers/postgres.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { RECORDED_AT } from '../../test/support/temp-library.ts'
import { writeRecordings } from '../endurance/kill-library.ts'
import { describeMachine, readProcessSeconds } from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { startNode } from './node.ts'

const NODES = [1, 2, 3]
const SMALL_RECORDINGS = 3000
const LARGE_RECORDINGS = 32
const LARGE_SECONDS = 120
const STREAMERS = 8
const POLL_MS = 50

/** Recordings that are not in the library yet. */
interface Batch {
  name: string
  /** Has the folders of streamers. */
  folder: string
  recordings: number
  bytes: number
}

interface Figure {
  seconds: number
  cpuSeconds: number
}

/** Prints the table. */
export async function benchClusterIndexing(options: BenchOptions): Promise<void> {
  mkdirSync(options.cache, { recursive: true })
  const scratch = mkdtempSync(path.join(options.cache, 'indexing-'))
  const postgres = await startPostgres()
  try {
    const batches = [makeSmall(scratch, options), await makeLarge(scratch, options)]
    const counts = options.isSmoke ? NODES.slice(0, 1) : NODES
    const rows: string[][] = []
    for (const [batch, nodes] of batches.flatMap((each) =>
      counts.map((count) => [each, count] as const),
    )) {
      const figures: Figure[] = []
      for (let round = 0; round < options.rounds; round += 1) {
        figures.push(await measureIndexing(batch, { nodes, scratch, postgres }))
      }
      rows.push(formatRow(batch, nodes, figures))
      console.error(rows.at(-1)?.join(' '))
    }
    const head = ['recordings', 'nodes', 's', 'recordings/s', 'MB/s', 'CPU s']
    for (const line of [...describeMachine([]), '', ...formatTable([head, ...rows])])
      console.log(line)
  } finally {
    await postgres.remove()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function makeSmall(scratch: string, { isSmoke }: BenchOptions): Batch {
  const folder = path.join(scratch, 'small')
  const recordings = writeRecordings(folder, isSmoke ? 20 : SMALL_RECORDINGS).length
  return { name: `${recordings} of ten seconds`, folder, recordings, bytes: sizeOf(folder) }
}

async function makeLarge(scratch: string, options: BenchOptions): Promise<Batch> {
  const mediaSeconds = options.isSmoke ? options.mediaSeconds : LARGE_SECONDS
  const { outputs } = await ensureMedia({ ...options, mediaSeconds })
  const source = outputs.find(({ format }) => format === 'ts')?.path ?? ''
  const recording = readFileSync(source)
  const folder = path.join(scratch, 'large')
  const recordings = options.isSmoke ? 2 : LARGE_RECORDINGS
  for (let number = 0; number < recordings; number += 1) {
    const file = path.join(folder, `s${number % STREAMERS}`, '2026-01-31', `${number}.ts`)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, makeNumberedTs(recording, number))
    utimesSync(file, RECORDED_AT, RECORDED_AT)
  }
  const name = `${recordings} of ${mediaSeconds} s in MPEG-TS`
  return { name, folder, recordings, bytes: sizeOf(folder) }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0)
}

interface IndexingSetting {
  nodes: number
  scratch: string
  postgres: StartedPostgres
}

/** Nodes that follow an empty library get the batch; until all of it is published as playable. */
async function measureIndexing(
  batch: Batch,
  { nodes, scratch, postgres }: IndexingSetting,
): Promise<Figure> {
  const run = mkdtempSync(path.join(scratch, 'run-'))
  const recordings = path.join(run, 'library')
  mkdirSync(recordings)
  const database = await postgres.createDatabase()
  const environment = { AFTERCAST_ARTIFACTS: path.join(run, 'artifacts') }
  const servers: StartedServer[] = []
  const streamers = readdirSync(batch.folder)
  try {
    for (let number = 0; number < nodes; number += 1) {
      const name = `node-${number}`
      const plan = { name, scratch: run, recordings, database, environment }
      servers.push(await startNode({ ...plan, command: 'work' }))
    }
    const cpuSeconds = (): number =>
      servers.reduce((sum, { pid }) => sum + readProcessSeconds(pid), 0)
    const cpuBefore = cpuSeconds()
    const startedMs = performance.now()
    for (const name of streamers) {
      renameSync(path.join(batch.folder, name), path.join(recordings, name))
    }
    while ((await countPlayable(database)) < batch.recordings) await sleep(POLL_MS)
    const seconds = (performance.now() - startedMs) / 1000
    return { seconds, cpuSeconds: cpuSeconds() - cpuBefore }
  } finally {
    for (const server of servers) await server.stop()
    for (const name of streamers) {
      renameSync(path.join(recordings, name), path.join(batch.folder, name))
    }
    rmSync(run, { recursive: true, force: true })
  }
}

async function countPlayable(database: string): Promise<number> {
  const rows = await queryOnce(
    database,
    `SELECT 1 FROM aftercast.recordings WHERE status = 'playable' AND removed_at IS NULL`,
  )
  return rows.length
}

function formatRow(batch: Batch, nodes: number, figures: readonly Figure[]): string[] {
  const seconds = median(figures.map((figure) => figure.seconds))
  return [
    batch.name,
    String(nodes),
    seconds.toFixed(2),
    (batch.recordings / seconds).toFixed(0),
    (batch.bytes / 1e6 / seconds).toFixed(0),
    median(figures.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2),
  ]
}
