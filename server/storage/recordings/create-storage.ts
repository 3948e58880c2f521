// The only place that creates storage from its location.
import { access, constants, stat } from 'node:fs/promises'
import { AppError, reasonOf } from '../../base/errors.ts'
import type { FolderThread } from './folder/folder-thread.ts'
import { FolderStorage } from './folder/folder-storage.ts'
import { loadPageCache } from './page-cache.ts'
import type { StorageLocation } from './storage-location.ts'
import type { LibraryStorage } from './storage.ts'

export interface StorageOptions {
  /** Called for every entry that is ignored for a reason of interest to the operator. */
  onSkipped?: (reason: string, path: string) => void
  /** Reads very large folders off the event loop. */
  folderThread?: FolderThread
  /** Limit of the cached blocks of objects. */
  cacheBytes?: number
}

/** The storage at a location. Nothing is read yet. */
export async function createStorage(
  location: StorageLocation,
  { cacheBytes, ...options }: StorageOptions = {},
): Promise<LibraryStorage> {
  if (location.kind === 'folder') {
    return new FolderStorage(location.path, { ...options, pageCache: await loadPageCache() })
  }
  // The SDK takes a moment to load.
  const { createS3Storage } = await import('./s3/s3-storage.ts')
  return createS3Storage(location, cacheBytes === undefined ? {} : { cacheBytes })
}

/**
 * Resolves if the recordings can be listed.
 *
 * @throws AppError `busy` if that may change by itself, else with another code
 */
export async function checkLocation(location: StorageLocation, signal: AbortSignal): Promise<void> {
  if (location.kind === 'folder') {
    const found = await stat(location.path).catch(() => undefined)
    if (found?.isDirectory() !== true) throw new AppError('not_found', 'there is no such folder')
    await access(location.path, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
      const remedy = 'give this user read and execute permission (chmod o+rx, or setfacl)'
      throw new AppError('failed', `${reasonOf(cause)}: ${remedy}`, { cause })
    })
    return
  }
  const { createS3Storage } = await import('./s3/s3-storage.ts')
  await (await createS3Storage(location)).hasContent(signal)
}
