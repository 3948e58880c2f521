// The catalog's SQLite database: connection settings, and statements that are prepared once and run
// synchronously.
import Sqlite from 'better-sqlite3'
import type { Database as SqliteDatabase } from 'better-sqlite3'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError, unusableData } from '../../../base/errors.ts'
import { copyBeforeMigration } from './copy-catalog.ts'
import type { CopyOptions } from './copy-catalog.ts'
import { checkMigrated, checkNotNewer, migrate } from './migrations.ts'
import { columnNames, columnsOf } from './recording-columns.ts'

export interface DatabaseOptions extends CopyOptions {
  /**
   * Path of the SQLite file; its folder is created if missing. Empty: a temporary file, which ends
   * with the connection.
   */
  path: string
  /**
   * One process writes (and migrates), any number of processes read, or `join` the writer for a
   * small change. These require the file, migrated by the writer. `examine` reads a file of any
   * version up to that of this program, and leaves no other file beside it.
   */
  mode: 'read' | 'write' | 'join' | 'examine'
  /**
   * The role of a writing connection to a replica of a shared database: `scan` adds changes to the
   * outbox, `follow` applies what comes from the database. Default: the catalog is no replica, and
   * a catalog that was one is detached.
   */
  replica?: ReplicaRole | undefined
}

export type ReplicaRole = 'scan' | 'follow'

/** A prepared query with named parameters `P` and rows `R`. */
export interface Query<P, R> {
  all(parameters: P): R[]
  get(parameters: P): R | undefined
  /** Runs a change; returns the number of changed rows. */
  run(parameters: P): number
}

/** How long a statement waits for a lock held by another process. */
const BUSY_TIMEOUT_MS = 5000
/**
 * Every inspection is a transaction of a few pages: SQLite's default of 1000 would wait for the
 * disk too often.
 */
const CHECKPOINT_PAGES = 4000
/** Page cache of each connection: holds the indexes of a hundred thousand recordings. */
const CACHE_KIB = 32 * 1024

/**
 * Opens the database; in mode `write`, migrates it after a copy. @throws AppError `failed` with the
 * cause if it cannot be used; a file of a newer release then has not changed
 */
export function openDatabase({ path, mode, replica, ...copying }: DatabaseOptions): Database {
  const readonly = mode === 'read'
  let sqlite: SqliteDatabase | undefined
  try {
    const isTemporary = path === ''
    if (mode === 'write' && !isTemporary) mkdirSync(dirname(path), { recursive: true })
    const fileMustExist = mode !== 'write'
    sqlite = new Sqlite(path, { readonly, fileMustExist, timeout: BUSY_TIMEOUT_MS })
    sqlite.pragma('foreign_keys = ON')
    sqlite.pragma(`cache_size = -${CACHE_KIB}`)
    checkNotNewer(sqlite)
    if (mode === 'examine') sqlite.pragma('query_only = ON')
    else if (mode !== 'write') checkMigrated(sqlite)
    else {
      copyBeforeMigration(sqlite, copying)
      sqlite.pragma('journal_mode = WAL')
      sqlite.pragma('synchronous = NORMAL')
      sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      migrate(sqlite)
      if (replica === undefined) detachReplica(sqlite)
      else if (replica === 'scan') createOutbox(sqlite)
    }
    return new Database(sqlite)
  } catch (error) {
    sqlite?.close()
    if (error instanceof AppError) throw error
    throw unusableData(`${path} cannot be opened`, error)
  }
}

/** A connection with prepared queries and transactions. Statements run synchronously. */
export class Database {
  readonly #sqlite: SqliteDatabase

  constructor(sqlite: SqliteDatabase) {
    this.#sqlite = sqlite
  }

  /** Prepares a statement with parameters `@name`; the caller states the type of its rows. */
  query<P extends object = object, R = never>(text: string): Query<P, R> {
    const statement = this.#sqlite.prepare<[P], R>(text)
    return {
      all: (parameters) => statement.all(parameters),
      get: (parameters) => statement.get(parameters),
      run: (parameters) => statement.run(parameters).changes,
    }
  }

  /** Runs `work` in one write transaction, which is rolled back if it throws. */
  transaction<T>(work: () => T): T {
    return this.#sqlite.transaction(work).immediate()
  }

  close(): void {
    this.#sqlite.close()
  }
}

/** `listed` is derived. */
const SHARED_COLUMNS = `streamer_id, ${columnNames(columnsOf())}`

/**
 * Adds each recording that this connection changes to the outbox. The triggers end with the
 * connection, so that a catalog without a shared database pays nothing for them.
 */
export function createOutbox(sqlite: SqliteDatabase): void {
  for (const [event, row] of [
    ['INSERT', 'NEW'],
    [`UPDATE OF ${SHARED_COLUMNS}`, 'NEW'],
    ['DELETE', 'OLD'],
  ]) {
    const name = `outbox_${event?.split(' ')[0]?.toLowerCase()}`
    sqlite.exec(`
      CREATE TEMP TRIGGER ${name} AFTER ${event} ON main.recordings BEGIN
        DELETE FROM outbox WHERE name = ${row}.name
          AND folder = (SELECT path FROM folders WHERE id = ${row}.folder_id);
        INSERT INTO outbox (folder, name)
          SELECT path, ${row}.name FROM folders WHERE id = ${row}.folder_id;
      END`)
  }
}

/** Removes the position in a shared database: changes from here on are not in its outbox. */
export function detachReplica(sqlite: SqliteDatabase): void {
  if (sqlite.prepare('SELECT 1 FROM replica').get() === undefined) return
  sqlite.exec('DELETE FROM replica; DELETE FROM hidden_position; DELETE FROM outbox')
}
