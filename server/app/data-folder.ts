// The data folder of a site: claimed by the one process that writes it, or required to be there.
import Sqlite from 'better-sqlite3'
import { accessSync } from 'node:fs'
import { access, appendFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withTimeout } from '../../shared/with-timeout.ts'
import type { Config } from '../base/config/load-config.ts'
import { AppError, codeOf, reasonOf, unusableData } from '../base/errors.ts'
import { makeFolder } from '../storage/recordings/make-folder.ts'
import { containsLocation, parseLocation } from '../storage/recordings/storage-location.ts'
import type { Io } from './io.ts'
import { CATALOG_FILE } from './library.ts'

/**
 * SQLite locks it, so that the system unlocks it when its process dies, on every file system on
 * which the catalog works. Its user version is the process id.
 */
const LOCK_FILE = 'lock.sqlite'
/** A file system that takes longer does not respond. */
const RESPONDS_WITHIN_MS = 30_000

type ClaimIo = Pick<Io, 'signal' | 'processId'>

/**
 * Makes the data folder if it is missing, and locks it until the lock is disposed.
 *
 * @throws AppError `usage` if it would be inside the recordings, cannot be made, or another process
 *   has locked it; `failed` if it cannot be used
 */
export async function claimDataFolder(config: Config, io: ClaimIo): Promise<Disposable> {
  const { data } = config
  const prepare = async (): Promise<void> => {
    await refuseInsideRecordings(config)
    await access(data).catch(async () => make(data))
    // SQLite does not report the system's reason.
    await appendFile(join(data, LOCK_FILE), '').catch((cause: unknown) => {
      throw unusableData(data, cause)
    })
  }
  await withTimeout(prepare, {
    timeoutMs: RESPONDS_WITHIN_MS,
    signal: io.signal,
    reason: () => new AppError('failed', `data: the file system of ${data} does not respond`),
  })
  return lock(data, io.processId)
}

async function make(data: string): Promise<void> {
  await makeFolder(data).catch((cause: unknown) => {
    const remedy = 'name another folder with --data'
    throw new AppError('usage', `data: ${data}: ${reasonOf(cause)}; ${remedy}`, { cause })
  })
}

/** @throws AppError `usage` if no server has made the data folder; `failed` without permission */
export function requireCatalog({ data }: Pick<Config, 'data'>): void {
  try {
    accessSync(join(data, CATALOG_FILE))
    return
  } catch (cause) {
    if (!['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) throw unusableData(data, cause)
  }
  const remedy = 'name the data folder of the site with --data, or its configuration with --config'
  throw new AppError('usage', `data: ${data} has no catalog: ${remedy}`)
}

/** @throws AppError `usage` if there is more in the claimed data folder than its lock */
export async function requireEmpty(data: string): Promise<void> {
  const names = (await readdir(data)).filter((name) => !name.startsWith(LOCK_FILE))
  if (names.length === 0) return
  const remedy = 'name an empty or new folder with --data'
  throw new AppError('usage', `data: ${data} is not empty: ${remedy}`)
}

/**
 * Recordings are never written to, and a scan would find what is in the data folder.
 *
 * @throws AppError `usage`
 */
export async function refuseInsideRecordings({ recordings, s3, data }: Config): Promise<void> {
  if (recordings === undefined) return
  const location = parseLocation(recordings, s3.pathStyle)
  if (!(await containsLocation(location, { kind: 'folder', path: data }))) return
  const remedy = 'name a folder outside of them with --data'
  throw new AppError('usage', `data: ${data} is inside the recordings ${recordings}: ${remedy}`)
}

function lock(data: string, processId: number): Disposable {
  const path = join(data, LOCK_FILE)
  let database: Sqlite.Database | undefined
  try {
    database = new Sqlite(path, { timeout: 0 })
    // No file beside it, and no wait for the disk: nothing in it must survive.
    database.pragma('journal_mode = MEMORY')
    database.pragma('synchronous = OFF')
    database.exec('BEGIN IMMEDIATE')
    writeProcessId(database, processId)
    database.exec('BEGIN IMMEDIATE')
  } catch (cause) {
    database?.close()
    if (isBusy(cause)) throw inUse(data, path, cause)
    throw unusableData(`${path} cannot be locked`, cause)
  }
  const locked = database
  return { [Symbol.dispose]: () => void locked.close() }
}

/** For the message alone: on a full disk, the lock works without it. */
function writeProcessId(database: Sqlite.Database, processId: number): void {
  try {
    database.pragma(`user_version = ${processId}`)
    database.exec('COMMIT')
  } catch {
    if (database.inTransaction) database.exec('ROLLBACK')
  }
}

function inUse(data: string, path: string, cause: unknown): AppError {
  const remedy = 'stop it, or name another folder with --data'
  return new AppError('usage', `data: ${ownerOf(path)} uses ${data}: ${remedy}`, { cause })
}

function ownerOf(path: string): string {
  try {
    const database = new Sqlite(path, { readonly: true })
    const processId = database.pragma('user_version', { simple: true })
    database.close()
    return `process ${String(processId)}`
  } catch {
    return 'another process'
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
