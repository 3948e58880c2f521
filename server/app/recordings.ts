// Chooses the recordings to serve: the configured ones, or the demo library, created on first use.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config/load-config.ts'
import { hasDecoderPackage } from '../decode/child/decoder-package.ts'
import { createDemoLibrary } from '../demo/demo-library.ts'
import { AppError } from '../base/errors.ts'
import { checkLocation } from '../storage/recordings/create-storage.ts'
import { parseLocation } from '../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../storage/recordings/storage-location.ts'
import { refuseOtherCatalog } from './catalog-owner.ts'
import { claimDataFolder } from './data-folder.ts'
import type { Io } from './io.ts'
import { requireAccess } from './require-access.ts'

export const DEMO_FOLDER = 'demo-library'

/** Recordings whose data folder belongs to this process until it is disposed. */
export interface ClaimedRecordings extends Disposable {
  location: StorageLocation
}

/**
 * The location to serve, with the data folder locked; workers share the lock of their primary.
 *
 * @param mayRebuild whether the catalog may be of other recordings or of another layout
 * @throws AppError `usage` if the configured recordings cannot be read, or as `claimDataFolder` and
 *   `refuseOtherCatalog`
 */
export async function claimRecordings(
  config: Config,
  io: Io,
  mayRebuild: boolean,
): Promise<ClaimedRecordings> {
  const configured = await findConfigured(config, io)
  const claim = cluster.isWorker ? undefined : await claimDataFolder(config, io)
  try {
    const demo = join(config.data, DEMO_FOLDER)
    const location = configured ?? { kind: 'folder', path: demo }
    if (!mayRebuild && !cluster.isWorker) await refuseOtherCatalog(config, location, demo)
    if (configured === undefined) await createDemo(demo, io)
    return { location, [Symbol.dispose]: () => claim?.[Symbol.dispose]() }
  } catch (error) {
    claim?.[Symbol.dispose]()
    throw error
  }
}

/**
 * The location that a server of this configuration serves. Makes nothing.
 *
 * @throws AppError `usage` if there is none, or it cannot be read
 */
export async function findRecordings(config: Config, io: Io): Promise<StorageLocation> {
  const configured = await findConfigured(config, io)
  if (configured !== undefined) return configured
  const path = join(config.data, DEMO_FOLDER)
  if (existsSync(path)) return { kind: 'folder', path }
  throw new AppError('usage', 'recordings: none are configured: name their folder')
}

async function findConfigured(config: Config, io: Io): Promise<StorageLocation | undefined> {
  const { recordings, s3, data } = config
  if (recordings === undefined) return undefined
  const location = parseLocation(recordings, s3.pathStyle)
  // The primary process has checked it, maybe long ago.
  if (!cluster.isWorker) {
    const check = async (signal: AbortSignal) => checkLocation(location, signal)
    await requireAccess({ key: 'recordings', value: recordings, check, data, io })
  }
  return location
}

async function createDemo(folder: string, io: Io): Promise<void> {
  await createDemoLibrary(folder, {
    onProgress: (line) => io.stderr(line),
    signal: io.signal,
    hasEncoders: hasDecoderPackage(),
  })
}
