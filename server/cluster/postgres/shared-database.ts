// Connections to the shared PostgreSQL database, with time limits. Nothing depends on the state of
// a session, so that PgBouncer may pool by transaction.
import { Kysely, PostgresDialect, sql } from 'kysely'
import type {
  PostgresCursor,
  PostgresPool,
  PostgresPoolClient,
  PostgresQueryResult,
  RawBuilder,
  Transaction,
} from 'kysely'
import pg from 'pg'
import type { SharedSchema } from './schema.ts'

export type SharedDatabase = Kysely<SharedSchema>

/** Limits of a set of connections. */
export interface ConnectionLimits {
  /** The loops of a node run one statement at a time each. */
  maxConnections: number
  connectMs: number
  /** Longest statement; the connection is closed then, and the statement may still succeed. */
  statementMs: number
}

const NODE_LIMITS: ConnectionLimits = {
  maxConnections: 4,
  connectMs: 5000,
  statementMs: 15_000,
}
/** Of the connection for hidden names: a silent one must be replaced within seconds. */
export const HIDE_LIMITS: ConnectionLimits = {
  maxConnections: 1,
  connectMs: 2000,
  statementMs: 2000,
}
const KEEP_ALIVE_MS = 10_000

/**
 * Connects when a statement needs it. `onLost` receives the errors of connections that fail while
 * no statement runs; those of statements reject them.
 */
export function openSharedDatabase(
  url: string,
  onLost: (error: Error) => void,
  limits = NODE_LIMITS,
): SharedDatabase {
  const pool = createPool(url, { ...limits, onLost })
  return new Kysely<SharedSchema>({ dialect: new PostgresDialect({ pool: discardFailed(pool) }) })
}

export interface PoolOptions extends Partial<ConnectionLimits> {
  /** As of `openSharedDatabase`. */
  onLost: (error: Error) => void
}

/** Connections with the time limits of this program. */
export function createPool(url: string, { onLost, ...given }: PoolOptions): pg.Pool {
  const limits = { ...NODE_LIMITS, ...given }
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.maxConnections,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.statementMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'aftercast',
  })
  pool.on('error', onLost)
  // The pool handles errors of idle clients only.
  pool.on('connect', (client) => client.on('error', onLost))
  return pool
}

/** A pool that closes each connection whose statement failed: it may still wait for a response. */
function discardFailed(pool: pg.Pool): PostgresPool {
  return {
    options: {},
    connect: async () => new DiscardedClient(await pool.connect()),
    end: async () => pool.end(),
  }
}

class DiscardedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #hasFailed = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R>(
    text: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof text !== 'string') throw new TypeError('cursors are not used')
    return this.#run<R>(text, [...parameters])
  }

  async #run<R>(text: string, parameters: unknown[]): Promise<PostgresQueryResult<R>> {
    try {
      const { command, rowCount, rows } = await this.#client.query(text, parameters)
      return { command: isCommand(command) ? command : 'SELECT', rowCount: rowCount ?? 0, rows }
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  release(): void {
    this.#client.release(this.#hasFailed)
  }
}

const commands = ['UPDATE', 'DELETE', 'INSERT', 'SELECT', 'MERGE', 'COMMIT', 'ROLLBACK'] as const

/** Kysely reads the row counts of some commands, and the end of transactions. */
function isCommand(command: string): command is (typeof commands)[number] {
  return commands.some((known) => known === command)
}

/**
 * Runs a statement that reads a table in pages by an index. Otherwise PostgreSQL may prefer to read
 * and sort the whole table for each page.
 */
export async function inIndexOrder(
  database: SharedDatabase,
  statement: RawBuilder<unknown>,
  limits = NODE_LIMITS,
): Promise<unknown[]> {
  const work = async (transaction: Transaction<SharedSchema>): Promise<unknown[]> => {
    await sql`
      SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)
      `.execute(transaction)
    return (await statement.execute(transaction)).rows
  }
  return inTransaction(database, work, limits)
}

/**
 * Runs several statements in one transaction. The server ends it if this node stops responding, so
 * that its locks do not stop the others.
 */
export async function inTransaction<T>(
  database: SharedDatabase,
  work: (transaction: Transaction<SharedSchema>) => Promise<T>,
  { statementMs } = NODE_LIMITS,
): Promise<T> {
  const limit = String(statementMs)
  return database.transaction().execute(async (transaction) => {
    await sql`
      SELECT set_config('statement_timeout', ${limit}, true),
        set_config('lock_timeout', ${limit}, true),
        set_config('idle_in_transaction_session_timeout', ${limit}, true)`.execute(transaction)
    return work(transaction)
  })
}
