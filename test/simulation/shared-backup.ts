// The content of the shared database between seeds, and the backup that an operator restores.
import pg from 'pg'
import { migrateSharedDatabase } from '../../server/cluster/postgres/migrations.ts'
import { SharedDatabase } from '../../server/cluster/postgres/shared-database.ts'
import type { DatabaseServer } from './database-server.ts'

// Others are simulated.
const RealPool = pg.Pool

export class SharedBackup {
  readonly #server: DatabaseServer
  readonly #tables: readonly string[]
  /** Of this release. */
  readonly #steps: number
  #hasBackup = false

  private constructor(server: DatabaseServer, tables: readonly string[], steps: number) {
    this.#server = server
    this.#tables = tables
    this.#steps = steps
  }

  /** Creates the tables, as a node does. */
  static async create(server: DatabaseServer): Promise<SharedBackup> {
    await migrate(server)
    const { rows } = await server.query(
      `SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = 'aftercast' AND relkind = 'r' ORDER BY relname`,
    )
    const tables = rows.map(({ relname }) => String(relname))
    await server.query('CREATE SCHEMA backup')
    for (const table of tables) {
      await server.query(
        `CREATE UNLOGGED TABLE backup.${table} AS TABLE aftercast.${table} WITH NO DATA`,
      )
    }
    const { rows: last } = await server.query('SELECT max(number) AS at FROM aftercast.migrations')
    return new SharedBackup(server, tables, Number(last[0]?.at))
  }

  /** An empty database, with its tables. */
  async reset(): Promise<void> {
    this.#hasBackup = false
    await this.create()
    const all = this.#tables.filter((table) => table !== 'migrations')
    await this.#server.query(
      `TRUNCATE ${all.map((table) => `aftercast.${table}`).join(', ')} RESTART IDENTITY`,
    )
    await this.downgrade()
  }

  /** @returns whether there was something to back up */
  async take(): Promise<boolean> {
    // `reset` leaves no library, as no release does.
    if (!(await this.#hasTables()) || !(await this.#hasLibrary())) return false
    for (const table of this.#tables) {
      await this.#server.query(`DELETE FROM backup.${table}`)
      await this.#server.query(`INSERT INTO backup.${table} TABLE aftercast.${table}`)
    }
    this.#hasBackup = true
    return true
  }

  /** No transaction may be open. */
  async restore(): Promise<boolean> {
    if (!this.#hasBackup || !(await this.#hasTables())) return false
    const tables = this.#tables.filter((table) => table !== 'migrations')
    await this.#server.query(`TRUNCATE ${tables.map((table) => `aftercast.${table}`).join(', ')}`)
    for (const table of tables) {
      await this.#server.query(
        `INSERT INTO aftercast.${table} OVERRIDING SYSTEM VALUE TABLE backup.${table}`,
      )
    }
    return true
  }

  /** Creates the tables if there are none, as a node that starts. No transaction may be open. */
  async create(): Promise<void> {
    if (!(await this.#hasTables())) await migrate(this.#server)
  }

  async #hasTables(): Promise<boolean> {
    const { rows } = await this.#server.query(`SELECT to_regclass('aftercast.library') AS found`)
    return rows[0]?.found !== null
  }

  async #hasLibrary(): Promise<boolean> {
    const { rows } = await this.#server.query('SELECT FROM aftercast.library')
    return rows.length > 0
  }

  /** No transaction may be open. */
  async drop(): Promise<void> {
    await this.#server.query('DROP SCHEMA IF EXISTS aftercast CASCADE')
  }

  /** A newer release has added its steps. */
  async upgrade(): Promise<void> {
    await this.#server.query(
      `INSERT INTO aftercast.migrations SELECT max(number) + 1 FROM aftercast.migrations`,
    )
  }

  /** Removes steps of newer releases. */
  async downgrade(): Promise<void> {
    await this.#server.query('DELETE FROM aftercast.migrations WHERE number > $1', [this.#steps])
  }
}

async function migrate(server: DatabaseServer): Promise<void> {
  const pool = new RealPool({ connectionString: server.url, max: 1 })
  // The server ends before its clients.
  pool.on('error', () => undefined)
  const database = new SharedDatabase(pool)
  await migrateSharedDatabase(database)
  await database.destroy()
}
