// `aftercast scan`: indexes new recordings once, shows its progress, and exits.
import type { Config } from '../../config/load-config.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Io } from '../io.ts'
import { openSharedArtifacts } from '../artifacts.ts'
import { openLibrary } from '../library.ts'
import type { Library } from '../library.ts'
import { createLog } from '../../log/logger.ts'
import { claimRecordings } from '../recordings.ts'
import { createProgressDisplay } from '../scan-progress.ts'
import { createLibraryScanner } from '../scanning.ts'
import type { Serving } from '../serving.ts'

/** Runs the scan; returns the exit code 0. */
export async function scan(config: Config, io: Io): Promise<number> {
  return withScannedLibrary(config, io, ({ catalog }) => {
    const streamers = catalog.listStreamers()
    const sessions = streamers.reduce((sum, { recording_count }) => sum + recording_count, 0)
    io.stdout(`${sessions} sessions of ${streamers.length} streamers are indexed`)
    return 0
  })
}

/** Opens the library, scans it completely, and closes it once `report` has returned. */
export async function withScannedLibrary(
  config: Config,
  io: Io,
  report: (library: Library) => number | Promise<number>,
): Promise<number> {
  const { logger } = createLog(config, io.log)
  const { signal } = io
  using claimed = await claimRecordings(config, io)
  const { location } = claimed
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const cluster = await joinCluster({ config, io, logger })
  try {
    const opening = { config, location, artifacts, logger, signal }
    const library = await openLibrary({ ...opening, mode: 'write' })
    try {
      const serving = { config, io, logger, library }
      if (cluster === undefined) await scanOnce(serving)
      else await scanOrFollow(serving, cluster)
      // The progress bar clears its line, which must not be one of the report.
      await io.log.flush()
      return await report(library)
    } finally {
      await library.close()
    }
  } finally {
    await cluster?.close()
  }
}

async function scanOnce({ config, io, logger, library }: Serving): Promise<void> {
  const display = createProgressDisplay(io, Date.now)
  const onProgress = display.show
  try {
    await createLibraryScanner({ config, library, logger, onProgress }).scanOnce(io.signal)
  } finally {
    display.stop()
  }
}

async function joinCluster({
  config,
  io: { signal },
  logger,
}: Omit<Serving, 'library'>): Promise<Cluster | undefined> {
  if (config.database === undefined) return undefined
  const { openCluster } = await import('../cluster/cluster.ts')
  return openCluster({ config, logger, signal, mayStartWithout: false })
}

async function scanOrFollow(serving: Serving, cluster: Cluster): Promise<void> {
  const { scanOnceInCluster } = await import('../cluster/cluster-scan.ts')
  if (await scanOnceInCluster(serving, cluster)) return
  serving.io.stderr('note: another node scans the library; this is what it has found so far')
}
