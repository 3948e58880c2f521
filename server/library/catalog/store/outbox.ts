// The outbox of a scanning connection: recordings with changes that are not in the shared database.
import { sql } from 'kysely'
import type { Database } from './database.ts'
import type { RecordingPath, ReplicaRecording } from './replica-recording.ts'
import { recordingColumns } from './replica-recording.ts'

/** Recordings to publish, as they are now. */
export interface OutboxBatch {
  /** Numbers of the entries, for `remove`. */
  numbers: number[]
  present: ReplicaRecording[]
  gone: RecordingPath[]
}

/** An outbox entry; the other columns are null if the recording is gone. */
type OutboxRow = RecordingPath & { number: number } & (
    | (Omit<ReplicaRecording, 'folder' | 'name'> & { id: number })
    | { id: null }
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

function withoutId(row: ReplicaRecording & { id: number }): ReplicaRecording {
  const { id: _, ...recording } = row
  return recording
}

function prepareOutboxQueries(database: Database) {
  return {
    count: database.prepare<object>()((kysely) =>
      kysely.selectFrom('outbox').select(({ fn }) => fn.countAll<number>().as('count')),
    ),
    oldest: database.prepare<{ limit: number }>()<OutboxRow>((kysely, parameter) =>
      kysely
        .selectFrom('outbox')
        .leftJoin('folders', 'folders.path', 'outbox.folder')
        .leftJoin('recordings', (join) =>
          join
            .onRef('recordings.folder_id', '=', 'folders.id')
            .onRef('recordings.name', '=', 'outbox.name'),
        )
        .leftJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .select(['outbox.number', 'outbox.folder', 'outbox.name', 'recordings.id'])
        .select('streamers.name as streamer')
        .select(recordingColumns)
        .orderBy('outbox.number')
        .limit(parameter('limit'))
        .$castTo<OutboxRow>(),
    ),
    remove: database.prepare<{ number: number }>()((kysely, parameter) =>
      kysely.deleteFrom('outbox').where('number', '=', parameter('number')),
    ),
    add: database.prepare<RecordingPath>()((kysely, parameter) =>
      kysely
        .insertInto('outbox')
        .values({ folder: parameter('folder'), name: parameter('name') })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    addAll: database.prepare<object>()((kysely) =>
      kysely
        .insertInto('outbox')
        .columns(['folder', 'name'])
        .expression((expression) =>
          expression
            .selectFrom('recordings')
            .innerJoin('folders', 'folders.id', 'recordings.folder_id')
            .select(['folders.path', 'recordings.name'])
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) => conflict.doNothing()),
    ),
  }
}
