// The only place that creates a store of artifacts from its location.
import { closing } from '../../base/closing.ts'
import type { StorageLocation } from '../recordings/storage-location.ts'
import type { ArtifactStore } from './artifact-store.ts'
import { FolderArtifacts, checkFolder } from './folder-artifacts.ts'

/** Nothing is read yet. */
export async function openArtifacts(location: StorageLocation): Promise<ArtifactStore> {
  if (location.kind === 'folder') return new FolderArtifacts(location.path)
  // The SDK takes a moment to load.
  const { BucketArtifacts } = await import('./bucket-artifacts.ts')
  return BucketArtifacts.open(location)
}

/**
 * Resolves if artifacts can be read and written.
 *
 * @throws AppError `busy` if that may change by itself, else `failed`
 */
export async function checkArtifacts(
  location: StorageLocation,
  signal: AbortSignal,
): Promise<void> {
  if (location.kind === 'folder') return checkFolder(location.path)
  const { BucketArtifacts } = await import('./bucket-artifacts.ts')
  const artifacts = await BucketArtifacts.open(location)
  using _closing = closing(artifacts)
  await artifacts.checkAccess(signal)
}
