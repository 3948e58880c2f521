// `aftercast backup`: what cannot be made again of the data folder, as one tar archive.
import Sqlite from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import { chmod, copyFile, link, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { create, replace } from 'tar'
import { HOUSE_FOLDER } from '../../site/ads/advertising.ts'
import type { Config } from '../../base/config/load-config.ts'
import { SECRET_FILE } from '../../stream/delivery/secret.ts'
import { AppError, codeOf, reasonOf, unusableData } from '../../base/errors.ts'
import { RECORD_FOLDERS } from '../../stream/hls/session/session-opener.ts'
import { TEMPORARY_SUFFIX } from '../../storage/recordings/atomic-write.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import { requireCatalog } from '../data-folder.ts'
import type { Io } from '../io.ts'
import { CATALOG_FILE, INDEX_FOLDER } from '../library.ts'

const DATABASES = [CATALOG_FILE, ACTIVITY_FILE]
const RECORDS = Object.values(RECORD_FOLDERS).map((folder) => join(INDEX_FOLDER, folder))

/** What an archive may have: files, and folders with what is in them. The catalog is last. */
export const BACKUP_NAMES = [HOUSE_FOLDER, ...RECORDS, SECRET_FILE, ACTIVITY_FILE, CATALOG_FILE]

/**
 * Writes the archive while servers run; returns the exit code 0. Its files belong into an empty
 * data folder. Only the owner can read it: it has the HLS secret.
 *
 * @throws AppError `usage` in a cluster, whose database is backed up instead, or if there is
 *   nothing to back up; `failed` if the file exists or cannot be written
 */
export async function backup({ data, database }: Config, file: string, io: Io): Promise<number> {
  if (database !== undefined) {
    throw new AppError('usage', 'database: back it up with pg_dump; the data folder is a copy')
  }
  requireCatalog({ data })
  const target = resolve(file)
  try {
    // On the file system of the archive, so that it can be linked into place.
    const scratch = await mkdtemp(join(dirname(target), '.aftercast-backup-'))
    try {
      const names = await copyFiles(data, scratch)
      const archive = join(scratch, randomUUID())
      const options = { file: archive, portable: true, strict: true }
      await create({ ...options, cwd: scratch }, names)
      if (await exists(join(data, HOUSE_FOLDER))) {
        await replace({ ...options, cwd: data }, [HOUSE_FOLDER])
        names.push(HOUSE_FOLDER)
      }
      await chmod(archive, 0o600)
      // Unlike a rename, replaces nothing.
      await link(archive, target)
      io.stdout(`${names.join(', ')} of ${data} are in ${file}`)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('failed', `the backup ${target}: ${reasonOf(error)}`, { cause: error })
  }
  return 0
}

/** Returns the names of the copies. */
async function copyFiles(data: string, target: string): Promise<string[]> {
  const names: string[] = []
  for (const name of DATABASES) {
    if (!(await exists(join(data, name)))) continue
    copyDatabase(join(data, name), join(target, name))
    names.push(name)
  }
  if (await exists(join(data, SECRET_FILE))) {
    await copyFile(join(data, SECRET_FILE), join(target, SECRET_FILE))
    names.push(SECRET_FILE)
  }
  for (const name of RECORDS) {
    if (!(await exists(join(data, name)))) continue
    await copyRecords(join(data, name), join(target, name))
    names.push(name)
  }
  return names
}

/** A folder is copied again if a server has replaced one of its files meanwhile. */
async function copyRecords(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyRecords(source, copy)
    else if (!entry.name.endsWith(TEMPORARY_SUFFIX) && !(await copyIfPresent(source, copy))) {
      return copyRecords(from, to)
    }
  }
}

async function copyIfPresent(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to)
    return true
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return false
  }
}

/**
 * A consistent copy, also while another process writes: one read transaction, where SQLite's backup
 * API would start again after each write.
 */
function copyDatabase(from: string, to: string): void {
  const database = new Sqlite(from, { readonly: true, fileMustExist: true })
  try {
    database.prepare('VACUUM INTO ?').run(to)
  } catch (cause) {
    throw unusableData(`${from} cannot be copied`, cause)
  } finally {
    database.close()
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
