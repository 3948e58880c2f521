// `aftercast scan`: indexes new recordings once, shows its progress, and exits.
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createLayout } from '../../library/catalog/names/layout.ts'
import { readOrigin } from '../../library/catalog/store/catalog-origin.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import { countOf } from '../../../shared/count-of.ts'
import { printable } from '../../../shared/printable.ts'
import type { ScanProblem } from '../../library/catalog/scan/scan.ts'
import type { Config } from '../../base/config/load-config.ts'
import { AppError } from '../../base/errors.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Io } from '../io.ts'
import { openSharedArtifacts } from '../artifacts.ts'
import { CATALOG_FILE, openLibrary } from '../library.ts'
import { formatLocation, locationName } from '../../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'
import { createLog } from '../../base/log/logger.ts'
import { claimRecordings } from '../recordings.ts'
import { createProgressDisplay } from '../scan-progress.ts'
import { createLibraryScanner, describeUnread, inspectIn, logProblem } from '../scanning.ts'
import type { Serving } from '../serving.ts'
import { describeUnmatched } from '../unmatched-note.ts'
import type { UnmatchedNote } from '../unmatched-note.ts'

/**
 * Runs the scan; returns the exit code: 1 where a folder or recording cannot be read, else 0.
 *
 * @throws AppError `usage` if the data folder is in use, or its catalog is of another library
 */
export async function scan(config: Config, io: Io): Promise<number> {
  const { logger } = createLog(config, io.log)
  const { signal } = io
  using claimed = await claimRecordings(config, io)
  const { location } = claimed
  await refuseOtherCatalog(config, location)
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const cluster = await joinCluster({ config, io, logger })
  try {
    const opening = { config, location, artifacts, logger, signal }
    const library = await openLibrary({ ...opening, mode: 'write' })
    try {
      const serving = { config, io, logger, library }
      const outcome = await (cluster ? scanOrFollow(serving, cluster) : scanOnce(serving))
      const isWhole = reportScan(outcome, io)
      const streamers = library.catalog.listStreamers()
      const sessions = streamers.reduce((sum, { recording_count }) => sum + recording_count, 0)
      const found = `${countOf(sessions, 'session')} of ${countOf(streamers.length, 'streamer')}`
      io.stdout(`${found} ${sessions === 1 ? 'is' : 'are'} indexed`)
      return isWhole ? 0 : 1
    } finally {
      await library.close()
    }
  } finally {
    await cluster?.close()
  }
}

/** A server of that catalog would lose what it lists, if it lists anything. */
async function refuseOtherCatalog(config: Config, location: StorageLocation): Promise<void> {
  const path = join(config.data, CATALOG_FILE)
  if (!existsSync(path)) return
  const database = openDatabase({ path, mode: 'write', replica: 'follow' })
  const origin = readOrigin(database)
  database.close()
  const refuse = (key: string, problem: string): AppError =>
    new AppError('usage', `${key}: the catalog in ${config.data} is ${problem}`)
  if (origin.isReplica && config.database === undefined) {
    throw refuse('database', 'of a cluster, but none is configured')
  }
  if (origin.isEmpty) return
  if (origin.location !== null && !(await isSamePlace(origin.location, formatLocation(location)))) {
    throw refuse('recordings', `of ${origin.location}: name another folder with --data`)
  }
  const { identity } = createLayout(config.layout, locationName(location))
  if (origin.layout !== null && origin.layout !== identity) {
    throw otherLayout(config, `the catalog in ${config.data}`)
  }
}

function otherLayout({ layout }: Config, owner: string): AppError {
  const remedy = 'use that of the server, or name another folder with --data'
  return new AppError('usage', `layout: ${owner} has another layout than ${layout}: ${remedy}`)
}

async function isSamePlace(one: string, other: string): Promise<boolean> {
  if (one === other) return true
  const [real, otherReal] = await Promise.all(
    [one, other].map(async (place) => realpath(place).catch(() => place)),
  )
  return real === otherReal
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

async function joinCluster({
  config,
  io: { signal },
  logger,
}: Omit<Serving, 'library'>): Promise<Cluster | undefined> {
  if (config.database === undefined) return undefined
  const { openCluster } = await import('../cluster/cluster.ts')
  return openCluster({ config, logger, signal, mayStartWithout: false })
}

async function scanOrFollow(serving: Serving, cluster: Cluster): Promise<ScanOutcome> {
  const { scanOnceInCluster } = await import('../cluster/cluster-scan.ts')
  const { readLibrary } = await import('../../cluster/postgres/library-row.ts')
  const { config, library } = serving
  const { layout } = await readLibrary(cluster.database)
  if (layout !== null && layout !== createLayout(config.layout, library.name).identity) {
    throw otherLayout(config, 'the database')
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
