// Whose catalog is in the data folder: no command fills that of another library.
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../base/config/load-config.ts'
import { AppError } from '../base/errors.ts'
import { createLayout } from '../library/catalog/names/layout.ts'
import { readOrigin } from '../library/catalog/store/catalog-origin.ts'
import { openDatabase } from '../library/catalog/store/database.ts'
import { formatLocation, locationName } from '../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../storage/recordings/storage-location.ts'
import { CATALOG_FILE } from './library.ts'

const REMEDY = 'name another folder with --data, or rebuild the catalog with --rebuild'

/**
 * Accepts a catalog that lists nothing, and that of the demo library. Changes nothing.
 *
 * @param demo folder of the demo library
 * @throws AppError `usage` if the catalog lists other recordings, or names sessions by another
 *   layout
 */
export async function refuseOtherCatalog(
  config: Config,
  location: StorageLocation,
  demo: string,
): Promise<void> {
  const path = join(config.data, CATALOG_FILE)
  if (!existsSync(path)) return
  const database = openDatabase({ path, mode: 'examine' })
  const origin = readOrigin(database)
  database.close()
  const refuse = (key: string, problem: string): AppError =>
    new AppError('usage', `${key}: the catalog in ${config.data} is ${problem}`)
  if (origin.isReplica && config.database === undefined) {
    throw refuse('database', 'of a cluster, but none is configured')
  }
  if (origin.isEmpty || origin.location === demo) return
  if (origin.location !== null && !(await isSamePlace(origin.location, formatLocation(location)))) {
    throw refuse('recordings', `of ${origin.location}: ${REMEDY}`)
  }
  const { identity } = createLayout(config.layout, locationName(location))
  if (origin.layout !== null && origin.layout !== identity) {
    throw otherLayout(config, `the catalog in ${config.data}`, `use that of the server, ${REMEDY}`)
  }
}

export function otherLayout({ layout }: Config, owner: string, remedy: string): AppError {
  return new AppError('usage', `layout: ${owner} has another layout than ${layout}: ${remedy}`)
}

async function isSamePlace(one: string, other: string): Promise<boolean> {
  if (one === other) return true
  const [real, otherReal] = await Promise.all(
    [one, other].map(async (place) => realpath(place).catch(() => place)),
  )
  return real === otherReal
}
