// Connections of the job queues to the shared database, with the time limits of all others.
import type { QueryResult } from 'pg'
import { createPool } from './shared-database.ts'

/** What pg-boss runs its statements with. */
export interface JobConnections {
  /** @throws errors of the database */
  executeSql(this: void, text: string, values?: unknown[]): Promise<QueryResult>
  /** Whether the database has a schema of this name. */
  hasSchema(this: void, name: string): Promise<boolean>
  close(this: void): Promise<void>
}

/** One takes and completes jobs, another one maintains the queues. */
const MAX_CONNECTIONS = 2

/** Connects when a statement needs it. `onLost` receives the errors of idle connections. */
export function openJobConnections(url: string, onLost: (error: Error) => void): JobConnections {
  const pool = createPool(url, { maxConnections: MAX_CONNECTIONS, onLost })
  return {
    executeSql: async (text, values) => pool.query(text, values),
    async hasSchema(name) {
      const { rowCount } = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [name])
      return rowCount !== 0
    },
    close: async () => pool.end(),
  }
}
