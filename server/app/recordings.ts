// Chooses the recordings to serve: the configured ones, or the demo library, created on first use.
import cluster from 'node:cluster'
import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'
import { hasDecoderPackage } from '../decoder-child/decoder-package.ts'
import { createDemoLibrary } from '../demo/demo-library.ts'
import { checkLocation } from '../storage/create-storage.ts'
import { parseLocation } from '../storage/storage-location.ts'
import type { StorageLocation } from '../storage/storage-location.ts'
import type { Io } from './io.ts'
import { requireAccess } from './require-access.ts'

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
    if (!cluster.isWorker) {
      const check = async (signal: AbortSignal) => checkLocation(location, signal)
      await requireAccess({ key: 'recordings', value: recordings, check, data, io })
    }
    return location
  }
  const path = join(data, DEMO_FOLDER)
  await createDemoLibrary(path, {
    onProgress: (line) => io.stderr(line),
    signal: io.signal,
    hasEncoders: hasDecoderPackage(),
  })
  return { kind: 'folder', path }
}
