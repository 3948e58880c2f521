// Queries of the catalog's read side.
import type { StreamerItem } from '../../../../shared/contract.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { SessionName } from '../catalog.ts'
import type { Database } from './database.ts'
import type { HiddenRow } from './hidden.ts'
import { selectColumns } from './recording-columns.ts'
import type { RecordingPath, Values } from './recording-columns.ts'

const LISTED = ['date', 'sessionId', 'durationSeconds'] as const
const DETAIL = ['date', 'sessionId', 'kind', 'settlesAtMs', 'recordedStartMs', 'facts'] as const
const SESSION = [...DETAIL, 'sizeBytes', 'modifiedMs', 'durationSeconds', 'reason'] as const

/** A session in a list. */
export type ListedRow = Values<(typeof LISTED)[number]>
/** What a list leaves out of a session. */
export type DetailRow = Values<(typeof DETAIL)[number]> & { name: string }
/** A session in a sitemap. */
export type EntryRow = DetailRow & ListedRow
/** A recording with the names of its session. */
export type RecordingRow = Values<(typeof SESSION)[number]> & RecordingPath & { streamer: string }

export type CatalogQueries = ReturnType<typeof prepareCatalogQueries>

/** Prepares all queries. */
export function prepareCatalogQueries(database: Database) {
  return {
    ...prepareStreamers(database),
    ...prepareLists(database),
    ...prepareNeighbours(database),
    ...prepareRows(database),
    ...prepareAround(database),
  }
}

/** Has a listed session, and is not hidden as a whole. */
const isShown = `recording_count > 0 AND NOT EXISTS (
  SELECT 1 FROM hidden
  WHERE hidden.streamer = streamers.name AND hidden.date = '' AND hidden.session_id = '')`

function prepareStreamers(database: Database) {
  return {
    streamers: database.query<object, StreamerItem>(
      `SELECT name, recording_count FROM streamers WHERE ${isShown}`,
    ),
    /** One row of `streamers`, if listed. */
    shownStreamer: database.query<{ name: string }, StreamerItem>(
      `SELECT name, recording_count FROM streamers WHERE name = @name AND ${isShown}`,
    ),
    streamer: database.query<{ name: string }, { id: number }>(
      'SELECT id FROM streamers WHERE name = @name',
    ),
    /** A row if the session or its streamer is hidden; with empty date and id for a streamer. */
    hidden: database.query<SessionReference, { streamer: string }>(`
      SELECT streamer FROM hidden WHERE streamer = @streamer AND (
        (date = '' AND session_id = '') OR (date = @date AND session_id = @sessionId))`),
    hiddenChatUsers: database.query<HiddenRow & { all: string }, { sessionId: string }>(`
      SELECT DISTINCT session_id AS "sessionId" FROM hidden
      WHERE (streamer = @streamer OR streamer = @all) AND date = @date ORDER BY session_id`),
  }
}

function prepareLists(database: Database) {
  return {
    sessions: database.query<{ id: number }, ListedRow>(`
      SELECT ${selectColumns(LISTED)} FROM recordings WHERE streamer_id = @id AND listed = 1`),
    /** One row of `sessions`, if listed. */
    listedSession: database.query<SessionReference, ListedRow>(`
      SELECT ${selectColumns(LISTED)}
      FROM streamers JOIN recordings ON recordings.streamer_id = streamers.id
      WHERE streamers.name = @streamer AND date = @date AND session_id = @sessionId
        AND listed = 1`),
    /** Listed sessions of a shown streamer after a name, in the order of the index. */
    sessionsAfter: database.query<SessionName & { name: string; limit: number }, EntryRow>(`
      SELECT ${selectColumns([...DETAIL, 'durationSeconds'])}, recordings.name
      FROM streamers JOIN recordings ON recordings.streamer_id = streamers.id
      WHERE streamers.name = @name AND ${isShown} AND listed = 1
        AND (date, session_id) > (@date, @sessionId)
      ORDER BY date, session_id LIMIT @limit`),
    details: database.query<{ id: number }, DetailRow>(`
      SELECT ${selectColumns(DETAIL)}, name FROM recordings
      WHERE streamer_id = @id AND listed = 1`),
  }
}

/** Dates of a streamer with listed sessions. */
function prepareNeighbours(database: Database) {
  const dates = 'SELECT date FROM recordings WHERE streamer_id = @id AND listed = 1'
  return {
    /** The date of the listed session at an offset, newest first. */
    dateAt: database.query<{ id: number; offset: number }, { date: string }>(
      `${dates} ORDER BY date DESC LIMIT 1 OFFSET @offset`,
    ),
    /** The next date before or after one. */
    dateBefore: database.query<{ id: number; date: string }, { date: string }>(
      `${dates} AND date < @date ORDER BY date DESC LIMIT 1`,
    ),
    dateAfter: database.query<{ id: number; date: string }, { date: string }>(
      `${dates} AND date > @date ORDER BY date LIMIT 1`,
    ),
    /** Number of listed sessions after a date. */
    countAfter: database.query<{ id: number; date: string }, { count: number }>(`
      SELECT count(*) AS count FROM recordings
      WHERE streamer_id = @id AND date > @date AND listed = 1`),
    /** Ids of the listed sessions of a date. */
    idsOfDate: database.query<{ id: number; date: string }, { sessionId: string }>(`
      SELECT session_id AS "sessionId" FROM recordings
      WHERE streamer_id = @id AND date = @date AND listed = 1`),
  }
}

function prepareRows(database: Database) {
  const columns = `
    streamers.name AS streamer, folders.path AS folder, recordings.name, ${selectColumns(SESSION)}`
  const ofStreamers = `
    SELECT ${columns} FROM streamers
    JOIN recordings ON recordings.streamer_id = streamers.id
    JOIN folders ON folders.id = recordings.folder_id`
  return {
    session: database.query<SessionReference, RecordingRow>(`
      ${ofStreamers}
      WHERE streamers.name = @streamer AND recordings.date = @date
        AND recordings.session_id = @sessionId
      ORDER BY recordings.listed DESC, recordings.rank, folders.path, recordings.name LIMIT 1`),
    /** Listed sessions of dates in this range. */
    sessionsOfDates: database.query<{ id: number; oldest: string; newest: string }, RecordingRow>(`
      ${ofStreamers}
      WHERE streamers.id = @id AND recordings.date >= @oldest AND recordings.date <= @newest
        AND recordings.listed = 1`),
    /**
     * The newest listed sessions of all shown streamers. Ends after `limit` rows of the index
     * `recordings_newest`, and those of the same time.
     */
    newestOfSite: database.query<{ limit: number }, RecordingRow>(`
      SELECT ${columns} FROM recordings
      JOIN streamers ON streamers.id = recordings.streamer_id
      JOIN folders ON folders.id = recordings.folder_id
      WHERE recordings.listed = 1 AND ${isShown}
      ORDER BY recordings.date DESC, recordings.modified_ms DESC, streamers.name,
        recordings.session_id
      LIMIT @limit`),
  }
}

/** A session in wall-clock time. */
export interface TimedRow extends SessionReference, Values<'facts'> {
  startMs: number
  endMs: number
}

/** Longest session of each `span` (migrations.ts), in hours. */
const SPAN_HOURS = [1, 4, 16, 64, 256, 100_000]
/** Sessions of a span that are compared: those that start soonest before and after the start. */
const MAX_COMPARED = 500

/** By span, because an index of starts alone would be read for as long as the longest session. */
const candidates = SPAN_HOURS.flatMap((hours, span) =>
  [
    `>= @startMs + @overlapMs - ${hours * 3_600_000} AND starts_at_ms <= @startMs
      ORDER BY starts_at_ms DESC`,
    '> @startMs AND starts_at_ms <= @endMs - @overlapMs ORDER BY starts_at_ms',
  ].map(
    (range) => `
    SELECT * FROM (
      SELECT id, streamer_id, starts_at_ms, ends_at_ms FROM recordings
      WHERE span = ${span} AND listed = 1 AND starts_at_ms ${range} LIMIT ${MAX_COMPARED})`,
  ),
)

/**
 * Listed sessions of other shown streamers that overlap with a period for at least `overlapMs`,
 * longest overlap first.
 */
export const AROUND = `
  SELECT streamer, date, session_id AS "sessionId", facts,
    longest.starts_at_ms AS "startMs", longest.ends_at_ms AS "endMs"
  FROM (
    SELECT compared.*, streamers.name AS streamer,
      min(ends_at_ms, @endMs) - max(starts_at_ms, @startMs) AS overlap_ms
    FROM (${candidates.join(' UNION ALL ')}) AS compared
    CROSS JOIN streamers ON streamers.id = compared.streamer_id
    WHERE overlap_ms >= @overlapMs AND streamers.name <> @streamer AND ${isShown}
    ORDER BY overlap_ms DESC, streamer LIMIT @limit) AS longest
  CROSS JOIN recordings ON recordings.id = longest.id
  ORDER BY overlap_ms DESC, streamer, date, session_id`

function prepareAround(database: Database) {
  type Period = { streamer: string; startMs: number; endMs: number; overlapMs: number }
  return { around: database.query<Period & { limit: number }, TimedRow>(AROUND) }
}
