// Hidden names in the shared database, changed by any node or command, one generation each.
import { sql } from 'kysely'
import { z } from 'zod'
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

const nameShape = z.object({
  streamer: z.string().min(1),
  date: z.string(),
  sessionId: z.string(),
})
