// Queries of a replica: its position, and the rows that the shared database determines.
import { sql } from 'kysely'
import type { Database, Parameter } from './database.ts'
import { recordingColumns } from './replica-recording.ts'
import type { RecordingPath, ReplicaRecording, ReplicaState } from './replica-recording.ts'

export type ReplicaQueries = ReturnType<typeof prepareReplicaQueries>

/** A row with its ids. */
export type KnownRow = Omit<ReplicaRecording, 'folder' | 'name' | 'streamer'> & {
  id: number
  streamerId: number
}

type PutParameters = ReplicaRecording & { folderId: number; streamerId: number }

export function prepareReplicaQueries(database: Database) {
  return { ...preparePosition(database), ...preparePut(database), ...prepareRanges(database) }
}

function preparePosition(database: Database) {
  return {
    state: database.prepare<object>()((kysely) =>
      kysely.selectFrom('replica').select(['node', 'identity', 'epoch', 'generation']),
    ),
    moveTo: database.prepare<ReplicaState>()((kysely, parameter) =>
      kysely
        .insertInto('replica')
        .values({
          id: sql.lit(1),
          node: parameter('node'),
          identity: parameter('identity'),
          epoch: parameter('epoch'),
          generation: parameter('generation'),
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            identity: parameter('identity'),
            epoch: parameter('epoch'),
            generation: parameter('generation'),
          }),
        ),
    ),
    anyOutbox: database.prepare<object>()((kysely) =>
      kysely.selectFrom('outbox').select('number').limit(sql.lit(1)),
    ),
    removeFromOutbox: database.prepare<{ number: number }>()((kysely, parameter) =>
      kysely.deleteFrom('outbox').where('number', '=', parameter('number')),
    ),
    inOutbox: database.prepare<RecordingPath>()((kysely, parameter) =>
      kysely
        .selectFrom('outbox')
        .select('number')
        .where('folder', '=', parameter('folder'))
        .where('name', '=', parameter('name')),
    ),
  }
}

function preparePut(database: Database) {
  return {
    streamer: database.prepare<{ name: string }>()((kysely, parameter) =>
      kysely.selectFrom('streamers').select('id').where('name', '=', parameter('name')),
    ),
    // Without a join, which makes this query twenty times slower.
    known: database.prepare<{ folderId: number; name: string }>()<KnownRow>((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(['recordings.id', 'recordings.streamer_id as streamerId'])
        .select(recordingColumns)
        .where('recordings.folder_id', '=', parameter('folderId'))
        .where('recordings.name', '=', parameter('name')),
    ),
    add: database.prepare<PutParameters>()((kysely, parameter) =>
      kysely.insertInto('recordings').values({
        folder_id: parameter('folderId'),
        name: parameter('name'),
        ...sharedValues(parameter),
        // Listed at once: most sessions have one recording.
        listed: sql.lit(1),
      }),
    ),
    update: database.prepare<PutParameters>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set(sharedValues(parameter))
        .where('folder_id', '=', parameter('folderId'))
        .where('name', '=', parameter('name')),
    ),
  }
}

function sharedValues(parameter: Parameter<PutParameters>) {
  return {
    streamer_id: parameter('streamerId'),
    date: parameter('date'),
    session_id: parameter('sessionId'),
    kind: parameter('kind'),
    rank: parameter('rank'),
    size_bytes: parameter('sizeBytes'),
    modified_ms: parameter('modifiedMs'),
    version: parameter('version'),
    status: parameter('status'),
    duration_seconds: parameter('durationSeconds'),
    reason: parameter('reason'),
    flawed: parameter('flawed'),
    settles_at_ms: parameter('settlesAtMs'),
    retry_at_ms: parameter('retryAtMs'),
    rest_until_ms: parameter('restUntilMs'),
    attempts: parameter('attempts'),
    sidecars: parameter('sidecars'),
    titled_by: parameter('titledBy'),
    title: parameter('title'),
    starts_at_ms: parameter('startsAtMs'),
  }
}

/** Paths in byte order, which the indexes have, too. */
function prepareRanges(database: Database) {
  return {
    /** Has no row if the folder has recordings or subfolders. */
    removeEmptyFolder: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .deleteFrom('folders')
        .where('id', '=', parameter('id'))
        .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM recordings WHERE folder_id = folders.id)`)
        .where(sql<boolean>`id NOT IN (SELECT parent_id FROM folders AS child
          WHERE child.parent_id = folders.id)`)
        .returning('parent_id as parentId'),
    ),
    foldersFrom: database.prepare<{ from: string }>()((kysely, parameter) =>
      kysely.selectFrom('folders').select(['id', 'path']).where('path', '>=', parameter('from')),
    ),
    foldersBetween: database.prepare<{ from: string; upTo: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('folders')
        .select(['id', 'path'])
        .where('path', '>=', parameter('from'))
        .where('path', '<=', parameter('upTo')),
    ),
    namesFrom: database.prepare<{ id: number; from: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('name')
        .where('folder_id', '=', parameter('id'))
        .where('name', '>', parameter('from')),
    ),
    namesBetween: database.prepare<{ id: number; from: string; upTo: string }>()(
      (kysely, parameter) =>
        kysely
          .selectFrom('recordings')
          .select('name')
          .where('folder_id', '=', parameter('id'))
          .where('name', '>', parameter('from'))
          .where('name', '<=', parameter('upTo')),
    ),
  }
}
