// What makes a catalog a replica, in SQLite: triggers that fill the outbox, and their absence.
import type { Database as SqliteDatabase } from 'better-sqlite3'
import { columnNames, columnsOf } from './recording-columns.ts'

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
