// The scan of a node in a cluster: it runs while this node is the one that scans.
import { createLayout } from '../catalog/names/layout.ts'
import { ClusterNode } from '../replication/node.ts'
import type { Scan as NodeScan } from '../replication/node.ts'
import type { Cluster } from './cluster.ts'
import { logNodeProblem } from './cluster.ts'
import { createProgressDisplay } from './scan-progress.ts'
import { createLibraryScanner } from './scanning.ts'
import type { Serving } from './serving.ts'

export interface NodeParts {
  cluster: Cluster
  /** Absent: this node never scans. */
  scan: ((signal: AbortSignal) => NodeScan) | undefined
}

/** A node that is not running yet. */
export function createNode(
  { config, library, logger }: Pick<Serving, 'config' | 'library' | 'logger'>,
  { cluster, scan }: NodeParts,
): ClusterNode {
  return new ClusterNode({
    ...cluster,
    layout: createLayout(config.layout, library.name).identity,
    scan,
    onProblem: (problem) => logNodeProblem(logger, problem),
  })
}

/**
 * Scans the library once if no other node does. Returns whether it did; if not, the catalog has
 * what the others have found.
 *
 * @throws AppError `failed` if the library cannot be read
 */
export async function scanOnceInCluster(serving: Serving, cluster: Cluster): Promise<boolean> {
  const { config, io, library, logger } = serving
  const display = createProgressDisplay(io, Date.now)
  const failures: unknown[] = []
  const node = createNode(serving, {
    cluster,
    scan: (signal) => {
      const onProgress = display.show
      const scanner = createLibraryScanner({ config, library, logger, onProgress })
      const done = scanner.scanOnce(signal)
      const walked = Promise.withResolvers<void>()
      done.then(walked.resolve, (error: unknown) => failures.push(error))
      const ended = done.catch(() => undefined)
      return { firstWalk: walked.promise, ended }
    },
  })
  const stopping = new AbortController()
  const running = node.run(AbortSignal.any([io.signal, stopping.signal]))
  try {
    const isScanning = (await Promise.race([node.current, running])) === 'scanning'
    const isDone = isScanning && (await node.published(io.signal))
    if (failures.length > 0) throw failures[0]
    io.signal.throwIfAborted()
    return isDone
  } finally {
    stopping.abort()
    await running
    display.stop()
  }
}
