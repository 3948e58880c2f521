// Counters on their way from the file of this node to the shared database, in batches with an id.
import Sqlite from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { COUNT_COLUMNS } from './activity-store.ts'
import type { DailyCount } from './activity-store.ts'

/** Counts that are added to the shared counters together. */
export interface OutgoingBatch {
  /** The same whenever the batch is read again. */
  id: string
  counts: DailyCount[]
}

/** Takes batches out of the file. Synchronous; may throw SQLite's errors. */
export interface OutgoingCounts {
  /** The batch to send: the one of the last call until `remove`. Undefined if there is none. */
  read(): OutgoingBatch | undefined
  /** The batch was sent. */
  remove(id: string): void
  close(): void
}

const ROWS_PER_BATCH = 2000
/** Other processes of the node wait only a short time for their writes. */
const BUSY_TIMEOUT_MS = 1000

const NAMES = 'day, name, label, zone, streamer, date, session_id'

const TABLE = `
  CREATE TABLE IF NOT EXISTS outgoing_counts (batch TEXT NOT NULL, ${COUNT_COLUMNS}) WITHOUT ROWID`

/** Undefined while the file does not exist: nothing has been counted. */
export function openOutgoingCounts(path: string): OutgoingCounts | undefined {
  if (!existsSync(path)) return undefined
  const sqlite = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  try {
    // A batch that was sent must not come back under another id after a power failure.
    sqlite.pragma('synchronous = FULL')
    sqlite.exec(TABLE)
    return createOutgoing(sqlite)
  } catch (error) {
    sqlite.close()
    throw error
  }
}

function countOf(row: DailyCount & { batch: string }): DailyCount {
  const { batch: _, ...count } = row
  return count
}

function createOutgoing(sqlite: Sqlite.Database): OutgoingCounts {
  const read = sqlite.prepare<[], DailyCount & { batch: string }>(
    `SELECT batch, day, name, label, zone, streamer, date, session_id AS sessionId, amount
     FROM outgoing_counts`,
  )
  const move = sqlite.prepare<{ batch: string; limit: number }>(
    `INSERT INTO outgoing_counts (batch, ${NAMES}, amount)
     SELECT @batch, ${NAMES}, amount FROM daily_counts ORDER BY ${NAMES} LIMIT @limit`,
  )
  const leave = sqlite.prepare(
    `DELETE FROM daily_counts WHERE (${NAMES}) IN (SELECT ${NAMES} FROM outgoing_counts)`,
  )
  const remove = sqlite.prepare<[string]>('DELETE FROM outgoing_counts WHERE batch = ?')
  const take = sqlite.transaction((): OutgoingBatch | undefined => {
    if (read.get() === undefined) {
      move.run({ batch: randomUUID(), limit: ROWS_PER_BATCH })
      leave.run()
    }
    const rows = read.all()
    const [first] = rows
    if (first === undefined) return undefined
    return { id: first.batch, counts: rows.map(countOf) }
  })
  return {
    read: () => take.immediate(),
    remove: (id) => void remove.run(id),
    close: () => sqlite.close(),
  }
}
