// Queries of a replica: its position, and the rows that the shared database determines.
import type { Database } from './database.ts'
import {
  columnAssignments,
  columnNames,
  columnParameters,
  columnsOf,
  selectColumns,
} from './recording-columns.ts'
import type { RecordingPath, RecordingValues } from './recording-columns.ts'
import type { ReplicaState } from './replica-position.ts'

export type ReplicaQueries = ReturnType<typeof prepareReplicaQueries>

/** A row with its ids. */
export interface KnownRow extends RecordingValues {
  id: number
  streamerId: number
}

interface PutParameters extends RecordingValues {
  folderId: number
  name: string
  streamerId: number
}

export function prepareReplicaQueries(database: Database) {
  return { ...preparePosition(database), ...preparePut(database), ...prepareRanges(database) }
}

function preparePosition(database: Database) {
  return {
    state: database.query<object, ReplicaState>(
      'SELECT node, identity, epoch, generation FROM replica',
    ),
    moveTo: database.query<ReplicaState>(`
      INSERT INTO replica (id, node, identity, epoch, generation)
      VALUES (1, @node, @identity, @epoch, @generation)
      ON CONFLICT (id) DO UPDATE
        SET identity = @identity, epoch = @epoch, generation = @generation`),
    anyOutbox: database.query<object, { number: number }>('SELECT number FROM outbox LIMIT 1'),
    removeFromOutbox: database.query<{ number: number }>(
      'DELETE FROM outbox WHERE number = @number',
    ),
    inOutbox: database.query<RecordingPath, { number: number }>(
      'SELECT number FROM outbox WHERE folder = @folder AND name = @name',
    ),
  }
}

function preparePut(database: Database) {
  const columns = columnsOf()
  return {
    streamer: database.query<{ name: string }, { id: number }>(
      'SELECT id FROM streamers WHERE name = @name',
    ),
    // Without a join, which makes this query twenty times slower.
    known: database.query<{ folderId: number; name: string }, KnownRow>(`
      SELECT id, streamer_id AS "streamerId", ${selectColumns(columns)}
      FROM recordings WHERE folder_id = @folderId AND name = @name`),
    // Listed at once: most sessions have one recording.
    add: database.query<PutParameters>(`
      INSERT INTO recordings (folder_id, name, listed, streamer_id, ${columnNames(columns)})
      VALUES (@folderId, @name, 1, @streamerId, ${columnParameters(columns)})`),
    update: database.query<PutParameters>(`
      UPDATE recordings SET streamer_id = @streamerId, ${columnAssignments(columns)}
      WHERE folder_id = @folderId AND name = @name`),
  }
}

/** Paths in byte order, which the indexes have, too. */
function prepareRanges(database: Database) {
  return {
    foldersFrom: database.query<{ from: string }, { id: number; path: string }>(
      'SELECT id, path FROM folders WHERE path >= @from',
    ),
    foldersBetween: database.query<{ from: string; upTo: string }, { id: number; path: string }>(
      'SELECT id, path FROM folders WHERE path >= @from AND path <= @upTo',
    ),
    namesFrom: database.query<{ id: number; from: string }, { name: string }>(
      'SELECT name FROM recordings WHERE folder_id = @id AND name > @from',
    ),
    namesBetween: database.query<{ id: number; from: string; upTo: string }, { name: string }>(
      'SELECT name FROM recordings WHERE folder_id = @id AND name > @from AND name <= @upTo',
    ),
  }
}
