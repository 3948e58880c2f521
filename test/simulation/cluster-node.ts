// A node of the simulated cluster: the code of the product on simulated files, network and clock.
// The only file that names the parts of the product.
import Sqlite from 'better-sqlite3'
import { openActivityStore } from '../../server/site/analytics/activity-store.ts'
import type { ActivityStore, DailyCount } from '../../server/site/analytics/activity-store.ts'
import { openOutgoingCounts } from '../../server/site/analytics/outgoing-counts.ts'
import type { Catalog } from '../../server/library/catalog/catalog.ts'
import { createLayout } from '../../server/library/catalog/names/layout.ts'
import { LibraryProbe } from '../../server/library/catalog/scan/library-probe.ts'
import { Scanner } from '../../server/library/catalog/scan/scan.ts'
import { CatalogWriter } from '../../server/library/catalog/store/catalog-writer.ts'
import { openDatabase } from '../../server/library/catalog/store/database.ts'
import type { Database } from '../../server/library/catalog/store/database.ts'
import { createHiddenNames } from '../../server/library/catalog/store/hidden.ts'
import type { HiddenName } from '../../server/library/catalog/store/hidden.ts'
import { openOutbox } from '../../server/library/catalog/store/outbox.ts'
import { openHiddenReplica } from '../../server/library/catalog/store/replica-hidden.ts'
import { Replica } from '../../server/library/catalog/store/replica.ts'
import { createCatalog } from '../../server/library/catalog/store/sqlite-catalog.ts'
import type { Inspect } from '../../server/library/catalog/scan/inspector.ts'
import { migrateSharedDatabase } from '../../server/cluster/postgres/migrations.ts'
import { HIDE_LIMITS, openSharedDatabase } from '../../server/cluster/postgres/shared-database.ts'
import { mergeActivity } from '../../server/cluster/replication/merge-activity.ts'
import { ClusterNode } from '../../server/cluster/replication/node.ts'
import type { Scan } from '../../server/cluster/replication/node-options.ts'
import { ROOT } from './memory-files.ts'
import { copyInMemory, existsInMemory } from './memory-sqlite.ts'
import type { Mount } from './recordings.ts'
import { createServing, SETTLE_SECONDS } from './serving.ts'
import type { Serving } from './serving.ts'
import type { Actor } from './actor.ts'
import type { World } from './world.ts'

export interface NodeOptions {
  world: World
  name: string
  mount: Mount
  skewMs: number
}

/** A running process of a node. */
export interface RunningNode {
  name: string
  actor: Actor
  mount: Mount
  startedMs: number
  catalog: Catalog
  cluster: ClusterNode
  hiddenNames(this: void): HiddenName[]
  view: Serving['view']
  /** Folders in the catalog with neither recordings nor folders. */
  countEmptyFolders(this: void): number
  /** Counts something, on disk at once. */
  count(count: DailyCount): void
  /** Ends the process in order. */
  stop(): Promise<void>
  /** Ends it without any of its code. */
  kill(): void
}

export const LAYOUT = '{streamer}/{date}/{sessionId}'
const RESCAN_SECONDS = 60
const INSPECTIONS_AT_ONCE = 2

/** An empty catalog, which nodes start with: creating it takes longer than copying. */
export const TEMPLATE = `${ROOT}/template.sqlite`

export function createTemplate(): void {
  openDatabase({ path: TEMPLATE, mode: 'write', replica: 'follow' }).close()
}

/** Starts a process; it continues with what an earlier one has left in the folder. */
export function startNode(options: NodeOptions): RunningNode {
  const { world, name, skewMs } = options
  const actor = world.createActor(name, skewMs)
  return world.as(actor, () => run(options, actor))
}

function run({ world, name, mount }: NodeOptions, actor: Actor): RunningNode {
  const file = `${ROOT}/${name}/catalog.sqlite`
  if (!existsInMemory(file)) copyInMemory(TEMPLATE, file)
  const following = openDatabase({ path: file, mode: 'write', replica: 'follow' })
  const database = openDatabase({ path: file, mode: 'write', replica: 'scan' })
  const activityFile = `${ROOT}/${name}/activity.sqlite`
  const activity = openActivityStore(activityFile)
  const shared = openSharedDatabase(`postgres://${name}/aftercast`, () => undefined)
  const hideDatabase = openSharedDatabase(
    `postgres://${name}/aftercast`,
    () => undefined,
    HIDE_LIMITS,
  )
  const hidden = openHiddenReplica(following)
  const writer = new CatalogWriter(database)
  const stopping = new AbortController()
  const { signal } = stopping
  const catalog = createCatalog(database)
  const hiddenOf = createHiddenNames(database)
  let created: Serving | undefined
  const serving = (): Serving => (created ??= createServing({ name, mount, catalog }, signal))
  const cluster = new ClusterNode({
    database: shared,
    hideDatabase,
    replica: new Replica(following),
    hidden,
    library: new LibraryProbe({
      hasContent: async () => mount.hasContent(),
      isExpected: () => writer.countRecordings() > 0,
      onChange: (problem) => world.note(`${name} library ${problem?.message ?? 'usable'}`),
    }),
    contribution: async () => ({ hidden: hidden.list(), log: [], secret: undefined }),
    outbox: openOutbox(following),
    layout: createLayout(LAYOUT).identity,
    scan: (until) =>
      scan({ database, mount, inspect: async (...job) => serving().inspect(...job) }, until),
    prepare: async () => void (await migrateSharedDatabase(shared)),
    onProblem: ({ kind }) => world.note(`${name} ${kind}`),
  })
  const running = Promise.all([
    cluster.run(signal),
    mergeActivity({
      database: shared,
      open: () => openOutgoingCounts(activityFile),
      onFailure: () => undefined,
      onDropped: (rows) => world.note(`${name} dropped ${rows} counters`),
      isPruning: () => cluster.figures().isScanning,
      signal,
    }),
  ])
  const close = closeOnce([following, database], activity)
  return {
    name,
    actor,
    mount,
    startedMs: world.nowMs,
    catalog,
    hiddenNames: () => hiddenOf.list(),
    view: async (session) => serving().view(session),
    cluster,
    countEmptyFolders: () => countEmptyFolders(file),
    count: (count) => activity.add([count]),
    async stop() {
      stopping.abort()
      await running
      await Promise.all([shared.destroy(), hideDatabase.destroy()])
      actor.isAlive = false
      close()
    },
    kill() {
      actor.isAlive = false
      close()
    },
  }
}

function countEmptyFolders(file: string): number {
  const sqlite = new Sqlite(file, { readonly: true })
  try {
    const count = sqlite.prepare<[], number>(
      `SELECT count(*) FROM folders WHERE parent_id IS NOT NULL
         AND id NOT IN (SELECT folder_id FROM recordings)
         AND id NOT IN (SELECT parent_id FROM folders WHERE parent_id IS NOT NULL)`,
    )
    return count.pluck().get() ?? 0
  } finally {
    sqlite.close()
  }
}

function closeOnce(databases: readonly Database[], activity: ActivityStore): () => void {
  let isClosed = false
  return () => {
    if (isClosed) return
    isClosed = true
    for (const database of databases) database.close()
    activity.close()
  }
}

function scan(
  { database, mount, inspect }: { database: Database; mount: Mount; inspect: Inspect },
  signal: AbortSignal,
): Scan {
  const scanner = new Scanner({
    storage: mount,
    layout: createLayout(LAYOUT),
    writer: new CatalogWriter(database),
    inspect,
    settleSeconds: SETTLE_SECONDS,
    rescanSeconds: RESCAN_SECONDS,
    concurrency: INSPECTIONS_AT_ONCE,
  })
  return { firstWalk: scanner.firstWalk, ended: scanner.run(signal) }
}
