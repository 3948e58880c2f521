// `aftercast serve`: one process scans the library and serves visitors, or lets workers serve on
// all cores. `aftercast work`: a node of a cluster that only scans.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import { createHiddenNames } from '../catalog/store/hidden.ts'
import type { Config } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { purgeChanges } from '../purge/purge-changes.ts'
import type { Cluster } from './cluster.ts'
import type { Io } from './io.ts'
import { openSharedArtifacts } from './artifacts.ts'
import { openLibrary } from './library.ts'
import { createLog } from '../log/logger.ts'
import type { MetricsListener } from './metrics.ts'
import { chooseRecordings } from './recordings.ts'
import { createProgressDisplay } from './scan-progress.ts'
import { createScanQueueTracker } from './scan-queue.ts'
import type { ScanQueue } from './scan-queue.ts'
import { createLibraryScanner } from './scanning.ts'
import type { Serving } from './serving.ts'
import type { NodeFigures, Scan as NodeScan } from '../replication/node.ts'
import type { WebServer } from './web-server.ts'
import { listenAsWorker, startWorkers } from './workers.ts'
import type { Workers } from './workers.ts'

/**
 * A small library is indexed before the site is ready, so that the first page shows every duration.
 */
const FIRST_INDEX_MS = 1000

/** Starts what serves visitors; undefined on a node that serves nobody. */
type Start = (
  serving: Serving,
  isReady: () => boolean,
) => Promise<(WebServer & Partial<Workers>) | undefined>

/** Serves until the signal aborts, and resolves when everything has stopped. */
export async function serve(config: Config, io: Io): Promise<void> {
  return runNode(config, io, startServer)
}

/**
 * As `serve`, but without visitors: this node scans, and other nodes serve.
 *
 * @throws AppError `usage` if the configuration leaves nothing to do
 */
export async function work(config: Config, io: Io): Promise<void> {
  if (config.database === undefined) {
    throw new AppError('usage', 'database: `aftercast work` needs the database of a cluster')
  }
  if (!config.cluster.jobs) {
    throw new AppError('usage', 'cluster.jobs: `aftercast work` has nothing to do without jobs')
  }
  return runNode(config, io, async () => undefined)
}

async function runNode(config: Config, io: Io, start: Start): Promise<void> {
  const { logger, figures } = createLog(config, io.log)
  const isWorker = cluster.isWorker
  const location = await chooseRecordings(config, io)
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const joined = isWorker ? undefined : await joinCluster(config, logger, io)
  const mode = isWorker ? 'read' : 'write'
  const { signal } = io
  const opening = openLibrary({ config, location, artifacts, mode, logger, signal })
  const library = await opening.catch(async (error: unknown) => {
    await joined?.close()
    throw error
  })
  const serving = { config, io, logger, library }
  try {
    if (config.server.metrics !== undefined) {
      const { measureArtifacts, measureLog } = await import('./metrics.ts')
      const process = isWorker || config.server.workers === 1 ? 'serving' : 'primary'
      measureLog(process, figures)
      if (artifacts !== undefined) measureArtifacts(process, () => artifacts.figures)
    }
    if (isWorker) await listenAsWorker(serving)
    else await scanAndServe(serving, joined, start)
  } finally {
    await library.close()
    await joined?.close()
  }
}

async function joinCluster(
  config: Config,
  logger: Logger,
  { signal }: Io,
): Promise<Cluster | undefined> {
  if (config.database === undefined) return undefined
  const { openCluster } = await import('./cluster.ts')
  return openCluster({ config, logger, signal, mayStartWithout: true })
}

/** The scan has stopped when this settles, for whatever reason: then the catalog may be closed. */
async function scanAndServe(
  serving: Serving,
  joined: Cluster | undefined,
  start: Start,
): Promise<void> {
  const { io } = serving
  const stopping = new AbortController()
  const signal = AbortSignal.any([io.signal, stopping.signal])
  const stoppable = { ...serving, io: { ...io, signal } }
  const scan =
    joined === undefined
      ? startScanning(stoppable)
      : await startScanningInCluster(stoppable, joined)
  const purging = startPurging(serving, signal)
  const merging = joined?.mergeActivity(signal)
  try {
    await serveBesideScan(serving, scan, start)
  } finally {
    stopping.abort()
    await Promise.all([scan.ended, purging, merging])
  }
}

async function startPurging(
  { config, logger, library: { catalog, database } }: Serving,
  signal: AbortSignal,
): Promise<void> {
  return purgeChanges({
    urls: config.purge.urls,
    settleMs: config.library.settleSeconds * 1000,
    catalog,
    hidden: createHiddenNames(database),
    log: logger,
    signal,
  })
}

async function serveBesideScan(serving: Serving, scan: Scan, start: Start): Promise<void> {
  const { io } = serving
  const state = { isWalked: false }
  const metrics = await startMetrics(serving, scan)
  const server = await start(serving, () => state.isWalked)
  try {
    await Promise.race([scan.firstWalk, scan.ended])
    state.isWalked = true
    server?.announceFirstWalk?.()
    await Promise.race([scan.isIndexed, pause(FIRST_INDEX_MS), scan.ended])
    // The progress bar clears its line.
    await io.log.flush()
    const place = server === undefined ? 'to scan' : `at ${server.url}`
    if (!io.signal.aborted) io.announce(`Aftercast is ready ${place}`)
    await scan.ended
  } finally {
    metrics?.close()
    await server?.close()
  }
}

async function startMetrics(
  { config }: Serving,
  { queue, figures }: Scan,
): Promise<MetricsListener | undefined> {
  const { metrics } = config.server
  if (metrics === undefined) return undefined
  const { listenForMetrics, measureNode, measureScan } = await import('./metrics.ts')
  measureScan(queue)
  if (figures !== undefined) measureNode(figures)
  return listenForMetrics(metrics)
}

/** One server, or workers that need messages about the scan's progress. */
async function startServer(
  serving: Serving,
  isReady: () => boolean,
): Promise<WebServer & Partial<Workers>> {
  if (serving.config.server.workers > 1) return startWorkers(serving)
  // Not loaded where workers serve.
  const { startWebServer } = await import('./web-server.ts')
  return startWebServer({ ...serving, isReady })
}

interface Scan {
  /** Every recording is listed. */
  firstWalk: Promise<void>
  /** Every recording found by the first walk is indexed. */
  isIndexed: Promise<void>
  /** Recordings that wait for their index. */
  queue: () => ScanQueue
  /** State of a node of a cluster. */
  figures?: () => NodeFigures
  /** Resolves after the signal has aborted. */
  ended: Promise<void>
}

function startScanning({ config, io, logger, library }: Serving): Scan {
  const display = createProgressDisplay(io, Date.now)
  const indexed = Promise.withResolvers<void>()
  const queue = createScanQueueTracker(() => performance.now())
  const scanner = createLibraryScanner({
    config,
    library,
    logger,
    onProgress: (progress) => {
      display.show(progress)
      queue.update(progress)
      if (progress.done < progress.total) return
      display.stop()
      indexed.resolve()
    },
  })
  const ended = scanner.run(io.signal).finally(() => display.stop())
  // It may fail before the server has started; awaiting it later still throws.
  ended.catch(() => undefined)
  return {
    firstWalk: scanner.firstWalk,
    isIndexed: indexed.promise,
    queue: queue.read,
    ended,
  }
}

/** Scans while this node is the one that scans; otherwise follows another one. */
async function startScanningInCluster(serving: Serving, joined: Cluster): Promise<Scan> {
  const { createNode } = await import('./cluster-scan.ts')
  const failed = Promise.withResolvers<never>()
  let current: Scan | undefined
  const scan = (signal: AbortSignal): NodeScan => {
    current = startScanning({ ...serving, io: { ...serving.io, signal } })
    const { firstWalk, ended } = current
    return { firstWalk, ended: ended.catch(failed.reject) }
  }
  const node = createNode(serving, {
    cluster: joined,
    scan: serving.config.cluster.jobs ? scan : undefined,
  })
  const ended = Promise.race([node.run(serving.io.signal), failed.promise])
  ended.catch(() => undefined)
  return {
    firstWalk: node.firstWalk,
    isIndexed: node.current.then(async () => current?.isIndexed),
    queue: () => current?.queue() ?? { recordings: 0, ageMs: 0 },
    figures: () => node.figures(),
    ended,
  }
}

async function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
