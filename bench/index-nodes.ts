// `npm run bench -- index-nodes`: how long one node and three take to index small recordings of an
// object store at the other end of a link.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBucket } from '../test/support/servers/bucket.ts'
import { awsEnvironment, startObjectStore } from '../test/support/servers/object-store.ts'
import { queryOnce, startPostgres } from '../test/support/servers/postgres.ts'
import { writeRecordings } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
import { readProcessSeconds } from './machine.ts'
import { startLink } from './page/link.ts'
import { formatTable } from './table.ts'

const RECORDINGS = { full: 10_000, smoke: 20 } as const
const NODES = [1, 3] as const
/** To another continent: with less, two processors are the limit of all nodes and the store. */
const LINK = { megabitsPerSecond: 1000, roundTripMs: 80 }
const POLL_MS = 200

export async function benchIndexNodes(bench: Bench): Promise<string[]> {
  const count = RECORDINGS[bench.options.isSmoke ? 'smoke' : 'full']
  const library = path.join(bench.scratch, 'library')
  mkdirSync(library)
  writeRecordings(library, count)
  const [store, postgres] = await Promise.all([startObjectStore(), startPostgres()])
  bench.defer(async () => Promise.all([store.stop(), postgres.remove()]))
  const bucket = await createBucket(store)
  await bucket.putTree(library, 'library/')
  const far = { ...store, endpoint: await startLink(store.endpoint, LINK) }
  const rows: string[][] = []
  let secondsOfOne = NaN
  for (const nodes of NODES.slice(0, bench.options.isSmoke ? 1 : undefined)) {
    const database = await postgres.createDatabase()
    const environment = {
      ...awsEnvironment(far),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts-${nodes}`,
    }
    const plan = { recordings: `s3://${bucket.name}/library`, database, environment } as const
    const startMs = performance.now()
    const started = await Promise.all(
      Array.from({ length: nodes }, async () =>
        bench.startNode({ ...plan, command: 'work', processor: 'any' }),
      ),
    )
    await waitUntilIndexed(database, count)
    const seconds = (performance.now() - startMs) / 1000
    if (nodes === 1) secondsOfOne = seconds
    const cpuSeconds = started.reduce((sum, { pid }) => sum + readProcessSeconds(pid), 0)
    for (const node of started) await node.stop()
    const figures = [seconds, count / seconds, cpuSeconds].map((figure) => figure.toFixed(1))
    rows.push([String(nodes), ...figures, `${(secondsOfOne / seconds).toFixed(2)}x`])
    console.error(rows.at(-1)?.join(' '))
  }
  return formatTable(['nodes', 's', 'recordings per s', 'CPU s', 'speed of one'], ...rows)
}

async function waitUntilIndexed(database: string, count: number): Promise<void> {
  const statement = `SELECT 1 FROM aftercast.recordings
    WHERE duration_seconds IS NOT NULL OFFSET ${count - 1} LIMIT 1`
  while ((await queryOnce(database, statement)).length === 0) await sleep(POLL_MS)
}
