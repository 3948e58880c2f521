// Hidden names in the shared database, changed by any node or command, one generation each.
import { sql } from 'kysely'
import { z } from 'zod'
import { inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'

/** A hidden session, or a streamer with empty date and session id. Names are in NFC. */
export interface SharedHiddenName {
  streamer: string
  date: string
  sessionId: string
}

/** Hides a name; returns whether it was visible before. */
export async function hideShared(
  database: SharedDatabase,
  { streamer, date, sessionId }: SharedHiddenName,
): Promise<boolean> {
  const { rows } = await sql`
    WITH next AS (
      UPDATE aftercast.library SET generation = generation + 1
      WHERE NOT EXISTS (
        SELECT FROM aftercast.hidden
        WHERE streamer = ${streamer} AND date = ${date} AND session_id = ${sessionId}
          AND removed_at IS NULL)
      RETURNING generation)
    INSERT INTO aftercast.hidden (streamer, date, session_id, generation, removed_at)
    SELECT ${streamer}, ${date}, ${sessionId}, generation, NULL FROM next
    ON CONFLICT (streamer, date, session_id)
      DO UPDATE SET generation = excluded.generation, removed_at = NULL
    RETURNING generation`.execute(database)
  return rows.length > 0
}

/** Shows a name again; returns whether exactly this name was hidden. */
export async function unhideShared(
  database: SharedDatabase,
  { streamer, date, sessionId }: SharedHiddenName,
): Promise<boolean> {
  const { rows } = await sql`
    WITH next AS (UPDATE aftercast.library SET generation = generation + 1 RETURNING generation)
    UPDATE aftercast.hidden SET generation = next.generation, removed_at = clock_timestamp()
    FROM next
    WHERE streamer = ${streamer} AND date = ${date} AND session_id = ${sessionId}
      AND removed_at IS NULL
    RETURNING hidden.generation`.execute(database)
  return rows.length > 0
}

/** All hidden names, in byte order. */
export async function listSharedHidden(database: SharedDatabase): Promise<SharedHiddenName[]> {
  const { rows } = await sql`
    SELECT streamer, date, session_id AS "sessionId" FROM aftercast.hidden
    WHERE removed_at IS NULL ORDER BY streamer, date, session_id`.execute(database)
  return z.array(nameShape).parse(rows)
}

/** What operators see first: the hidden names in byte order, and the newest changes. */
export interface SharedHiddenSummary {
  names: { total: number; rows: SharedHiddenName[] }
  log: { total: number; rows: SharedHideLogEntry[] }
}

/** @param limit rows of each part */
export async function summariseSharedHidden(
  database: SharedDatabase,
  limit: number,
): Promise<SharedHiddenSummary> {
  const { rows: names } = await sql`
    SELECT streamer, date, session_id AS "sessionId" FROM aftercast.hidden
    WHERE removed_at IS NULL ORDER BY streamer, date, session_id LIMIT ${limit}`.execute(database)
  const { rows: log } = await sql`
    SELECT at_ms::float8 AS "atMs", action, streamer, date, session_id AS "sessionId", reason
    FROM aftercast.hide_log ORDER BY id DESC LIMIT ${limit}`.execute(database)
  const { rows: totals } = await sql`
    SELECT (SELECT count(*) FROM aftercast.hidden WHERE removed_at IS NULL)::int AS names,
      (SELECT count(*) FROM aftercast.hide_log)::int AS log`.execute(database)
  const [total] = z.array(z.object({ names: z.number(), log: z.number() })).parse(totals)
  return {
    names: { total: total?.names ?? 0, rows: z.array(nameShape).parse(names) },
    log: { total: total?.log ?? 0, rows: z.array(logShape).parse(log) },
  }
}

/** Names that were hidden or shown after one generation, up to another. */
export async function readHiddenChanges(
  database: SharedDatabase,
  { after, upTo }: { after: number; upTo: number },
): Promise<{ hidden: SharedHiddenName[]; shown: SharedHiddenName[] }> {
  const { rows } = await sql`
    SELECT streamer, date, session_id AS "sessionId", removed_at IS NOT NULL AS "isShown"
    FROM aftercast.hidden WHERE generation > ${after} AND generation <= ${upTo}`.execute(database)
  const changes = z.array(nameShape.extend({ isShown: z.boolean() })).parse(rows)
  const pick = (wanted: boolean): SharedHiddenName[] =>
    changes.flatMap(({ isShown, ...name }) => (isShown === wanted ? [name] : []))
  return { hidden: pick(false), shown: pick(true) }
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
  const { rows } =
    streamer === undefined
      ? await sql`
          SELECT DISTINCT streamer, '' AS date, '' AS "sessionId"
          FROM aftercast.recordings WHERE removed_at IS NULL`.execute(database)
      : await sql`
          SELECT DISTINCT streamer, date, session_id AS "sessionId"
          FROM aftercast.recordings
          WHERE streamer = ${streamer} AND removed_at IS NULL`.execute(database)
  return z.array(nameShape).parse(rows)
}

/** A change of an operator; `atMs` in milliseconds since 1970, `reason` empty if none was given. */
export interface SharedHideLogEntry extends SharedHiddenName {
  atMs: number
  action: 'hide' | 'unhide'
  reason: string
}

/** Hides or shows a name, and logs it if that changed anything; returns whether it did. */
export async function changeHidden(
  database: SharedDatabase,
  { atMs, action, reason, ...name }: SharedHideLogEntry,
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const change = action === 'hide' ? hideShared : unhideShared
    if (!(await change(transaction, name))) return false
    await sql`
      INSERT INTO aftercast.hide_log (at_ms, action, streamer, date, session_id, reason)
      VALUES (${atMs}, ${action}, ${name.streamer}, ${name.date}, ${name.sessionId}, ${reason})
      `.execute(transaction)
    return true
  })
}

/** Oldest first. */
export async function listHideLog(database: SharedDatabase): Promise<SharedHideLogEntry[]> {
  const { rows } = await sql`
    SELECT at_ms::float8 AS "atMs", action, streamer, date, session_id AS "sessionId", reason
    FROM aftercast.hide_log ORDER BY id`.execute(database)
  return z.array(logShape).parse(rows)
}

/** Carries a log over; entries that are there already are not added again. */
export async function addHideLog(
  database: SharedDatabase,
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
  const { rows } = await sql`
    SELECT DISTINCT date FROM aftercast.recordings WHERE removed_at IS NULL`.execute(database)
  return z
    .array(z.object({ date: z.string() }))
    .parse(rows)
    .map(({ date }) => date)
}

/** Published sessions of these dates that are not hidden by their own name, in byte order. */
export async function listPublishedOf(
  database: SharedDatabase,
  dates: readonly string[],
): Promise<SharedHiddenName[]> {
  const { rows } = await sql`
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
    ORDER BY 1, 2, 3`.execute(database)
  return z.array(nameShape).parse(rows)
}

const nameShape = z.object({
  streamer: z.string().min(1),
  date: z.string(),
  sessionId: z.string(),
})
const logShape = nameShape.extend({
  atMs: z.number(),
  action: z.enum(['hide', 'unhide']),
  reason: z.string(),
})
