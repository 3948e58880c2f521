// Chooses the recordings to serve: the configured ones, or the demo library, created on first use.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'
import { createDemoLibrary } from '../demo/demo-library.ts'
import { AppError, isAppError } from '../errors.ts'
import { checkLocation } from '../storage/create-storage.ts'
import { parseLocation } from '../storage/storage-location.ts'
import type { StorageLocation } from '../storage/storage-location.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'

const DEMO_FOLDER = 'demo-library'

/**
 * The location to serve.
 *
 * @throws AppError `usage` if the configured recordings cannot be read
 */
export async function chooseRecordings(config: Config, io: Io): Promise<StorageLocation> {
  const { recordings, s3, data } = config
  if (recordings !== undefined) {
    const location = parseLocation(recordings, s3.pathStyle)
    // The primary process has checked it, maybe long ago.
    if (!cluster.isWorker) await requireAccess(location, recordings, { data, io })
    return location
  }
  const path = join(data, DEMO_FOLDER)
  await createDemoLibrary(path, { onProgress: (line) => io.stderr(line), signal: io.signal })
  return { kind: 'folder', path }
}

async function requireAccess(
  location: StorageLocation,
  recordings: string,
  { data, io }: { data: string; io: Io },
): Promise<void> {
  try {
    await checkLocation(location, io.signal)
  } catch (error) {
    if (!isAppError(error)) throw error
    const problem = `recordings: ${recordings}: ${error.message}`
    // A store that is down: the lists of an earlier run are served meanwhile.
    if (error.code !== 'busy' || !existsSync(join(data, CATALOG_FILE))) {
      throw new AppError('usage', problem, { cause: error })
    }
    io.stderr(problem)
  }
}
