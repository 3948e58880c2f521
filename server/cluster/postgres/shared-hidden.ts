// Hidden names in the shared database, changed by any node or command, one generation each.
import { z } from 'zod'
import { libraryColumns, libraryShape } from './library-row.ts'
import type { SharedLibrary } from './library-row.ts'
import { HIDE_LIMITS, inIndexOrder, inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import { sql } from './sql.ts'
import type { Queryable } from './sql.ts'

const nameShape = z.object({
  streamer: z.string().min(1),
  date: z.string(),
  sessionId: z.string(),
})

/** A hidden session, or a streamer with empty date and session id. Names are in NFC. */
export type SharedHiddenName = z.infer<typeof nameShape>

const changeShape = nameShape.extend({ isHidden: z.boolean(), generation: z.int() })

/** A name that was hidden or shown again. */
export type SharedHiddenChange = z.infer<typeof changeShape>

const changesShape = libraryShape.extend({ changes: z.array(changeShape) })

const logShape = nameShape.extend({
  /** Milliseconds since 1970. */
  atMs: z.number(),
  action: z.enum(['hide', 'unhide']),
  /** Empty if none was given. */
  reason: z.string(),
})

/** A change of an operator. */
export type SharedHideLogEntry = z.infer<typeof logShape>

/** Names per statement. */
const NAMES_AT_ONCE = 1000

/** Hides names, one generation each; returns how many were visible before. */
export async function addHidden(
  database: Queryable,
  names: readonly SharedHiddenName[],
): Promise<number> {
  let added = 0
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const some = JSON.stringify(names.slice(at, at + NAMES_AT_ONCE))
    const { rows } = await sql`
      WITH visible AS (
        SELECT given.*, row_number() OVER () AS number
        FROM json_to_recordset(${some}::json) AS given (streamer text, date text, "sessionId" text)
        WHERE NOT EXISTS (
          SELECT FROM aftercast.hidden
          WHERE (hidden.streamer, hidden.date, hidden.session_id) =
              (given.streamer, given.date, given."sessionId")
            AND removed_at IS NULL)),
      next AS (
        UPDATE aftercast.library SET generation = generation + (SELECT count(*) FROM visible)
        RETURNING generation)
      INSERT INTO aftercast.hidden (streamer, date, session_id, generation, removed_at)
      SELECT streamer, date, "sessionId", generation + 1 - number, NULL FROM visible, next
      ON CONFLICT (streamer, date, session_id)
        DO UPDATE SET generation = excluded.generation, removed_at = NULL
      RETURNING generation`.execute(database)
    added += rows.length
  }
  return added
}

/** All hidden names, in byte order. */
export async function listSharedHidden(database: SharedDatabase): Promise<SharedHiddenName[]> {
  return sql`
    SELECT streamer, date, session_id AS "sessionId" FROM aftercast.hidden
    WHERE removed_at IS NULL ORDER BY streamer, date, session_id`.rows(database, nameShape)
}

/** What operators see first. */
export type SharedHiddenSummary = Awaited<ReturnType<typeof summariseSharedHidden>>

/** The hidden names in byte order, and the newest changes. @param limit rows of each part */
export async function summariseSharedHidden(database: SharedDatabase, limit: number) {
  const names = await sql`
    SELECT streamer, date, session_id AS "sessionId" FROM aftercast.hidden
    WHERE removed_at IS NULL ORDER BY streamer, date, session_id LIMIT ${limit}`.rows(
    database,
    nameShape,
  )
  const log = await sql`
    SELECT at_ms::float8 AS "atMs", action, streamer, date, session_id AS "sessionId", reason
    FROM aftercast.hide_log ORDER BY id DESC LIMIT ${limit}`.rows(database, logShape)
  const total = await sql`
    SELECT (SELECT count(*) FROM aftercast.hidden WHERE removed_at IS NULL)::int AS names,
      (SELECT count(*) FROM aftercast.hide_log)::int AS log`.row(database, totalsShape)
  return { names: { total: total.names, rows: names }, log: { total: total.log, rows: log } }
}

const totalsShape = z.object({ names: z.number(), log: z.number() })

/** Changes of hidden names after one generation. */
export interface SharedHiddenChanges {
  /** At the moment of the changes. */
  library: SharedLibrary
  changes: SharedHiddenChange[]
  /** All changes up to this generation are contained. */
  upTo: number
}

/** In one statement, so that no record of a change is pruned between library and changes. */
export async function readHiddenChanges(
  database: SharedDatabase,
  after: number,
): Promise<SharedHiddenChanges> {
  const statement = sql`
    SELECT ${libraryColumns}, (
      SELECT coalesce(json_agg(changed), '[]') FROM (
        SELECT streamer, date, session_id AS "sessionId", removed_at IS NULL AS "isHidden",
          generation
        FROM aftercast.hidden WHERE generation > ${after}
        ORDER BY generation LIMIT ${NAMES_AT_ONCE}) AS changed) AS changes
    FROM aftercast.library`
  const work = async (transaction: Queryable) => statement.row(transaction, changesShape)
  const { changes, ...library } = await inTransaction(database, work, HIDE_LIMITS)
  const upTo = changes.length < NAMES_AT_ONCE ? library.generation : changes.at(-1)?.generation
  return { library, changes, upTo: upTo ?? library.generation }
}

/** Hidden names after one in byte order, and the last of them unless there are no more. */
export async function readHiddenPage(
  database: SharedDatabase,
  { streamer, date, sessionId }: SharedHiddenName,
): Promise<{ names: SharedHiddenName[]; upTo: SharedHiddenName | undefined }> {
  const statement = sql`
    SELECT streamer, date, session_id AS "sessionId" FROM aftercast.hidden
    WHERE (streamer, date, session_id) > (${streamer}, ${date}, ${sessionId})
      AND removed_at IS NULL
    ORDER BY streamer, date, session_id LIMIT ${NAMES_AT_ONCE}`
  const names = z.array(nameShape).parse(await inIndexOrder(database, statement, HIDE_LIMITS))
  return { names, upTo: names.length < NAMES_AT_ONCE ? undefined : names.at(-1) }
}

/** Whether a recording of this name is published, hidden or not. */
export async function isPublished(
  database: SharedDatabase,
  { streamer, date, sessionId }: SharedHiddenName,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM aftercast.recordings
    WHERE streamer = ${streamer} AND removed_at IS NULL
      AND (${sessionId} = '' OR (date = ${date} AND session_id = ${sessionId}))
    LIMIT 1`.execute(database)
  return rows.length > 0
}

/** All published streamers, or with a streamer, its sessions. */
export async function listPublishedNames(
  database: SharedDatabase,
  streamer: string | undefined,
): Promise<SharedHiddenName[]> {
  const statement =
    streamer === undefined
      ? sql`
          SELECT DISTINCT streamer, '' AS date, '' AS "sessionId"
          FROM aftercast.recordings WHERE removed_at IS NULL`
      : sql`
          SELECT DISTINCT streamer, date, session_id AS "sessionId"
          FROM aftercast.recordings
          WHERE streamer = ${streamer} AND removed_at IS NULL`
  return statement.rows(database, nameShape)
}

/**
 * Hides or shows a name, and logs it if that changed anything; returns whether it did. One
 * statement: the row of the library is locked for no round trip.
 */
export async function changeHidden(
  database: SharedDatabase,
  { atMs, action, reason, streamer, date, sessionId }: SharedHideLogEntry,
): Promise<boolean> {
  const isHide = action === 'hide'
  const { rows } = await sql`
    WITH next AS (
      UPDATE aftercast.library SET generation = generation + 1
      WHERE ${isHide} <> EXISTS (
        SELECT FROM aftercast.hidden
        WHERE streamer = ${streamer} AND date = ${date} AND session_id = ${sessionId}
          AND removed_at IS NULL)
      RETURNING generation),
    changed AS (
      INSERT INTO aftercast.hidden (streamer, date, session_id, generation, removed_at)
      SELECT ${streamer}, ${date}, ${sessionId}, generation,
        CASE WHEN NOT ${isHide} THEN clock_timestamp() END
      FROM next
      ON CONFLICT (streamer, date, session_id)
        DO UPDATE SET generation = excluded.generation, removed_at = excluded.removed_at
      RETURNING streamer, date, session_id)
    INSERT INTO aftercast.hide_log (at_ms, action, streamer, date, session_id, reason)
    SELECT ${atMs}::bigint, ${action}, streamer, date, session_id, ${reason} FROM changed
    RETURNING id`.execute(database)
  return rows.length > 0
}

/** Oldest first. */
export async function listHideLog(database: SharedDatabase): Promise<SharedHideLogEntry[]> {
  return sql`
    SELECT at_ms::float8 AS "atMs", action, streamer, date, session_id AS "sessionId", reason
    FROM aftercast.hide_log ORDER BY id`.rows(database, logShape)
}

/** Carries a log over; entries that are there already are not added again. */
export async function addHideLog(
  database: Queryable,
  entries: readonly SharedHideLogEntry[],
): Promise<void> {
  await sql`
    INSERT INTO aftercast.hide_log (at_ms, action, streamer, date, session_id, reason)
    SELECT "atMs", action, streamer, date, "sessionId", reason
    FROM json_to_recordset(${JSON.stringify(entries)}::json) AS given (
      "atMs" bigint, action text, streamer text, date text, "sessionId" text, reason text)
    WHERE NOT EXISTS (
      SELECT FROM aftercast.hide_log AS known
      WHERE (known.at_ms, known.action) = (given."atMs", given.action)
        AND (known.streamer, known.date, known.session_id) =
          (given.streamer, given.date, given."sessionId"))`.execute(database)
}

/** Dates of published recordings. */
export async function listPublishedDates(database: SharedDatabase): Promise<string[]> {
  const dates = await sql`
    SELECT DISTINCT date FROM aftercast.recordings WHERE removed_at IS NULL`.rows(
    database,
    nameShape.pick({ date: true }),
  )
  return dates.map(({ date }) => date)
}

/** Published sessions of these dates that are not hidden by their own name, in byte order. */
export async function listPublishedOf(
  database: SharedDatabase,
  dates: readonly string[],
): Promise<SharedHiddenName[]> {
  return sql`
    SELECT DISTINCT streamer COLLATE "C" AS streamer, date COLLATE "C" AS date,
      session_id COLLATE "C" AS "sessionId"
    FROM aftercast.recordings AS published
    WHERE removed_at IS NULL AND date IN (
        SELECT json_array_elements_text(${JSON.stringify(dates)}::json))
      AND NOT EXISTS (
        SELECT FROM aftercast.hidden
        WHERE (hidden.streamer, hidden.date, hidden.session_id) =
            (published.streamer, published.date, published.session_id)
          AND hidden.removed_at IS NULL)
    ORDER BY 1, 2, 3`.rows(database, nameShape)
}
