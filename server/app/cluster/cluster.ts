// A node's part of a cluster: the shared database, the replica in the data folder, and the secret.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openOutgoingCounts } from '../../site/analytics/outgoing-counts.ts'
import { joinPath } from '../../storage/recordings/library-path.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import { createLoggedNames } from '../../library/catalog/store/hide-log.ts'
import { openOutbox } from '../../library/catalog/store/outbox.ts'
import type { Outbox } from '../../library/catalog/store/outbox.ts'
import { openHiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { HiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import { Replica } from '../../library/catalog/store/replica.ts'
import type { Config } from '../../base/config/load-config.ts'
import { readOrCreateSecret, adoptSecret } from '../../stream/delivery/secret.ts'
import { AppError } from '../../base/errors.ts'
import { JobQueues } from '../../cluster/jobs/job-queues.ts'
import { describeProblem } from '../../cluster/postgres/connection-problem.ts'
import { agreeOnSecret, readLibrary } from '../../cluster/postgres/library-row.ts'
import { HIDE_LIMITS, openSharedDatabase } from '../../cluster/postgres/shared-database.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'
import { listSharedHidden } from '../../cluster/postgres/shared-hidden.ts'
import { exchangeAssets } from '../../cluster/replication/exchange-assets.ts'
import type { ExchangeOptions } from '../../cluster/replication/exchange-assets.ts'
import { mergeActivity, mergeOnce } from '../../cluster/replication/merge-activity.ts'
import type { MergeOptions } from '../../cluster/replication/merge-activity.ts'
import type { NodeProblem } from '../../cluster/replication/node-options.ts'
import type { Contribution } from '../../cluster/replication/publish.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import { CATALOG_FILE, logCopy } from '../library.ts'
import { connectSharedDatabase, isOutage, migrateWithWarning } from './connect-database.ts'

/** Of the process that scans or follows; workers read what it writes to the data folder. */
export interface Cluster {
  database: SharedDatabase
  /** A connection for hidden names alone. */
  hideDatabase: SharedDatabase
  /** On connections of role `follow`. */
  replica: Replica
  hidden: HiddenReplica
  outbox: Outbox
  queues: JobQueues
  /** Prepares a database that was not reachable at the start. */
  prepare(): Promise<void>
  /** Creates the job queues again if the database was replaced. */
  recover(): Promise<void>
  /** The names that are hidden on this node, with log and secret, for a database without them. */
  contribution(): Promise<Omit<Contribution, 'layout'>>
  /** Merges the counters of this node, and prunes those of all, until the signal aborts. */
  mergeActivity(options: Pick<MergeOptions, 'isPruning' | 'signal'>): Promise<void>
  /** Exchanges the scripts of the page with other nodes until the signal aborts. */
  exchangeAssets(
    this: void,
    options: Pick<ExchangeOptions, 'readRelease' | 'folder' | 'signal'>,
  ): Promise<void>
  /** Merges what is left, within a few seconds; the rest is merged after the next start. */
  close(): Promise<void>
}

export interface ClusterOptions {
  config: Config
  /** Of the database. */
  url: string
  logger: Logger
  signal: AbortSignal
  /**
   * Whether a node with a replica starts while the database is not reachable.
   */
  mayStartWithout: boolean
}

const LAST_MERGE_MS = 3000
const CLOSE_MS = 1000

/** @throws AppError `usage` if the database cannot be used, `failed` if the data folder cannot */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { config, url, logger } = options
  const path = join(config.data, CATALOG_FILE)
  const local = openDatabase({ path, mode: 'write', replica: 'follow', ...logCopy(config, logger) })
  try {
    const replica = new Replica(local)
    const hidden = openHiddenReplica(local)
    const onError = (error: Error): void =>
      logger.debug(reasonOf(error), 'the job queues could not be maintained')
    const queues = new JobQueues({ url, onError })
    const prepare = async (shared: SharedDatabase): Promise<void> => {
      await migrateWithWarning(shared, (line) => logger.warn(line))
      await queues.prepare()
    }
    const parts = { replica, hidden, prepare }
    const database = await connect(parts, options).catch(async (error) => {
      await queues.close()
      throw error
    })
    const hideDatabase = openSharedDatabase(url, () => undefined, HIDE_LIMITS)
    const counts = countsOf(database, options)
    return {
      database,
      hideDatabase,
      replica,
      hidden,
      outbox: openOutbox(local),
      queues,
      prepare: async () => prepare(database),
      recover: async () => queues.prepare(),
      contribution: async () => ({
        hidden: hidden.list(),
        log: createLoggedNames(local, Date.now).log(),
        secret: config.hls.secret === undefined ? await ownSecret(config, logger) : undefined,
      }),
      mergeActivity: async (merging) =>
        mergeActivity({
          ...merging,
          ...counts,
          onFailure: (error) =>
            logger.warn(reasonOf(error), 'views and plays could not be merged; retrying'),
        }),
      exchangeAssets: async (assets) =>
        exchangeAssets({
          ...assets,
          database,
          onFailure: (error) =>
            logger.warn(reasonOf(error), 'scripts of the page could not be shared; retrying'),
        }),
      async close() {
        await closeShared({ database, hideDatabase, queues }, counts)
        local.close()
      },
    }
  } catch (error) {
    local.close()
    throw error
  }
}

/** The counters of this node that are not in the shared database yet. */
function countsOf(
  database: SharedDatabase,
  { config, logger }: ClusterOptions,
): Parameters<typeof mergeOnce>[0] {
  const onDropped = (rows: number): void =>
    logger.warn({ rows }, 'counters that the database cannot store were dropped')
  return { database, open: () => openCounts(config), onDropped }
}

async function closeShared(
  { database, hideDatabase, queues }: Pick<Cluster, 'database' | 'hideDatabase' | 'queues'>,
  counts: Parameters<typeof mergeOnce>[0],
): Promise<void> {
  const merging = mergeOnce(counts).catch(() => undefined)
  await Promise.race([merging, sleep(LAST_MERGE_MS, undefined, { ref: false })])
  const closing = Promise.all([queues.close(), database.destroy(), hideDatabase.destroy()])
  await Promise.race([closing, sleep(CLOSE_MS, undefined, { ref: false })])
}

interface ClusterParts extends Pick<Cluster, 'replica' | 'hidden'> {
  prepare(this: void, database: SharedDatabase): Promise<void>
}

async function connect(
  parts: ClusterParts,
  { config, url, logger, signal, mayStartWithout }: ClusterOptions,
): Promise<SharedDatabase> {
  const hasReplica = (parts.replica.state()?.generation ?? 0) > 0
  try {
    const database = await connectSharedDatabase(url, parts.prepare, signal)
    try {
      await refuseUnknownHiddenNames(database, parts, config)
      if (config.hls.secret === undefined) {
        const agreed = await agreeOnSecret(database, await ownSecret(config, logger))
        await adoptSecret(config.data, agreed)
      }
    } catch (error) {
      await database.destroy()
      throw error
    }
    return database
  } catch (error) {
    if (!mayStartWithout || !hasReplica || !isOutage(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    logger.warn({ reason }, 'the database is not reachable; serving what was replicated before')
    return openSharedDatabase(url, () => undefined)
  }
}

async function ownSecret({ data }: Config, logger: Logger): Promise<string> {
  return readOrCreateSecret(data, (line) => logger.warn(line))
}

/**
 * The snapshot that follows would show names again that were hidden before this node was part of
 * the cluster.
 */
async function refuseUnknownHiddenNames(
  database: SharedDatabase,
  { replica, hidden }: ClusterParts,
  { data }: Config,
): Promise<void> {
  const { identity, layout } = await readLibrary(database)
  // A new database gets the hidden names of the first node that scans.
  if (replica.state()?.identity === identity || layout === null) return
  const known = new Set((await listSharedHidden(database)).map((name) => JSON.stringify(name)))
  const unknown = hidden.list().map((name) => JSON.stringify(name))
  if (unknown.every((name) => known.has(name))) return
  throw new AppError(
    'usage',
    `database: ${data} has hidden names that it lacks; run \`aftercast migrate --to\` first`,
  )
}

function openCounts({ data }: Config): ReturnType<typeof openOutgoingCounts> {
  return openOutgoingCounts(join(data, ACTIVITY_FILE))
}

/** Logs what a node reports about itself. */
export function logNodeProblem(logger: Logger, problem: NodeProblem): void {
  switch (problem.kind) {
    case 'down':
      return logger.warn(reasonOf(problem.error), 'the database failed; serving from the replica')
    case 'hides-late':
      return logger.warn(reasonOf(problem.error), 'hidden names could not be read; retrying')
    case 'up':
      return logger.info('the database works again')
    case 'scan-begins':
      return logger.info('this node scans the library')
    case 'scan-lost':
      return logger.warn('another node scans the library now')
    case 'scan-idle':
      return logger.info('the library is empty; the first node that finds a recording scans it')
    case 'invalid':
      return logger.warn({ rows: problem.rows }, 'invalid rows of the database were skipped')
    case 'unstorable': {
      const { folder, name } = problem.path
      const path = joinPath(folder, name)
      const { text } = describeProblem(problem.error)
      return logger.warn({ path, reason: text }, 'other nodes do not list a recording')
    }
  }
}

/** Fields of a log line: an error that is not one of the connection has its stack. */
function reasonOf(error: unknown): object {
  const hasCode = error instanceof Error && 'code' in error
  const { text } = describeProblem(error)
  return hasCode ? { reason: text } : { err: error }
}
