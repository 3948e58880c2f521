// Exchanges the built files of the page between the nodes of a cluster: during an upgrade, the page
// of one release may request its scripts from a node of another.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AssetFolder, Release } from '../../site/page-assets/asset-folder.ts'
import { addRelease, listReleases, readAssets } from '../postgres/shared-assets.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'

export interface ExchangeOptions {
  database: SharedDatabase
  /** Reads that of this node. */
  readRelease: () => Promise<Release>
  folder: AssetFolder
  onFailure: (error: unknown) => void
  signal: AbortSignal
}

const LIST_EVERY_MS = 2000

/**
 * Adds the release of this node, and follows those of others until the signal aborts. Failures are
 * repeated, and reported once until it succeeds.
 */
export async function exchangeAssets(options: ExchangeOptions): Promise<void> {
  const { database, readRelease, onFailure, signal } = options
  const known = new Set<string>()
  let isAdded = false
  let hasFailed = false
  while (!signal.aborted) {
    try {
      if (!isAdded) {
        const release = await readRelease()
        await addRelease(database, release)
        known.add(release.id)
        isAdded = true
      }
      await copyUnknown(options, known)
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onFailure(error)
      hasFailed = true
    }
    await sleep(LIST_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

async function copyUnknown(
  { database, folder }: ExchangeOptions,
  known: Set<string>,
): Promise<void> {
  for (const id of await listReleases(database)) {
    if (known.has(id)) continue
    await folder.add(await readAssets(database, id))
    known.add(id)
  }
}
