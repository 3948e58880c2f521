// Queries of the catalog's read side.
import { sql } from 'kysely'
import type { StreamerItem } from '../../../../shared/contract.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { SessionName } from '../catalog.ts'
import type { Database, Query } from './database.ts'

/** A recording with the names of its session, as returned by `session` and `newest`. */
export interface RecordingRow {
  streamer: string
  date: string
  sessionId: string
  folder: string
  name: string
  kind: 'file' | 'folder'
  size_bytes: number
  modified_ms: number
  duration_seconds: number | null
  reason: string | null
  settlesAtMs: number
  title: string | null
  startsAtMs: number | null
}

/** A session in a list. */
export interface ListedRow {
  date: string
  sessionId: string
  duration_seconds: number | null
}

/** What a list leaves out of a session. */
export interface DetailRow {
  date: string
  sessionId: string
  name: string
  kind: 'file' | 'folder'
  settlesAtMs: number
  title: string | null
  startsAtMs: number | null
}

/** A session in a sitemap. */
export interface EntryRow extends DetailRow {
  duration_seconds: number | null
}

export interface CatalogQueries {
  streamers: Query<object, StreamerItem>
  /** One row of `streamers`, if listed. */
  shownStreamer: Query<{ name: string }, StreamerItem>
  /**
   * A row if the session or its streamer is hidden; with empty date and id for the streamer alone.
   */
  hidden: Query<SessionReference, { streamer: string }>
  streamer: Query<{ name: string }, { id: number }>
  sessions: Query<{ id: number }, ListedRow>
  /** Listed sessions of a shown streamer after a name, in the order of the index. */
  sessionsAfter: Query<SessionName & { name: string; limit: number }, EntryRow>
  /** One row of `sessions`, if listed. */
  listedSession: Query<SessionReference, ListedRow>
  session: Query<SessionReference, RecordingRow>
  /** The date of the listed session at an offset, newest first. */
  dateAt: Query<{ id: number; offset: number }, { date: string }>
  /** Ids of the listed sessions of a date. */
  idsOfDate: Query<{ id: number; date: string }, { sessionId: string }>
  /** The next date before or after a date that has a listed session. */
  dateBefore: Query<{ id: number; date: string }, { date: string }>
  dateAfter: Query<{ id: number; date: string }, { date: string }>
  details: Query<{ id: number }, DetailRow>
  /** Listed sessions of dates in this range. */
  sessionsOfDates: Query<{ id: number; oldest: string; newest: string }, RecordingRow>
  /** Number of listed sessions after a date. */
  countAfter: Query<{ id: number; date: string }, { count: number }>
  /** The newest listed sessions of all shown streamers. */
  newestOfSite: Query<{ limit: number }, RecordingRow>
}

/** Compiles and prepares all queries. */
export function prepareCatalogQueries(database: Database): CatalogQueries {
  return {
    ...prepareLists(database),
    ...prepareEntries(database),
    ...prepareNeighbours(database),
    ...prepareHidden(database),
    ...prepareRows(database),
  }
}

function prepareLists(database: Database) {
  return {
    streamers: database.prepare<object>()((kysely) =>
      kysely.selectFrom('streamers').select(['name', 'recording_count']).where(isShown),
    ),
    shownStreamer: database.prepare<{ name: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('streamers')
        .select(['name', 'recording_count'])
        .where('name', '=', parameter('name'))
        .where(isShown),
    ),
    streamer: database.prepare<{ name: string }>()((kysely, parameter) =>
      kysely.selectFrom('streamers').select('id').where('name', '=', parameter('name')),
    ),
    sessions: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(['date', 'session_id as sessionId', 'duration_seconds'])
        .where('streamer_id', '=', parameter('id'))
        .where('listed', '=', 1),
    ),
    listedSession: database.prepare<SessionReference>()((kysely, parameter) =>
      kysely
        .selectFrom('streamers')
        .innerJoin('recordings', 'recordings.streamer_id', 'streamers.id')
        .select(['date', 'session_id as sessionId', 'duration_seconds'])
        .where('streamers.name', '=', parameter('streamer'))
        .where('date', '=', parameter('date'))
        .where('session_id', '=', parameter('sessionId'))
        .where('listed', '=', 1),
    ),
    dateAt: database.prepare<{ id: number; offset: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('date')
        .where('streamer_id', '=', parameter('id'))
        .where('listed', '=', 1)
        .orderBy('date', 'desc')
        .limit(sql.lit(1))
        .offset(parameter('offset')),
    ),
  }
}

function prepareEntries(database: Database) {
  return {
    sessionsAfter: database.prepare<SessionName & { name: string; limit: number }>()(
      (kysely, parameter) =>
        kysely
          .selectFrom('streamers')
          .innerJoin('recordings', 'recordings.streamer_id', 'streamers.id')
          .select(['date', 'session_id as sessionId', 'recordings.name as name', 'kind', 'title'])
          .select(['settles_at_ms as settlesAtMs', 'starts_at_ms as startsAtMs'])
          .select('duration_seconds')
          .where('streamers.name', '=', parameter('name'))
          .where(isShown)
          .where('listed', '=', 1)
          .where(
            sql<boolean>`(date, session_id) > (${parameter('date')}, ${parameter('sessionId')})`,
          )
          .orderBy('date')
          .orderBy('session_id')
          .limit(parameter('limit')),
    ),
  }
}

function prepareNeighbours(database: Database) {
  return {
    idsOfDate: database.prepare<{ id: number; date: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('session_id as sessionId')
        .where('streamer_id', '=', parameter('id'))
        .where('date', '=', parameter('date'))
        .where('listed', '=', 1),
    ),
    dateBefore: database.prepare<{ id: number; date: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('date')
        .where('streamer_id', '=', parameter('id'))
        .where('date', '<', parameter('date'))
        .where('listed', '=', 1)
        .orderBy('date', 'desc')
        .limit(sql.lit(1)),
    ),
    dateAfter: database.prepare<{ id: number; date: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select('date')
        .where('streamer_id', '=', parameter('id'))
        .where('date', '>', parameter('date'))
        .where('listed', '=', 1)
        .orderBy('date')
        .limit(sql.lit(1)),
    ),
    details: database.prepare<{ id: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select(['date', 'session_id as sessionId', 'name', 'kind', 'title'])
        .select(['settles_at_ms as settlesAtMs', 'starts_at_ms as startsAtMs'])
        .where('streamer_id', '=', parameter('id'))
        .where('listed', '=', 1),
    ),
  }
}

/** Has a listed session, and is not hidden as a whole. */
const isShown = sql<boolean>`recording_count > 0 AND NOT EXISTS (
  SELECT 1 FROM hidden WHERE hidden.streamer = streamers.name AND hidden.date = '' AND hidden.session_id = '')`

function prepareHidden(database: Database) {
  return {
    hidden: database.prepare<{ streamer: string; date: string; sessionId: string }>()(
      (kysely, parameter) =>
        kysely
          .selectFrom('hidden')
          .select('streamer')
          .where('streamer', '=', parameter('streamer'))
          .where((expression) =>
            expression.or([
              expression.and({ date: '', session_id: '' }),
              expression.and([
                expression('date', '=', parameter('date')),
                expression('session_id', '=', parameter('sessionId')),
              ]),
            ]),
          ),
    ),
  }
}

function prepareRows(database: Database) {
  return {
    session: database.prepare<{ streamer: string; date: string; sessionId: string }>()(
      (kysely, parameter) =>
        kysely
          .selectFrom('streamers')
          .innerJoin('recordings', 'recordings.streamer_id', 'streamers.id')
          .innerJoin('folders', 'folders.id', 'recordings.folder_id')
          .select(recordingColumns)
          .where('streamers.name', '=', parameter('streamer'))
          .where('recordings.date', '=', parameter('date'))
          .where('recordings.session_id', '=', parameter('sessionId'))
          .orderBy('recordings.listed', 'desc')
          .orderBy('recordings.rank')
          .orderBy('folders.path')
          .orderBy('recordings.name')
          .limit(sql.lit(1)),
    ),
    countAfter: database.prepare<{ id: number; date: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .select((expression) => expression.fn.countAll<number>().as('count'))
        .where('streamer_id', '=', parameter('id'))
        .where('date', '>', parameter('date'))
        .where('listed', '=', 1),
    ),
    sessionsOfDates: database.prepare<{
      id: number
      oldest: string
      newest: string
    }>()((kysely, parameter) =>
      kysely
        .selectFrom('streamers')
        .innerJoin('recordings', 'recordings.streamer_id', 'streamers.id')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .select(recordingColumns)
        .where('streamers.id', '=', parameter('id'))
        .where('recordings.date', '>=', parameter('oldest'))
        .where('recordings.date', '<=', parameter('newest'))
        .where('recordings.listed', '=', 1),
    ),
    // Ends after `limit` rows of the index `recordings_newest`, and those of the same time.
    newestOfSite: database.prepare<{ limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .innerJoin('folders', 'folders.id', 'recordings.folder_id')
        .select(recordingColumns)
        .where('recordings.listed', '=', 1)
        .where(isShown)
        .orderBy('recordings.date', 'desc')
        .orderBy('recordings.modified_ms', 'desc')
        .orderBy('streamers.name')
        .orderBy('recordings.session_id')
        .limit(parameter('limit')),
    ),
  }
}

const recordingColumns = [
  'streamers.name as streamer',
  'recordings.date as date',
  'recordings.session_id as sessionId',
  'folders.path as folder',
  'recordings.name as name',
  'recordings.kind as kind',
  'recordings.size_bytes as size_bytes',
  'recordings.modified_ms as modified_ms',
  'recordings.duration_seconds as duration_seconds',
  'recordings.reason as reason',
  'recordings.settles_at_ms as settlesAtMs',
  'recordings.title as title',
  'recordings.starts_at_ms as startsAtMs',
] as const
