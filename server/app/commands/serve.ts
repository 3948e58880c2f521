// `aftercast serve`: one process scans the library and serves visitors, or lets workers serve on
// all cores. `aftercast work`: a node of a cluster that only scans.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../shared/paths.ts'
import type { Scanner, ScanProgress } from '../../library/catalog/scan/scan.ts'
import { createHiddenNames } from '../../library/catalog/store/hidden.ts'
import { createPacing } from '../../base/admission/egress.ts'
import { DECODER_INSTALL } from '../../decode/child/decoder-package.ts'
import { AppError } from '../../base/errors.ts'
import { purgeChanges } from '../../site/purge/purge-changes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { JobEncodes } from '../cluster/encoding-nodes.ts'
import { joinCluster } from '../cluster/join-cluster.ts'
import type { NodeJobs } from '../cluster/node-jobs.ts'
import { openSharedArtifacts } from '../artifacts.ts'
import { admissionOfPrimary } from '../admission-requests.ts'
import { encodeOffer } from '../encoded-video.ts'
import { awaitIndexOfPrimary } from '../index-requests.ts'
import { openLibrary } from '../library.ts'
import { createLog } from '../../base/log/logger.ts'
import type { MetricsListener } from '../metrics/private-listener.ts'
import { addPageAssets, exchangePageAssets } from '../page-assets.ts'
import { claimRecordings } from '../recordings.ts'
import { createUnmatchedNote, describeEmptyLibrary, logUnmatched } from '../library-notes.ts'
import { NetworkBytes } from '../network-bytes.ts'
import { recordLiveSession } from '../../demo/live-session.ts'
import { createProgressDisplay, createScanQueueTracker, followFirstScan } from '../scan-progress.ts'
import type { ScanQueue } from '../scan-progress.ts'
import { createLibraryScanner } from '../scanning.ts'
import type { Serving } from '../library.ts'
import type { UnmatchedNote } from '../library-notes.ts'
import type { NodeFigures, Scan as NodeScan } from '../../cluster/replication/node-options.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'
import type { WebServer, WebServerOptions } from '../web-server.ts'
import { listenAsWorker, startWorkers } from '../workers.ts'
import type { Workers } from '../workers.ts'

/**
 * A small library is indexed before the site is ready, so that the first page shows every duration.
 */
const FIRST_INDEX_MS = 1000
const WITHOUT_DECODERS =
  'the package node-av is not installed: no thumbnails, no storyboards, and silence in place of ' +
  `audio that must be transcoded; to add them, run \`${DECODER_INSTALL}\``

/** Starts what serves visitors. */
type Start = (
  serving: Serving,
  state: Pick<WebServerOptions, 'isReady' | 'onRequested'>,
) => Promise<WebServer & Partial<Workers>>

/** A process that scans, or follows the node that does. */
interface Node extends Serving {
  location: StorageLocation
  version: string
  joined: Cluster | undefined
  networks: NetworkBytes
}

/** Undefined on a node that has no cluster, serves nobody, or does not encode. */
async function createJobEncodes(
  joined: Cluster | undefined,
  offer: string | undefined,
): Promise<JobEncodes | undefined> {
  if (joined === undefined || offer === undefined) return undefined
  const { JobEncodes: Encodes } = await import('../cluster/encoding-nodes.ts')
  return new Encodes({ queues: joined.queues, offer })
}

interface NodeOptions extends Pick<Node, 'config' | 'io' | 'version'> {
  /** As in `claimRecordings`. */
  mayRebuild: boolean
}

/** Serves until the signal aborts, and resolves when everything has stopped. */
export async function serve(options: NodeOptions): Promise<void> {
  return runNode(options, startServer)
}

/**
 * As `serve`, but without visitors: this node scans, and other nodes serve.
 *
 * @throws AppError `usage` if the configuration leaves nothing to do
 */
export async function work(options: NodeOptions): Promise<void> {
  const { config } = options
  if (config.database === undefined) {
    throw new AppError('usage', 'database: `aftercast work` needs the database of a cluster')
  }
  if (!config.cluster.jobs) {
    throw new AppError('usage', 'cluster.jobs: `aftercast work` has nothing to do without jobs')
  }
  return runNode(options, undefined)
}

/** @param start undefined on a node that serves nobody */
async function runNode(
  { config, io, version, mayRebuild }: NodeOptions,
  start: Start | undefined,
): Promise<void> {
  const { logger, figures } = createLog(config, io.log)
  const isWorker = cluster.isWorker
  using claimed = await claimRecordings(config, io, mayRebuild)
  const { location } = claimed
  const { signal } = io
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const offer = encodeOffer(config)
  const joining = { config, logger, signal, mayStartWithout: true }
  const joined = isWorker ? undefined : await joinCluster(joining)
  const encodes = await createJobEncodes(start && joined, offer)
  const mode = isWorker ? 'read' : 'write'
  const awaitIndex = cluster.worker && awaitIndexOfPrimary(cluster.worker)
  const admission = cluster.worker && admissionOfPrimary(cluster.worker)
  const encodingNodes = config.database === undefined ? undefined : admission?.encodingNodes
  const ofPrimary = {
    awaitIndex,
    encodeSlots: admission?.encodeSlots,
    encodingNodes: encodingNodes ?? encodes,
  }
  const opening = openLibrary({ config, location, artifacts, mode, ...ofPrimary, logger, signal })
  const library = await opening.catch(async (error: unknown) => {
    await joined?.close()
    throw error
  })
  const pacing = createPacing(config.limits, admission?.egress)
  const serving = { config, io, logger, library, pacing, encodes }
  if (!isWorker && !library.hasDecoders) logger.warn(WITHOUT_DECODERS)
  try {
    if (config.server.metrics !== undefined) {
      const { measureArtifacts, measureLog } = await import('../metrics/metrics.ts')
      const process = isWorker || config.server.workers === 1 ? 'serving' : 'primary'
      measureLog(process, figures)
      if (artifacts !== undefined) measureArtifacts(process, () => artifacts.figures)
    }
    if (isWorker) await listenAsWorker(serving)
    else {
      const networks = new NetworkBytes()
      await scanAndServe({ ...serving, location, version, joined, networks }, start)
    }
  } finally {
    await library.close()
    await joined?.close()
  }
}

/** The scan has stopped when this settles, for whatever reason: then the catalog may be closed. */
async function scanAndServe(serving: Node, start: Start | undefined): Promise<void> {
  const { io, joined } = serving
  const stopping = new AbortController()
  const signal = AbortSignal.any([io.signal, stopping.signal])
  const stoppable = { ...serving, io: { ...io, signal } }
  const scan =
    joined === undefined
      ? startScanning(stoppable, (onProgress) => createLibraryScanner({ ...stoppable, onProgress }))
      : await startScanningInCluster(stoppable, joined, { serves: start !== undefined })
  const purging = startPurging(serving, signal)
  const isPruning = (): boolean => scan.figures?.().isScanning === true
  const merging = joined?.mergeActivity({ isPruning, signal })
  const encoding = serving.encodes?.run(signal)
  const exchanging = start && joined && exchangePageAssets(serving.config, joined, signal)
  const recording = start && recordInDemo(serving, signal)
  try {
    await serveBesideScan(serving, scan, start)
  } finally {
    stopping.abort()
    await Promise.all([scan.ended, purging, merging, exchanging, encoding, recording])
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

/** One session of the demo library grows while it is watched. */
async function recordInDemo(
  { config, location, logger }: Node,
  signal: AbortSignal,
): Promise<void> {
  if (config.recordings !== undefined || location.kind !== 'folder') return
  await recordLiveSession(location.path, { signal }).catch((err: unknown) => {
    logger.warn({ err }, 'the live session of the demo library could not be recorded')
  })
}

function logEmptyLibrary(serving: Node, scan: Scan): void {
  if (serving.io.signal.aborted || scan.unmatched() !== undefined) return
  const advice = describeEmptyLibrary(serving)
  if (advice !== undefined) serving.logger.warn(advice)
}

/** Resolves when visitors are not served any more; the scan may still be ending then. */
async function serveBesideScan(serving: Node, scan: Scan, start: Start | undefined): Promise<void> {
  const { io } = serving
  const state = { isWalked: false }
  const metrics = await startMetrics(serving, scan, () => state.isWalked)
  if (metrics !== undefined && start === undefined) {
    const { measureLibrary } = await import('../metrics/metrics.ts')
    measureLibrary(serving.library)
  }
  const { prioritise: onRequested } = scan
  const server = await start?.(serving, { isReady: () => state.isWalked, onRequested })
  const ended = endOfService(scan, io.signal)
  ended.catch(() => undefined)
  try {
    await Promise.race([scan.firstWalk, ended])
    state.isWalked = true
    server?.announceFirstWalk?.()
    await Promise.race([scan.isIndexed, sleep(FIRST_INDEX_MS, undefined, { ref: false }), ended])
    // The progress bar clears its line.
    await io.log.flush()
    const place = server === undefined ? 'to scan' : `at ${server.url}`
    if (!io.signal.aborted) io.announce(`Aftercast is ready ${place}`)
    await Promise.race([scan.isIndexed, ended])
    logEmptyLibrary(serving, scan)
    await ended
  } finally {
    metrics?.close()
    await server?.close()
  }
}

/**
 * Settles with the scan, or when the process is stopped: then nothing follows the hidden names, and
 * a scan may wait for storage that does not respond.
 */
export async function endOfService(
  { ended }: { ended: Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const stopped = signal.aborted ? undefined : once(signal, 'abort')
  await Promise.race([ended, stopped])
}

async function startMetrics(
  serving: Node,
  { queue, unmatched, figures, jobs }: Scan,
  isWalked: () => boolean,
): Promise<MetricsListener | undefined> {
  const { metrics, metricsHosts } = serving.config.server
  if (metrics === undefined) return undefined
  const { measureJobs, measureNode, measureScan } = await import('../metrics/metrics.ts')
  const { listenForMetrics, readMetrics } = await import('../metrics/private-listener.ts')
  const { createOperator } = await import('../operator/operator.ts')
  measureScan(queue)
  if (figures !== undefined) measureNode(figures)
  if (jobs !== undefined) measureJobs(jobs)
  const { joined, location, version, networks } = serving
  const node = { joined, location, version, networks, isWalked, queue, unmatched, figures, jobs }
  const address = { metrics, metricsHosts }
  return listenForMetrics(address, createOperator({ serving, ...node, readMetrics }))
}

/** One server, or workers that need messages about the scan's progress. */
async function startServer(
  serving: Serving,
  state: Pick<WebServerOptions, 'isReady' | 'onRequested'>,
): Promise<WebServer & Partial<Workers>> {
  await addPageAssets(serving)
  if (serving.config.server.workers > 1) return startWorkers(serving, state.onRequested)
  // Loaded here, so that a primary with workers does not need the memory.
  const { startWebServer } = await import('../web-server.ts')
  return startWebServer({ ...serving, ...state })
}

interface Scan {
  /** Every recording is listed. */
  firstWalk: Promise<void>
  /** Every recording found by the first walk is indexed. */
  isIndexed: Promise<void>
  /** Recordings that wait for their index. */
  queue: () => ScanQueue
  /** About recordings that match no session. */
  unmatched: () => UnmatchedNote | undefined
  /** Moves a session's inspection to the front of the queue. */
  prioritise: (session: SessionReference) => void
  /** State of a node of a cluster. */
  figures?: () => NodeFigures
  /** Jobs of all nodes of a cluster. */
  jobs?: NodeJobs['figures']
  /** Resolves after the signal has aborted. */
  ended: Promise<void>
}

function startScanning(
  serving: Serving,
  create: (onProgress: (progress: ScanProgress) => void) => Scanner,
): Scan {
  const { io, logger } = serving
  const display = createProgressDisplay(serving)
  const firstScan = followFirstScan(display)
  const queue = createScanQueueTracker(() => performance.now())
  const scanner = create((progress) => {
    queue.update(progress)
    firstScan.update(progress)
  })
  const ended = scanner.run(io.signal).finally(() => display.stop())
  // It may fail before the server has started; awaiting it later still throws.
  ended.catch(() => undefined)
  const unmatched = createUnmatchedNote(() => scanner.unmatched, serving)
  return {
    firstWalk: scanner.firstWalk.then(() => {
      firstScan.walked()
      logUnmatched(logger, unmatched())
    }),
    unmatched,
    isIndexed: firstScan.indexed,
    queue: queue.read,
    prioritise: (session) => scanner.prioritise(session),
    ended,
  }
}

/**
 * Scans while this node is the one that scans; otherwise follows another one. Inspects what the
 * scanning node finds.
 */
async function startScanningInCluster(
  serving: Serving,
  joined: Cluster,
  { serves }: { serves: boolean },
): Promise<Scan> {
  const { createLibraryProbe, createNode, createSharedScanner } =
    await import('../cluster/cluster-scan.ts')
  const { createNodeJobs, sessionJob } = await import('../cluster/node-jobs.ts')
  const { config, io } = serving
  const failed = Promise.withResolvers<never>()
  let current: Scan | undefined
  const scan = (signal: AbortSignal): NodeScan => {
    let exchanged: Promise<void> | undefined
    const started = startScanning({ ...serving, io: { ...io, signal } }, (onProgress) => {
      const { scanner, exchange } = createSharedScanner(serving, joined, onProgress)
      exchanged = exchange(signal)
      return scanner
    })
    current = started
    const ended = started.ended.catch(failed.reject).then(async () => {
      current = undefined
      await exchanged
    })
    return { firstWalk: started.firstWalk, ended }
  }
  const probe = createLibraryProbe(serving)
  const node = createNode(serving, {
    cluster: joined,
    probe,
    scan: config.cluster.jobs ? scan : undefined,
  })
  const offer = serves ? undefined : encodeOffer(config)
  const jobs = config.cluster.jobs
    ? createNodeJobs(serving, { ...joined, probe, offer })
    : undefined
  const running = Promise.all([node.run(io.signal), jobs?.run(io.signal)])
  const ended = Promise.race([running.then(() => undefined), failed.promise])
  ended.catch(() => undefined)
  return {
    firstWalk: node.firstWalk,
    isIndexed: node.current.then(async () => current?.isIndexed),
    queue: () => current?.queue() ?? { recordings: 0, ageMs: 0 },
    unmatched: () => current?.unmatched(),
    prioritise(session) {
      if (current !== undefined) return current.prioritise(session)
      // During an outage the session plays, but is inspected in its turn.
      joined.queues.add('requests', [sessionJob(session)]).catch(() => undefined)
    },
    figures: () => node.figures(),
    ...(jobs !== undefined && { jobs: () => jobs.figures() }),
    ended,
  }
}
