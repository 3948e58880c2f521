// `aftercast scan`: indexes new recordings once, shows its progress, and exits.
import type { Logger } from 'pino'
import { closingAsync } from '../../base/closing.ts'
import { createLayout } from '../../library/catalog/names/layout.ts'
import { countOf } from '../../../shared/count-of.ts'
import { printable } from '../../../shared/printable.ts'
import type { ScanProblem } from '../../library/catalog/scan/scan.ts'
import type { Config } from '../../base/config/load-config.ts'
import { AppError } from '../../base/errors.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { joinCluster } from '../cluster/join-cluster.ts'
import type { Io } from '../io.ts'
import { openSharedArtifacts } from '../artifacts.ts'
import { openLibrary } from '../library.ts'
import { createLog } from '../../base/log/logger.ts'
import { otherLayout } from '../catalog-owner.ts'
import { claimRecordings } from '../recordings.ts'
import { createProgressDisplay } from '../scan-progress.ts'
import { createLibraryScanner, describeUnread, inspectIn, logProblem } from '../scanning.ts'
import type { Serving } from '../library.ts'
import { describeUnmatched } from '../library-notes.ts'
import type { UnmatchedNote } from '../library-notes.ts'

/**
 * Runs the scan; returns the exit code: 1 where a folder or recording cannot be read, else 0.
 *
 * @param mayRebuild as in `claimRecordings`
 * @throws AppError `usage` as `claimRecordings`
 */
export async function scan(config: Config, io: Io, mayRebuild: boolean): Promise<number> {
  const { logger } = createLog(config, io.log)
  const { signal } = io
  using claimed = await claimRecordings(config, io, mayRebuild)
  const { location } = claimed
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const cluster = await joinCluster({ config, logger, signal, mayStartWithout: false })
  try {
    const opening = { config, location, artifacts, logger, signal }
    const library = await openLibrary({ ...opening, mode: 'write' })
    await using _closing = closingAsync(library)
    const serving = { config, io, logger, library }
    const outcome = await (cluster ? scanOrFollow(serving, cluster) : scanOnce(serving))
    const isWhole = reportScan(outcome, io)
    const streamers = library.catalog.listStreamers()
    const sessions = streamers.reduce((sum, { recording_count }) => sum + recording_count, 0)
    const found = `${countOf(sessions, 'session')} of ${countOf(streamers.length, 'streamer')}`
    io.stdout(`${found} ${sessions === 1 ? 'is' : 'are'} indexed`)
    return isWhole ? 0 : 1
  } finally {
    await cluster?.close()
  }
}

/** What an operator has to know about a scan. */
export interface ScanOutcome {
  /** About recordings that match no session. */
  note: UnmatchedNote | undefined
  unread: Unread
}

/** Why folders and recordings could not be read, by path. */
interface Unread {
  folders: ReadonlyMap<string, string>
  recordings: ReadonlyMap<string, string>
}

/**
 * Scans the library completely. Reports what could not be read on stderr instead of in the log.
 *
 * @param inspect by default in this process
 */
export async function scanOnce(
  { config, io, logger, library }: Serving,
  inspect = inspectIn(library),
): Promise<ScanOutcome> {
  const display = createProgressDisplay({ io, logger })
  const onProgress = display.show
  const { folders, recordings, ...following } = followReads(inspect, logger)
  try {
    const options = { config, library, logger, onProgress, ...following }
    const scanner = createLibraryScanner(options)
    await scanner.scanOnce(io.signal).catch((error: unknown) => {
      if (!(error instanceof AppError) || config.recordings === undefined) throw error
      const problem = `recordings: ${config.recordings}: ${error.message}`
      throw new AppError(error.code, problem, { cause: error })
    })
    const note = describeUnmatched(scanner.unmatched, { config, library })
    return { note, unread: { folders, recordings } }
  } finally {
    display.stop()
    // The progress bar clears its line, which must not be one of the report.
    await io.log.flush()
  }
}

type Inspect = ReturnType<typeof inspectIn>

/** Notes what cannot be read until it can, and logs all other problems. */
export function followReads(given: Inspect, logger: Logger) {
  const folders = new Map<string, string>()
  const recordings = new Map<string, string>()
  const onProblem = (problem: ScanProblem): void => {
    if (problem.kind === 'folder') folders.set(problem.path, describeUnread(problem.error))
    else if (problem.kind === 'inspection')
      recordings.set(problem.path, describeUnread(problem.error))
    else logProblem(logger, problem)
  }
  const inspect: Inspect = async (recording, signal) => {
    const inspection = await given(recording, signal)
    recordings.delete(recording.path)
    return inspection
  }
  return { folders, recordings, inspect, onProblem }
}

/** Prints the outcome of a scan on stderr. Returns whether all could be read. */
export function reportScan({ note, unread }: ScanOutcome, io: Pick<Io, 'stderr'>): boolean {
  if (note !== undefined) io.stderr(`note: ${note.text}`)
  const lines = [...unread.folders, ...unread.recordings]
  for (const [path, reason] of lines) io.stderr(`${printable(path)}: cannot be read: ${reason}`)
  return lines.length === 0
}

async function scanOrFollow(serving: Serving, cluster: Cluster): Promise<ScanOutcome> {
  const { scanOnceInCluster } = await import('../cluster/cluster-scan.ts')
  const { readLibrary } = await import('../../cluster/postgres/library-row.ts')
  const { config, library } = serving
  const { layout } = await readLibrary(cluster.database)
  if (layout !== null && layout !== createLayout(config.layout, library.name).identity) {
    throw otherLayout(config, 'the database', 'use that of the other nodes')
  }
  const { isDone, unmatched } = await scanOnceInCluster(serving, cluster)
  await serving.io.log.flush()
  const note = isDone ? describeUnmatched(unmatched, serving) : undefined
  if (!isDone) {
    serving.io.stderr('note: another node scans the library; this is what it has found so far')
  }
  // Of all nodes, the log has what could not be read.
  return { note, unread: { folders: new Map(), recordings: new Map() } }
}
