// Connects a command to the shared database, or fails with one line that names the key.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { describeProblem } from '../../cluster/postgres/connection-problem.ts'
import { migrateSharedDatabase } from '../../cluster/postgres/migrations.ts'
import { openSharedDatabase } from '../../cluster/postgres/shared-database.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'

/** A server that starts at the same time may take a moment. With timeouts, 13 s at most. */
const PATIENCE_MS = 8000
const RETRY_MS = 500

export interface ConnectOptions {
  signal?: AbortSignal
  /** Prepares what else this program has in the database. */
  prepare?: () => Promise<void>
  /** Called after tables of an older release were migrated. */
  onMigrated?: () => void
}

/** A migrated database. @throws AppError `usage` if it cannot be used with this URL */
export async function connectSharedDatabase(
  url: string,
  { signal, prepare, onMigrated }: ConnectOptions = {},
): Promise<SharedDatabase> {
  // Lost connections are replaced; the statements on them fail.
  const database = openSharedDatabase(url, () => undefined)
  const deadlineMs = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      if (await migrateSharedDatabase(database)) onMigrated?.()
      await prepare?.()
      return database
    } catch (error) {
      const problem = toProblem(error, url)
      if (!problem.isPassing || performance.now() > deadlineMs || signal?.aborted === true) {
        await database.destroy()
        throw problem.error
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Runs a command with the database, and closes it. */
export async function withSharedDatabase<T>(
  url: string,
  work: (database: SharedDatabase) => Promise<T>,
): Promise<T> {
  const database = await connectSharedDatabase(url)
  try {
    return await work(database)
  } catch (error) {
    throw hasCode(error) ? toProblem(error, url).error : error
  } finally {
    await database.destroy()
  }
}

/** Whether the database may work again without another configuration. */
export function isOutage(error: unknown): boolean {
  return error instanceof ConnectionError && error.kind === 'unreachable'
}

/** Thrown for a database that does not work; the message has no secret. */
class ConnectionError extends AppError {
  readonly kind: 'refused' | 'unreachable'

  constructor(kind: 'refused' | 'unreachable', message: string) {
    super('usage', message)
    this.kind = kind
  }
}

/** Errors of the server and of the system have one. Those of SQLite concern the data folder. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && !String(error.code).startsWith('SQLITE')
}

function toProblem(error: unknown, url: string): { error: Error; isPassing: boolean } {
  if (error instanceof AppError) return { error, isPassing: false }
  const { kind, text } = describeProblem(error)
  const host = URL.parse(url)?.host ?? ''
  const problem = new ConnectionError(kind, `database: ${host}: ${text}`)
  return { error: problem, isPassing: kind === 'unreachable' }
}
