// Creates the scanner, and logs its progress and problems.
import type { Logger } from 'pino'
import { createCatalogWriter } from '../catalog/store/catalog-writer.ts'
import { createLayout } from '../catalog/names/layout.ts'
import { createScanner } from '../catalog/scan/scan.ts'
import type { Scanner, ScanProblem, ScanProgress } from '../catalog/scan/scan.ts'
import type { Config } from '../config/load-config.ts'
import type { Library } from './library.ts'

export interface ScanningOptions {
  config: Config
  library: Library
  logger: Logger
  onProgress: (progress: ScanProgress) => void
}

/** A scanner of the library that is not running yet. */
export function createLibraryScanner({
  config,
  library,
  logger,
  onProgress,
}: ScanningOptions): Scanner {
  const { storage, database } = library
  return createScanner({
    storage,
    layout: createLayout(config.layout, library.name),
    writer: createCatalogWriter(database),
    settleSeconds: config.library.settleSeconds,
    ...(library.rescanSeconds !== undefined && { rescanSeconds: library.rescanSeconds }),
    inspect: async (recording, signal) => {
      const inspection = await library.inspect(recording, signal)
      if (inspection.status === 'unplayable') return inspection
      return { ...inspection, isFlawed: inspection.limitations.length > 0 }
    },
    onProgress,
    onProblem: (problem) => logProblem(logger, problem),
  })
}

const PROBLEMS: Record<ScanProblem['kind'], string> = {
  library: 'the recordings cannot be read; the catalog stays as it is',
  folder: 'a folder cannot be read; its recordings stay in the catalog',
  inspection: 'a recording could not be read; retrying later',
  watch: 'changes cannot be watched; polling the library instead',
  catalog: 'the catalog could not be written; retrying later',
}

function logProblem(logger: Logger, { kind, path, error }: ScanProblem): void {
  logger.warn({ err: error, path }, PROBLEMS[kind])
}
