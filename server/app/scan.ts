// `aftercast scan`: indexes new recordings once, shows its progress, and exits.
import type { Config } from '../config/load-config.ts'
import type { Io } from './io.ts'
import { openSharedArtifacts } from './artifacts.ts'
import { openLibrary } from './library.ts'
import type { Library } from './library.ts'
import { createLog } from '../log/logger.ts'
import { chooseRecordings } from './recordings.ts'
import { createProgressDisplay } from './scan-progress.ts'
import { createLibraryScanner } from './scanning.ts'

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
  const location = await chooseRecordings(config, io)
  const artifacts = await openSharedArtifacts({ config, location, logger, io })
  const library = await openLibrary({ config, location, artifacts, mode: 'write', logger, signal })
  const display = createProgressDisplay(io, Date.now)
  const onProgress = display.show
  try {
    await createLibraryScanner({ config, library, logger, onProgress }).scanOnce(signal)
    display.stop()
    // The progress bar clears its line, which must not be one of the report.
    await io.log.flush()
    return await report(library)
  } finally {
    display.stop()
    await library.close()
  }
}
