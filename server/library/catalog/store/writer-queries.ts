// Queries of the catalog's write side: folders with their recordings, and pending recordings.
import { sql } from 'kysely'
import type { Database, Parameter } from './database.ts'
import type { InspectionResult } from './inspection-result.ts'
import type { SessionKey } from './session-listing.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import type { SessionReference } from '../../../../shared/paths.ts'

export type FolderQueries = ReturnType<typeof prepareFolderQueries>
export type PendingQueries = ReturnType<typeof preparePendingQueries>

interface PutParameters extends SessionKey, FileStat {
  folderId: number
  name: string
  kind: 'file' | 'folder'
  rank: number
  status: 'found' | 'unplayable'
  reason: string | null
  settlesAtMs: number
  sidecars: string
}

/** A pending recording with its folder's path. */
export interface PendingRow extends FileStat {
  id: number
  folder: string
  name: string
  kind: 'file' | 'folder'
  settlesAtMs: number
  attempts: number
  streamer: string
  date: string
  sessionId: string
}

/** Queries on folders and their contents. */
export function prepareFolderQueries(database: Database) {
  return { ...prepareTree(database), ...prepareRecordings(database), ...prepareReset(database) }
}

function prepareTree(database: Database) {
  return {
    folder: database.prepare<{ path: string }>()((kysely, parameter) =>
      kysely.selectFrom('folders').select('id').where('path', '=', parameter('path')),
    ),
    children: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.selectFrom('folders').select('path').where('parent_id', '=', parameter('id')),
    ),
    firstChild: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('folders')
        .select('id')
        .where('parent_id', '=', parameter('id'))
        .limit(sql.lit(1)),
    ),
    addFolder: database.prepare<{ path: string; parentId: number | null }>()((kysely, parameter) =>
      kysely
        .insertInto('folders')
        .values({ path: parameter('path'), parent_id: parameter('parentId') })
        .returning('id'),
    ),
    removeFolder: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.deleteFrom('folders').where('id', '=', parameter('id')),
    ),
  }
}

function prepareRecordings(database: Database) {
  return {
    recordings: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.selectFrom('recordings').select(knownColumns).where('folder_id', '=', parameter('id')),
    ),
    recordingIds: database.prepare<{ id: number; limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('id')
        .where('folder_id', '=', parameter('id'))
        .limit(parameter('limit')),
    ),
    recordingByName: database.prepare<{ id: number; name: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(knownColumns)
        .where('folder_id', '=', parameter('id'))
        .where('name', '=', parameter('name')),
    ),
    sessionKey: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.selectFrom('recordings').select(sessionKeyColumns).where('id', '=', parameter('id')),
    ),
    session: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .select(['streamers.name as streamer', 'date', 'session_id as sessionId'])
        .where('recordings.id', '=', parameter('id')),
    ),
    sessionKeyByName: database.prepare<{ folderId: number; name: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(sessionKeyColumns)
        .where('folder_id', '=', parameter('folderId'))
        .where('name', '=', parameter('name')),
    ),
    ...preparePut(database),
    removeRecording: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely.deleteFrom('recordings').where('id', '=', parameter('id')),
    ),
  }
}

const knownColumns = [
  'id',
  'name',
  'size_bytes as sizeBytes',
  'modified_ms as modifiedMs',
  'version',
  'sidecars',
] as const
const sessionKeyColumns = ['streamer_id as streamerId', 'date', 'session_id as sessionId'] as const

function preparePut(database: Database) {
  return {
    /** Adds a recording; does nothing if its name exists. */
    add: database.prepare<PutParameters>()((kysely, parameter) =>
      kysely
        .insertInto('recordings')
        .values({
          folder_id: parameter('folderId'),
          name: parameter('name'),
          ...firstState(parameter),
          // Listed at once: most sessions have one recording.
          listed: sql.lit(1),
          retry_at_ms: sql.lit(0),
          rest_until_ms: sql.lit(0),
          sidecars: parameter('sidecars'),
        })
        .onConflict((conflict) => conflict.columns(['folder_id', 'name']).doNothing()),
    ),
    /** Resets a changed recording to its first status; an unchanged one stays as it is. */
    update: database.prepare<PutParameters>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set((expression) => ({
          ...firstState(parameter),
          duration_seconds: null,
          retry_at_ms: expression.ref('rest_until_ms'),
        }))
        .where('folder_id', '=', parameter('folderId'))
        .where('name', '=', parameter('name'))
        .where('version', '<>', parameter('version')),
    ),
    /** Adds the file's version to a row of an older catalog. */
    addVersion: database.prepare<{ id: number; version: string }>()((kysely, parameter) =>
      kysely
        .updateTable('recordings')
        .set({ version: parameter('version') })
        .where('id', '=', parameter('id')),
    ),
  }
}

/** The state of a recording before its first inspection. */
function firstState(parameter: Parameter<PutParameters>) {
  return {
    streamer_id: parameter('streamerId'),
    date: parameter('date'),
    session_id: parameter('sessionId'),
    rank: parameter('rank'),
    size_bytes: parameter('sizeBytes'),
    modified_ms: parameter('modifiedMs'),
    version: parameter('version'),
    kind: parameter('kind'),
    status: parameter('status'),
    reason: parameter('reason'),
    flawed: sql.lit(0),
    settles_at_ms: parameter('settlesAtMs'),
    attempts: sql.lit(0),
  }
}

function prepareReset(database: Database) {
  return {
    layout: database.prepare<object>()((kysely) => kysely.selectFrom('library').select('layout')),
    setLayout: database.prepare<{ layout: string }>()((kysely, parameter) =>
      kysely.updateTable('library').set({ layout: parameter('layout') }),
    ),
    ...prepareRemovals(database),
  }
}

/** The newest rows first: a folder's row is newer than that of its parent. */
function prepareRemovals(database: Database) {
  const removeSome = (table: 'recordings' | 'folders' | 'streamers') =>
    database.prepare<{ limit: number }>()((kysely, parameter) =>
      kysely
        .deleteFrom(table)
        .where('id', 'in', (expression) =>
          expression.selectFrom(table).select('id').orderBy('id', 'desc').limit(parameter('limit')),
        ),
    )
  return {
    removeSomeRecordings: removeSome('recordings'),
    removeSomeFolders: removeSome('folders'),
    removeSomeStreamers: removeSome('streamers'),
  }
}

/** Queries on listed recordings that wait for their inspection. */
export function preparePendingQueries(database: Database) {
  return { ...prepareCounts(database), ...prepareQueue(database) }
}

function prepareCounts(database: Database) {
  return {
    countRecordings: database.prepare<object>()((kysely) =>
      kysely.selectFrom('recordings').select(({ fn }) => fn.countAll<number>().as('count')),
    ),
    countPending: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('recordings')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where(isPending),
    ),
    nextDue: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('recordings')
        .select(({ fn }) => fn.min<number | null>('retry_at_ms').as('nextDueMs'))
        .where(isPending),
    ),
  }
}

function prepareQueue(database: Database) {
  return {
    due: database.prepare<{ nowMs: number; limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .select(pendingColumns)
        .where(isPending)
        .where('retry_at_ms', '<=', parameter('nowMs'))
        .orderBy('date', 'desc')
        .orderBy('modified_ms', 'desc')
        .limit(parameter('limit')),
    ),
    pending: database.prepare<{ id: number; nowMs: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .select(pendingColumns)
        .where('recordings.id', '=', parameter('id'))
        .where(isPending)
        .where('retry_at_ms', '<=', parameter('nowMs')),
    ),
    pendingOfSession: database.prepare<SessionReference>()((kysely, parameter) =>
      kysely
        .selectFrom('streamers')
        .innerJoin('recordings', 'recordings.streamer_id', 'streamers.id')
        .select('recordings.id as id')
        .where('streamers.name', '=', parameter('streamer'))
        .where('date', '=', parameter('date'))
        .where('session_id', '=', parameter('sessionId'))
        .where(isPending),
    ),
    record: database.prepare<{ id: number; version: string } & InspectionResult>()(
      (kysely, parameter) =>
        kysely
          .updateTable('recordings')
          .set({
            status: parameter('status'),
            duration_seconds: parameter('durationSeconds'),
            reason: parameter('reason'),
            flawed: parameter('flawed'),
            retry_at_ms: parameter('retryAtMs'),
            rest_until_ms: parameter('restUntilMs'),
            attempts: parameter('attempts'),
          })
          .where('id', '=', parameter('id'))
          .where('version', '=', parameter('version')),
    ),
  }
}

const pendingColumns = [
  'recordings.id as id',
  'folders.path as folder',
  'recordings.name as name',
  'kind',
  'size_bytes as sizeBytes',
  'modified_ms as modifiedMs',
  'version',
  'settles_at_ms as settlesAtMs',
  'attempts',
  'streamers.name as streamer',
  'date',
  'session_id as sessionId',
] as const

/**
 * Literals rather than parameters: SQLite uses the partial index `recordings_pending` only for
 * constants.
 */
const isPending = sql<boolean>`recordings.status = 'found' and recordings.listed = 1`
