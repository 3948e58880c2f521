// Queries of the catalog's write side: folders with their recordings, and pending recordings.
import type { Database } from './database.ts'
import {
  columnAssignments,
  columnNames,
  columnParameters,
  columnsOf,
  selectColumns,
} from './recording-columns.ts'
import type { RecordingPath, Values, WrittenBy } from './recording-columns.ts'
import type { SessionKey } from './session-listing.ts'
import type { SessionReference } from '../../../../shared/paths.ts'

export type FolderQueries = ReturnType<typeof prepareFolderQueries>
export type PendingQueries = ReturnType<typeof preparePendingQueries>

/** A recording as the walk has found it, not inspected yet. */
export interface FoundRow extends WrittenBy<'walk' | 'inspection'>, Values<'sidecars'> {
  folderId: number
  name: string
  streamerId: number
}

/** A row of a folder. */
export interface KnownRow extends Values<'sizeBytes' | 'modifiedMs' | 'version' | 'sidecars'> {
  id: number
  name: string
}

const PENDING = ['kind', 'sizeBytes', 'modifiedMs', 'version', 'settlesAtMs', 'attempts'] as const

/** A pending recording with its folder's path. */
export type PendingRow = Values<(typeof PENDING)[number]> &
  RecordingPath &
  SessionReference & { id: number }

/** Queries on folders and their contents. */
export function prepareFolderQueries(database: Database) {
  return { ...prepareTree(database), ...prepareRecordings(database), ...prepareReset(database) }
}

function prepareTree(database: Database) {
  return {
    folder: database.query<{ path: string }, { id: number }>(
      'SELECT id FROM folders WHERE path = @path',
    ),
    children: database.query<{ id: number }, { path: string }>(
      'SELECT path FROM folders WHERE parent_id = @id',
    ),
    firstChild: database.query<{ id: number }, { id: number }>(
      'SELECT id FROM folders WHERE parent_id = @id LIMIT 1',
    ),
    addFolder: database.query<{ path: string; parentId: number | null }, { id: number }>(
      'INSERT INTO folders (path, parent_id) VALUES (@path, @parentId) RETURNING id',
    ),
    /** Has no row if the folder has recordings or subfolders. */
    removeEmptyFolder: database.query<{ id: number }, { parentId: number | null }>(`
      DELETE FROM folders WHERE id = @id
        AND NOT EXISTS (SELECT 1 FROM recordings WHERE folder_id = folders.id)
        AND id NOT IN (SELECT parent_id FROM folders AS child WHERE child.parent_id = folders.id)
      RETURNING parent_id AS "parentId"`),
  }
}

function prepareRecordings(database: Database) {
  const known = `id, name, ${selectColumns(['sizeBytes', 'modifiedMs', 'version', 'sidecars'])}`
  const sessionKey = 'streamer_id AS "streamerId", date, session_id AS "sessionId"'
  return {
    recordings: database.query<{ id: number }, KnownRow>(
      `SELECT ${known} FROM recordings WHERE folder_id = @id`,
    ),
    recordingIds: database.query<{ id: number; limit: number }, { id: number }>(
      'SELECT id FROM recordings WHERE folder_id = @id LIMIT @limit',
    ),
    recordingByName: database.query<{ id: number; name: string }, KnownRow>(
      `SELECT ${known} FROM recordings WHERE folder_id = @id AND name = @name`,
    ),
    sessionKey: database.query<{ id: number }, SessionKey>(
      `SELECT ${sessionKey} FROM recordings WHERE id = @id`,
    ),
    session: database.query<{ id: number }, SessionReference>(`
      SELECT streamers.name AS streamer, date, session_id AS "sessionId"
      FROM recordings JOIN streamers ON streamers.id = recordings.streamer_id
      WHERE recordings.id = @id`),
    sessionKeyByName: database.query<{ folderId: number; name: string }, SessionKey>(
      `SELECT ${sessionKey} FROM recordings WHERE folder_id = @folderId AND name = @name`,
    ),
    ...preparePut(database),
    removeRecording: database.query<{ id: number }, { folderId: number }>(
      'DELETE FROM recordings WHERE id = @id RETURNING folder_id AS "folderId"',
    ),
  }
}

function preparePut(database: Database) {
  const columns = columnsOf('walk', 'inspection')
  return {
    /** Adds a recording, listed at once; does nothing if its name exists. */
    add: database.query<FoundRow>(`
      INSERT INTO recordings
        (folder_id, name, listed, streamer_id, sidecars, ${columnNames(columns)})
      VALUES (@folderId, @name, 1, @streamerId, @sidecars, ${columnParameters(columns)})
      ON CONFLICT (folder_id, name) DO NOTHING`),
    /** Resets a changed recording to its first status; an unchanged one stays as it is. */
    update: database.query<FoundRow>(`
      UPDATE recordings SET streamer_id = @streamerId,
        ${columnAssignments(columnsOf('walk'))},
        ${columnAssignments(['status', 'durationSeconds', 'reason', 'flawed', 'attempts'])},
        retry_at_ms = rest_until_ms
      WHERE folder_id = @folderId AND name = @name AND version <> @version`),
    /** Adds the file's version to a row of an older catalog. */
    addVersion: database.query<{ id: number; version: string }>(
      'UPDATE recordings SET version = @version WHERE id = @id',
    ),
  }
}

function prepareReset(database: Database) {
  /** The newest rows first: a folder's row is newer than that of its parent. */
  const removeSome = (table: 'recordings' | 'folders' | 'streamers') =>
    database.query<{ limit: number }>(`
      DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} ORDER BY id DESC LIMIT @limit)`)
  return {
    layout: database.query<object, { layout: string | null }>('SELECT layout FROM library'),
    setLayout: database.query<{ layout: string }>('UPDATE library SET layout = @layout'),
    removeSomeRecordings: removeSome('recordings'),
    removeSomeFolders: removeSome('folders'),
    removeSomeStreamers: removeSome('streamers'),
  }
}

/** As in the partial index `recordings_pending`, which SQLite uses only for equal terms. */
const isPending = `recordings.status = 'found' AND recordings.listed = 1`

/** Queries on listed recordings that wait for their inspection. */
export function preparePendingQueries(database: Database) {
  const pending = `
    SELECT recordings.id, folders.path AS folder, recordings.name, streamers.name AS streamer,
      date, session_id AS "sessionId", ${selectColumns(PENDING)}
    FROM recordings
    JOIN folders ON folders.id = recordings.folder_id
    JOIN streamers ON streamers.id = recordings.streamer_id
    WHERE ${isPending} AND retry_at_ms <= @nowMs`
  return {
    countRecordings: database.query<object, { count: number }>(
      'SELECT count(*) AS count FROM recordings',
    ),
    countPending: database.query<object, { count: number }>(
      `SELECT count(*) AS count FROM recordings WHERE ${isPending}`,
    ),
    nextDue: database.query<object, { nextDueMs: number | null }>(
      `SELECT min(retry_at_ms) AS "nextDueMs" FROM recordings WHERE ${isPending}`,
    ),
    due: database.query<{ nowMs: number; limit: number }, PendingRow>(
      `${pending} ORDER BY date DESC, modified_ms DESC LIMIT @limit`,
    ),
    pending: database.query<{ id: number; nowMs: number }, PendingRow>(
      `${pending} AND recordings.id = @id`,
    ),
    pendingOfSession: database.query<SessionReference, { id: number }>(`
      SELECT recordings.id
      FROM streamers JOIN recordings ON recordings.streamer_id = streamers.id
      WHERE streamers.name = @streamer AND date = @date AND session_id = @sessionId
        AND ${isPending}`),
    record: database.query<{ id: number; version: string } & WrittenBy<'inspection'>>(`
      UPDATE recordings SET ${columnAssignments(columnsOf('inspection'))}
      WHERE id = @id AND version = @version`),
  }
}

export type TitleQueries = ReturnType<typeof prepareTitleQueries>

/** Queries on titles: which sidecars must be read, and what is in them. */
export function prepareTitleQueries(database: Database) {
  return {
    sign: database.query<{ id: number; sidecars: string }>(
      'UPDATE recordings SET sidecars = @sidecars WHERE id = @id',
    ),
    // The condition of the partial index `recordings_untitled`, which SQLite uses only then.
    untitled: database.query<
      { limit: number },
      RecordingPath & Values<'kind' | 'sidecars'> & { id: number }
    >(`
      SELECT recordings.id, folders.path AS folder, recordings.name, kind, sidecars
      FROM recordings JOIN folders ON folders.id = recordings.folder_id
      WHERE recordings.sidecars <> recordings.titled_by AND recordings.listed = 1
      ORDER BY date DESC LIMIT @limit`),
    record: database.query<{ id: number } & Values<'facts' | 'titledBy'>>(
      'UPDATE recordings SET facts = @facts, titled_by = @titledBy WHERE id = @id',
    ),
  }
}
