// The scan of a node in a cluster: it runs while this node is the one that scans. All nodes inspect
// what it finds.
import { withTimeout } from '../../../shared/with-timeout.ts'
import { Gate } from '../../base/admission/gate.ts'
import { createLayout } from '../../library/catalog/names/layout.ts'
import { CatalogWriter } from '../../library/catalog/store/catalog-writer.ts'
import { isAppError } from '../../base/errors.ts'
import { LibraryProbe } from '../../library/catalog/scan/library-probe.ts'
import type { Scanner, ScanProgress } from '../../library/catalog/scan/scan.ts'
import type { UnmatchedRecordings } from '../../library/catalog/scan/unmatched.ts'
import { InspectionJobs } from '../../cluster/jobs/inspection-jobs.ts'
import { ClusterNode } from '../../cluster/replication/node.ts'
import type { Scan as NodeScan } from '../../cluster/replication/node-options.ts'
import { createProgressDisplay } from '../scan-progress.ts'
import { createLibraryScanner, inspectIn } from '../scanning.ts'
import type { Serving } from '../library.ts'
import type { Cluster } from './cluster.ts'
import { logNodeProblem } from './cluster.ts'
import { createNodeJobs, INSPECTION_TIMEOUT_MS } from './node-jobs.ts'

export interface NodeParts {
  cluster: Cluster
  probe: LibraryProbe
  /** Absent: this node never scans. */
  scan: ((signal: AbortSignal) => NodeScan) | undefined
}

/** Inspections that are in the queue or on a node at once: eight batches of small recordings. */
const INSPECTIONS_AT_ONCE = 128
/** The jobs have a limit of their own, which does not count their time in the queue. */
const DAY_MS = 86_400_000

/** A node that is not running yet. */
export function createNode(
  { config, library, logger }: Pick<Serving, 'config' | 'library' | 'logger'>,
  { cluster, probe, scan }: NodeParts,
): ClusterNode {
  return new ClusterNode({
    ...cluster,
    library: probe,
    layout: createLayout(config.layout, library.name).identity,
    scan,
    onProblem: (problem) => logNodeProblem(logger, problem),
  })
}

/** Whether this node can read the recordings. */
export function createLibraryProbe({
  library,
  logger,
}: Pick<Serving, 'library' | 'logger'>): LibraryProbe {
  const writer = new CatalogWriter(library.database)
  return new LibraryProbe({
    hasContent: async () => library.hasContent(),
    isExpected: () => writer.countRecordings() > 0,
    onChange: (problem) => {
      if (problem === undefined) return logger.info('the recordings can be read again')
      const message = 'the recordings cannot be read; other nodes scan and inspect them'
      return logger.warn({ reason: problem.message }, message)
    },
  })
}

/** A scanner whose recordings are inspected by all nodes. */
export interface SharedScanner {
  scanner: Scanner
  /** Exchanges jobs and results with the nodes until the signal aborts. Never rejects. */
  exchange(this: void, signal: AbortSignal): Promise<void>
}

/** A scanner that is not running yet. */
export function createSharedScanner(
  { config, library, logger }: Serving,
  { queues }: Cluster,
  onProgress: (progress: ScanProgress) => void,
): SharedScanner {
  const jobs = new InspectionJobs({
    queues,
    onRequested: (session) => scanner.prioritise(session),
  })
  const inspectHere = inspectIn(library)
  const gate = new Gate({
    limit: library.inspectionsAtOnce,
    waiting: INSPECTIONS_AT_ONCE,
    busyMessage: 'too many recordings are inspected by this node',
  })
  const scanner = createLibraryScanner({
    config,
    library,
    logger,
    onProgress,
    concurrency: INSPECTIONS_AT_ONCE,
    inspectionTimeoutMs: DAY_MS,
    inspect: async (recording, signal) => {
      const limit = { timeoutMs: INSPECTION_TIMEOUT_MS, signal }
      const inspect = async (): ReturnType<typeof inspectHere> =>
        withTimeout(async (attempt) => inspectHere(recording, attempt), limit)
      // A growing recording is inspected again and again: this node then reads only what is new.
      if (recording.settlesAtMs > Date.now()) return gate.run(inspect, signal)
      try {
        return await jobs.inspect(recording, signal)
      } catch (error) {
        // A node that lacks a part of the library reports the same as one after a deletion.
        if (!isAppError(error, 'gone')) throw error
        return gate.run(inspect, signal)
      }
    },
  })
  return { scanner, exchange: async (signal) => jobs.run(signal) }
}

/**
 * Scans the library once if no other node does. `isDone` is whether it did; if not, the catalog
 * has what the others have found.
 *
 * @throws AppError `failed` if the library cannot be read
 */
export async function scanOnceInCluster(
  serving: Serving,
  cluster: Cluster,
): Promise<{ isDone: boolean; unmatched: UnmatchedRecordings | undefined }> {
  const { io } = serving
  const display = createProgressDisplay(serving)
  const failures: unknown[] = []
  let unmatched: UnmatchedRecordings | undefined
  const scan = (signal: AbortSignal): NodeScan => {
    const { scanner, exchange } = createSharedScanner(serving, cluster, display.show)
    const exchanging = new AbortController()
    const exchanged = exchange(AbortSignal.any([signal, exchanging.signal]))
    const done = scanner.scanOnce(signal).then(() => void (unmatched = scanner.unmatched))
    const walked = Promise.withResolvers<void>()
    done.then(walked.resolve, (error: unknown) => failures.push(error))
    const ended = done
      .catch(() => undefined)
      .then(async () => {
        exchanging.abort()
        await exchanged
      })
    return { firstWalk: walked.promise, ended }
  }
  const probe = createLibraryProbe(serving)
  const node = createNode(serving, { cluster, probe, scan })
  const stopping = new AbortController()
  const signal = AbortSignal.any([io.signal, stopping.signal])
  const running = node.run(signal)
  // There may be no other node.
  const inspecting = createNodeJobs(serving, { ...cluster, probe }).run(signal)
  try {
    const isScanning = (await Promise.race([node.current, running])) === 'scanning'
    const isDone = isScanning && (await node.published(io.signal))
    if (failures.length > 0) throw failures[0]
    if (!isScanning && probe.problem !== undefined) throw probe.problem
    io.signal.throwIfAborted()
    return { isDone, unmatched }
  } finally {
    stopping.abort()
    await Promise.all([running, inspecting])
    display.stop()
  }
}
