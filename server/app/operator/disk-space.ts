// Free space of the folders of this node.
import { statfs } from 'node:fs/promises'
import { withTimeout } from '../../../shared/with-timeout.ts'
import type { Disk, DiskSpace, Part } from '../../site/operator/operator-state.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'

const TIMEOUT_MS = 1000

/** Where something is stored, by what the page calls it. */
export type DiskLocations = readonly (readonly [contents: string, location: StorageLocation])[]

/**
 * Reads the free space of each folder. One on a network that does not respond is `unknown`, and is
 * not read again until it responds, since each read occupies a thread.
 */
export function createDiskReader(locations: DiskLocations): () => Promise<Disk[]> {
  const running = new Map<string, Promise<DiskSpace>>()
  const read = async (path: string): Promise<DiskSpace> => {
    const { bavail, blocks, bsize } = await statfs(path)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  }
  const readOnce = (path: string): Promise<DiskSpace> => {
    const reading = running.get(path) ?? read(path).finally(() => running.delete(path))
    running.set(path, reading)
    return reading
  }
  const partOf = async (path: string): Promise<Part<DiskSpace>> => {
    const limited = withTimeout(() => readOnce(path), { timeoutMs: TIMEOUT_MS })
    return limited.then(
      (value) => ({ status: 'known', value }) as const,
      () => ({ status: 'unknown' }) as const,
    )
  }
  return async () =>
    Promise.all(
      locations.map(async ([contents, location]) => {
        if (location.kind === 's3') return { contents, space: { status: 'object-store' } as const }
        return { contents, space: await partOf(location.path) }
      }),
    )
}
