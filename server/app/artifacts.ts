// Opens what nodes share of the artifacts: at the configured location, or nothing.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import { checkArtifacts, openArtifacts } from '../storage/artifacts/open-artifacts.ts'
import { SharedArtifacts } from '../storage/artifacts/shared-artifacts.ts'
import type { Config } from '../base/config/load-config.ts'
import { AppError } from '../base/errors.ts'
import { containsLocation, parseLocation } from '../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../storage/recordings/storage-location.ts'
import type { Io } from './io.ts'
import { requireAccess } from './require-access.ts'

export interface SharedArtifactsSources {
  config: Config
  /** Where the recordings are. */
  location: StorageLocation
  logger: Logger
  io: Io
  /** `read` makes nothing, and does without them where they are not there. Default `write`. */
  access?: 'read' | 'write'
}

/**
 * Undefined if artifacts are in the data folder only.
 *
 * @throws AppError `usage` if they cannot be written, or would be inside the recordings
 */
export async function openSharedArtifacts({
  config: { artifacts, s3, data },
  location: recordings,
  logger,
  io,
  access = 'write',
}: SharedArtifactsSources): Promise<SharedArtifacts | undefined> {
  if (artifacts === undefined) return undefined
  const location = parseLocation(artifacts, s3.pathStyle)
  if (await containsLocation(recordings, location)) {
    throw new AppError('usage', `artifacts: ${artifacts}: must not be inside the recordings`)
  }
  // The primary process has checked it, maybe long ago.
  if (!cluster.isWorker && access === 'write') {
    const check = async (signal: AbortSignal) => checkArtifacts(location, signal)
    await requireAccess({ key: 'artifacts', value: artifacts, check, data, io })
  }
  return new SharedArtifacts({ store: await openArtifacts(location), log: logger })
}
