// The built page, and the scripts of earlier releases that tabs may still load.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../base/config/load-config.ts'
import { AssetFolder, readRelease } from '../site/page-assets/asset-folder.ts'
import type { Release } from '../site/page-assets/asset-folder.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { Serving } from './library.ts'

/** dist/web of this package, whether run from source or from dist/server. */
export function builtPageFolder(): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? '../../dist/web' : '../../web', here))
}

/** With the assets of all releases that this node has served, or has copied from others. */
export function pageAssetsFolder({ data }: Pick<Config, 'data'>): string {
  return join(data, 'page-assets')
}

/** Adds the assets of this release to those of earlier ones. A failure costs only open tabs. */
export async function addPageAssets({
  config,
  logger,
}: Pick<Serving, 'config' | 'logger'>): Promise<void> {
  try {
    const { assets } = await readBuiltRelease()
    await new AssetFolder(pageAssetsFolder(config)).add(assets)
  } catch (err) {
    // The server then reports that the page is not built.
    if (!existsSync(builtPageFolder())) return
    logger.warn({ err }, 'scripts of the page could not be stored for open tabs')
  }
}

/** As `addPageAssets`, for the nodes of a cluster, until the signal aborts. */
export async function exchangePageAssets(
  config: Pick<Config, 'data'>,
  { exchangeAssets }: Pick<Cluster, 'exchangeAssets'>,
  signal: AbortSignal,
): Promise<void> {
  const folder = new AssetFolder(pageAssetsFolder(config))
  return exchangeAssets({ readRelease: readBuiltRelease, folder, signal })
}

async function readBuiltRelease(): Promise<Release> {
  return readRelease(join(builtPageFolder(), 'assets'))
}
