// `aftercast restore`: puts the archive of a backup into an empty data folder, and into the empty
// database of a cluster.
import Sqlite from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { extract, list } from 'tar'
import type { ReadEntry } from 'tar'
import { formatDatabase } from '../../base/config/database-url.ts'
import type { Config } from '../../base/config/load-config.ts'
import { AppError, reasonOf, unusableData } from '../../base/errors.ts'
import { isUsed } from '../../cluster/postgres/library-row.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'
import { openDatabase } from '../../library/catalog/store/database.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import { migrateWithWarning, withSharedDatabase } from '../cluster/connect-database.ts'
import { claimDataFolder, requireEmpty } from '../data-folder.ts'
import type { Io } from '../io.ts'
import { CATALOG_FILE } from '../library.ts'
import { BACKUP_NAMES } from './backup.ts'
import { migrate } from './migrate.ts'

/** No links. */
const ENTRY_TYPES: ReadonlySet<string> = new Set(['File', 'OldFile', 'Directory'])

/**
 * Returns the exit code 0. A folder or database that is not empty stays as it is.
 *
 * @throws AppError `usage` if the data folder or the database is not empty; `failed` if the archive
 *   is no backup, was written by a newer release, or cannot be read
 */
export async function restore(config: Config, file: string, io: Io): Promise<number> {
  const { data, database } = config
  if (database !== undefined) await requireEmptyDatabase(database, io)
  {
    using _claim = await claimDataFolder(config, io)
    await requireEmpty(data)
    const names = await restoreFolder(resolve(file), data)
    io.stdout(`${names.join(', ')} of ${file} are in ${data}`)
  }
  return database === undefined ? 0 : await migrate(config, database, io)
}

async function requireEmptyDatabase(url: string, io: Io): Promise<void> {
  const prepare = async (shared: SharedDatabase) => migrateWithWarning(shared, io.stderr)
  if (!(await withSharedDatabase(url, isUsed, prepare))) return
  const remedy = 'name an empty one, or restore a dump with pg_restore'
  throw new AppError('usage', `database: ${formatDatabase(url)} is not empty: ${remedy}`)
}

/** Returns what the data folder has now. */
async function restoreFolder(archive: string, data: string): Promise<string[]> {
  // In the data folder: its file system is that of the files.
  const scratch = await mkdtemp(join(data, '.restore-'))
  try {
    await unpack(archive, scratch)
    checkDatabases(scratch)
    const names: string[] = []
    for (const name of BACKUP_NAMES) {
      if (!existsSync(join(scratch, name))) continue
      await mkdir(dirname(join(data, name)), { recursive: true })
      // The catalog, the last one, makes it the data folder of a site.
      await rename(join(scratch, name), join(data, name))
      names.push(name)
    }
    return names
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('failed', `the backup ${archive}: ${reasonOf(error)}`, { cause: error })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Unpacks the archive if it has nothing but what belongs to a backup. */
async function unpack(file: string, scratch: string): Promise<void> {
  const paths: string[] = []
  const strange: string[] = []
  const onReadEntry = ({ path, type }: ReadEntry): void => {
    const list = ENTRY_TYPES.has(type) && belongs(path) ? paths : strange
    list.push(path)
  }
  await list({ file, strict: true, onReadEntry })
  if (strange[0] !== undefined) throw noBackup(file, `${strange[0]} is not part of one`)
  if (!paths.includes(CATALOG_FILE)) throw noBackup(file, `it has no ${CATALOG_FILE}`)
  await extract({ file, cwd: scratch, strict: true })
}

/** The library that unpacks refuses `..`, too. */
function belongs(path: string): boolean {
  if (path.split('/').includes('..')) return false
  return BACKUP_NAMES.some((name) => path === name || path.startsWith(`${name}/`))
}

function noBackup(file: string, reason: string): AppError {
  return new AppError('failed', `${file} is no backup: ${reason}`)
}

/** A damaged or newer database is noticed now, and not when the server starts. */
function checkDatabases(folder: string): void {
  openDatabase({ path: join(folder, CATALOG_FILE), mode: 'examine' }).close()
  for (const name of [CATALOG_FILE, ACTIVITY_FILE]) {
    const path = join(folder, name)
    if (existsSync(path)) checkDatabase(path)
  }
}

function checkDatabase(path: string): void {
  try {
    const database = new Sqlite(path, { readonly: true })
    const found: unknown = database.pragma('quick_check(1)', { simple: true })
    database.close()
    if (found !== 'ok') throw new Error(String(found))
  } catch (cause) {
    throw unusableData(`${path} is damaged`, cause)
  }
}
