// The outbox of a scanning connection: recordings with changes that are not in the shared database.
import type { Database } from './database.ts'
import { columnsOf, selectColumns } from './recording-columns.ts'
import type { RecordingPath, SharedRecording } from './recording-columns.ts'

/** Recordings to publish, as they are now. */
export interface OutboxBatch {
  /** Numbers of the entries, for `remove`. */
  numbers: number[]
  present: SharedRecording[]
  gone: RecordingPath[]
}

/** An outbox entry; the other columns are null if the recording is gone. */
type OutboxRow = { number: number } & (
  | (SharedRecording & { id: number })
  | (RecordingPath & { id: null })
)

export type Outbox = ReturnType<typeof openOutbox>

/** Works on any connection to the catalog; only one of role `scan` fills the outbox. */
export function openOutbox(database: Database) {
  const queries = prepareOutboxQueries(database)
  return {
    /** Number of recordings that wait. */
    count: (): number => queries.count.get({})?.count ?? 0,

    /** The oldest entries, at most `limit`; undefined if there is none. */
    read(limit: number): OutboxBatch | undefined {
      const rows = queries.oldest.all({ limit })
      if (rows.length === 0) return undefined
      const batch: OutboxBatch = { numbers: [], present: [], gone: [] }
      for (const { number, ...row } of rows) {
        batch.numbers.push(number)
        if (row.id === null) batch.gone.push({ folder: row.folder, name: row.name })
        else batch.present.push(withoutId(row))
      }
      return batch
    },

    /** Removes entries that were published; those of later changes have other numbers. */
    remove(numbers: readonly number[]): void {
      database.transaction(() => {
        for (const number of numbers) queries.remove.run({ number })
      })
    },

    /** Adds recordings that differ from the shared database. */
    add(paths: readonly RecordingPath[]): void {
      database.transaction(() => {
        for (const { folder, name } of paths) queries.add.run({ folder, name })
      })
    },

    /** Adds all recordings, for a shared database that has none yet. */
    addAll(): void {
      queries.addAll.run({})
    },
  }
}

function withoutId(row: SharedRecording & { id: number }): SharedRecording {
  const { id: _, ...recording } = row
  return recording
}

function prepareOutboxQueries(database: Database) {
  return {
    count: database.query<object, { count: number }>('SELECT count(*) AS count FROM outbox'),
    oldest: database.query<{ limit: number }, OutboxRow>(`
      SELECT outbox.number, outbox.folder, outbox.name, recordings.id, streamers.name AS streamer,
        ${selectColumns(columnsOf())}
      FROM outbox
      LEFT JOIN folders ON folders.path = outbox.folder
      LEFT JOIN recordings
        ON recordings.folder_id = folders.id AND recordings.name = outbox.name
      LEFT JOIN streamers ON streamers.id = recordings.streamer_id
      ORDER BY outbox.number LIMIT @limit`),
    remove: database.query<{ number: number }>('DELETE FROM outbox WHERE number = @number'),
    add: database.query<RecordingPath>(
      'INSERT INTO outbox (folder, name) VALUES (@folder, @name) ON CONFLICT DO NOTHING',
    ),
    addAll: database.query(`
      INSERT INTO outbox (folder, name)
      SELECT folders.path, recordings.name
      FROM recordings JOIN folders ON folders.id = recordings.folder_id
      WHERE true ON CONFLICT DO NOTHING`),
  }
}
