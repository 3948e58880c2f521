// The catalog's database: SQLite opened as it must be, and queries built by Kysely once and run synchronously.
import Sqlite from 'better-sqlite3'
import type { Database as SqliteDatabase } from 'better-sqlite3'
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { Compilable, RawBuilder } from 'kysely'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../errors.ts'
import { checkMigrated, migrate } from './migrations.ts'
import type { CatalogSchema } from './schema.ts'

export interface DatabaseOptions {
  /** Path of the SQLite file; its folder is made where it lacks. */
  path: string
  /** One process writes (and migrates), any number read beside it. A reader needs the file to be there. */
  mode: 'read' | 'write'
}

/** A prepared query with named parameters `P` and rows `R`. */
export interface Query<P, R> {
  all(parameters: P): R[]
  get(parameters: P): R | undefined
  /** Runs a change; answers the number of rows changed. */
  run(parameters: P): number
}

/** A place in a query that is filled when it runs. */
export type Parameter<P> = <K extends keyof P & string>(name: K) => RawBuilder<P[K]>

type Build<P, R> = (kysely: Kysely<CatalogSchema>, parameter: Parameter<P>) => Compilable<R>

/** How long a statement waits for another process's transaction. */
const BUSY_TIMEOUT_MS = 5000
/** Each inspection is a transaction of a few pages; with SQLite's own 1000 every few hundredth would wait for the disk. */
const CHECKPOINT_PAGES = 4000
/** Pages kept in memory by each connection: enough for the indexes of a hundred thousand recordings. */
const CACHE_KIB = 32 * 1024

/** Opens the catalog's database, migrated. Throws AppError `failed` where it cannot be used, with the cause. */
export function openDatabase({ path, mode }: DatabaseOptions): Database {
  const readonly = mode === 'read'
  let sqlite: SqliteDatabase | undefined
  try {
    if (!readonly) mkdirSync(dirname(path), { recursive: true })
    sqlite = new Sqlite(path, { readonly, fileMustExist: readonly, timeout: BUSY_TIMEOUT_MS })
    sqlite.pragma('foreign_keys = ON')
    sqlite.pragma(`cache_size = -${CACHE_KIB}`)
    if (readonly) checkMigrated(sqlite)
    else {
      sqlite.pragma('journal_mode = WAL')
      sqlite.pragma('synchronous = NORMAL')
      sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      migrate(sqlite)
    }
    return new Database(sqlite)
  } catch (error) {
    sqlite?.close()
    if (error instanceof AppError) throw error
    throw new AppError('failed', 'the catalog cannot be opened', { cause: error })
  }
}

/** A connection: prepared queries and transactions. Statements run at once, on the calling thread. */
export class Database {
  readonly #sqlite: SqliteDatabase
  readonly #kysely = new Kysely<CatalogSchema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })

  constructor(sqlite: SqliteDatabase) {
    this.#sqlite = sqlite
  }

  /**
   * Compiles and prepares a query once. Called in two steps, as the parameters' type must be named while the rows'
   * type follows from the query: `database.prepare<{ name: string }>()((kysely, parameter) => ...)`.
   */
  prepare<P>(): <R>(build: Build<P, R>) => Query<P, R> {
    return <R>(build: Build<P, R>) => {
      const compiled = build(this.#kysely, parameterOf).compile()
      const statement = this.#sqlite.prepare<unknown[], R>(compiled.sql)
      const values = (parameters: P): unknown[] =>
        compiled.parameters.map((value) =>
          value instanceof Slot ? Reflect.get(Object(parameters), value.name) : value,
        )
      return {
        all: (parameters) => statement.all(...values(parameters)),
        get: (parameters) => statement.get(...values(parameters)),
        run: (parameters) => statement.run(...values(parameters)).changes,
      }
    }
  }

  /** Runs `work` in one write transaction: all of it or nothing is kept. */
  transaction<T>(work: () => T): T {
    return this.#sqlite.transaction(work).immediate()
  }

  close(): void {
    this.#sqlite.close()
  }
}

/** Stands in a compiled query's parameter list for a value that is given when the query runs. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

function parameterOf<T>(name: string): RawBuilder<T> {
  return sql<T>`${new Slot(name)}`
}
