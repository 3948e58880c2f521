// Creates the scanner, and logs its progress and problems.
import type { Logger } from 'pino'
import { setLocation } from '../library/catalog/store/catalog-origin.ts'
import { CatalogWriter } from '../library/catalog/store/catalog-writer.ts'
import { createLayout } from '../library/catalog/names/layout.ts'
import { Scanner } from '../library/catalog/scan/scan.ts'
import type { ScannerOptions, ScanProblem } from '../library/catalog/scan/scan.ts'
import type { Inspection } from '../library/catalog/store/inspection-result.ts'
import type { Config } from '../base/config/load-config.ts'
import { AppError, codeOf, reasonOf } from '../base/errors.ts'
import type { InspectedSource } from '../stream/hls/session/session-inspection.ts'
import type { Library } from './library.ts'

export interface ScanningOptions extends Pick<
  ScannerOptions,
  'concurrency' | 'inspectionTimeoutMs' | 'onProgress' | 'onProblem'
> {
  config: Config
  library: Library
  logger: Logger
  /** Default: in this process. */
  inspect?: ScannerOptions['inspect']
}

/** A scanner of the library that is not running yet. The catalog is of this library from now on. */
export function createLibraryScanner({
  config,
  library,
  logger,
  ...options
}: ScanningOptions): Scanner {
  const { storage, database, inspectionsAtOnce, rescanSeconds } = library
  const before = setLocation(database, library.location)
  if (before !== null && before !== library.location) {
    logger.warn({ before, now: library.location }, 'the data folder was of other recordings')
  }
  return new Scanner({
    storage,
    layout: createLayout(config.layout, library.name),
    writer: new CatalogWriter(database),
    settleSeconds: config.library.settleSeconds,
    ...(rescanSeconds !== undefined && { rescanSeconds }),
    concurrency: inspectionsAtOnce,
    inspect: inspectIn(library),
    readTitle: async (recording, signal) => library.sidecars.readTitle(recording, signal),
    onProblem: (problem) => logProblem(logger, problem),
    ...options,
  })
}

/** Inspects recordings in this process. @throws as `inspectSession` */
export function inspectIn(
  library: Pick<Library, 'inspect'>,
): (recording: InspectedSource, signal: AbortSignal) => Promise<Inspection> {
  return async (recording, signal) => {
    const inspection = await library.inspect(recording, signal)
    if (inspection.status === 'unplayable') return inspection
    const { status, durationSeconds, startMs, limitations } = inspection
    return { status, durationSeconds, startMs, isFlawed: limitations.length > 0 }
  }
}

const PROBLEMS: Record<ScanProblem['kind'], string> = {
  library: 'the recordings cannot be read; the catalog stays as it is',
  folder: 'a folder cannot be read; its recordings stay in the catalog',
  inspection: 'a recording could not be read; retrying later',
  sidecar: 'the sidecars of a recording could not be read; retrying later',
  watch: 'changes cannot be watched; polling the library instead',
  catalog: 'the catalog could not be written; retrying later',
}

export function logProblem(logger: Logger, { kind, path, error }: ScanProblem): void {
  logger.warn({ err: withoutPermission(error) ?? error, path }, PROBLEMS[kind])
}

/** Why a file or folder could not be read, and what to do. */
export function describeUnread(error: unknown): string {
  return reasonOf(withoutPermission(error) ?? error)
}

/** A remedy in place of a stack, where the user may not read a file or folder. */
function withoutPermission(error: unknown): AppError | undefined {
  for (let cause = error; cause instanceof Error; { cause } = cause) {
    if (!['EACCES', 'EPERM'].includes(codeOf(cause)) && !/\bEACCES\b/.test(cause.message)) continue
    const remedy = new AppError('failed', 'permission denied: give this user read permission')
    remedy.stack = ''
    return remedy
  }
  return undefined
}
