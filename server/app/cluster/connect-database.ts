// Connects a command to the shared database, or fails with one line that names the key.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { describeProblem } from '../../cluster/postgres/connection-problem.ts'
import { checkSharedMigrated, migrateSharedDatabase } from '../../cluster/postgres/migrations.ts'
import { openSharedDatabase } from '../../cluster/postgres/shared-database.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'

/** A server that starts at the same time may take a moment. With timeouts, 13 s at most. */
const PATIENCE_MS = 8000
const RETRY_MS = 500
const MIGRATED =
  'the database was migrated: nodes of the release before continue, but start again only with a ' +
  'dump from before; run pg_dump before each upgrade (docs/deploy/upgrade.md)'

/**
 * A database that is prepared.
 *
 * @param prepare migrates it, or checks that it is migrated; called again after an outage
 * @throws AppError `usage` if it cannot be used with this URL
 */
export async function connectSharedDatabase(
  url: string,
  prepare: (database: SharedDatabase) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<SharedDatabase> {
  // Lost connections are replaced; the statements on them fail.
  const database = openSharedDatabase(url, () => undefined)
  const deadlineMs = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      await prepare(database)
      return database
    } catch (error) {
      const problem = toProblem(error, url)
      if (!problem.isPassing || performance.now() > deadlineMs || signal?.aborted === true) {
        await database.destroy()
        throw problem.error
      }
      await sleep(RETRY_MS, undefined, signal && { signal }).catch(() => undefined)
    }
  }
}

/**
 * Runs a command with the database, and closes it.
 *
 * @param prepare default: the command works only with a database of this release
 */
export async function withSharedDatabase<T>(
  url: string,
  work: (database: SharedDatabase) => Promise<T>,
  prepare: (database: SharedDatabase) => Promise<unknown> = checkSharedMigrated,
): Promise<T> {
  const database = await connectSharedDatabase(url, prepare)
  try {
    return await work(database)
  } catch (error) {
    throw hasCode(error) ? toProblem(error, url).error : error
  } finally {
    await database.destroy()
  }
}

/** Migrates the database, and says what that means for the release before. */
export async function migrateWithWarning(
  database: SharedDatabase,
  warn: (line: string) => void,
): Promise<void> {
  if (await migrateSharedDatabase(database)) warn(MIGRATED)
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
