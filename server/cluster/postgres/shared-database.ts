// Connections to the shared PostgreSQL database, with time limits. Nothing depends on the state of
// a session, so that PgBouncer may pool by transaction.
import pg from 'pg'
import { sql } from './sql.ts'
import type { Queryable, Statement, StatementResult } from './sql.ts'

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
  return new SharedDatabase(createPool(url, { ...limits, onLost }))
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

export class SharedDatabase implements Queryable {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async query(text: string, values: readonly unknown[]): Promise<StatementResult> {
    return this.#connect(async (connection) => connection.query(text, values))
  }

  /** See `inTransaction`, which has time limits. */
  async transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    return this.#connect(async (connection) => {
      await connection.query('begin', [])
      try {
        const result = await work(connection)
        await connection.query('commit', [])
        return result
      } catch (error) {
        // A connection whose statement failed is closed, which ends the transaction too.
        if (!connection.hasFailed) await connection.query('rollback', [])
        throw error
      }
    })
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }

  async #connect<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = new Connection(await this.#pool.connect())
    try {
      return await work(connection)
    } finally {
      connection.release()
    }
  }
}

/** Closed if a statement failed: it may still wait for a response. */
class Connection implements Queryable {
  readonly #client: pg.PoolClient
  hasFailed = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  async query(text: string, values: readonly unknown[]): Promise<StatementResult> {
    try {
      return await this.#client.query(text, [...values])
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  release(): void {
    this.#client.release(this.hasFailed)
  }
}

/**
 * Runs a statement that reads a table in pages by an index. Otherwise PostgreSQL may prefer to read
 * and sort the whole table for each page.
 */
export async function inIndexOrder(
  database: SharedDatabase,
  statement: Statement,
  limits = NODE_LIMITS,
): Promise<unknown[]> {
  const work = async (transaction: Queryable): Promise<unknown[]> => {
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
  work: (transaction: Queryable) => Promise<T>,
  { statementMs } = NODE_LIMITS,
): Promise<T> {
  const limit = String(statementMs)
  return database.transaction(async (transaction) => {
    await sql`
      SELECT set_config('statement_timeout', ${limit}, true),
        set_config('lock_timeout', ${limit}, true),
        set_config('idle_in_transaction_session_timeout', ${limit}, true)`.execute(transaction)
    return work(transaction)
  })
}
