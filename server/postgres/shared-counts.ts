// Activity counters of all nodes, merged in batches that count once, however often they are sent.
import { CompiledQuery, sql } from 'kysely'
import { z } from 'zod'
import { inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'

/** A counter of one day and its increment; see DailyCount in analytics. */
export interface SharedCount {
  day: string
  name: string
  label: string
  zone: string
  streamer: string
  date: string
  sessionId: string
  amount: number
}

export interface CountLimits {
  /** Beyond, counts of a day are stored without names. */
  rowsPerDay: number
  /** Days with counters to retain. */
  days: number
}

const LIMITS: CountLimits = { rowsPerDay: 50_000, days: 800 }
/** Merges run one by one, because they update the same rows. */
const LOCK = 7_215_409_339
/** How long a batch is known, for a node that sends it again. */
const KNOWN_BATCHES = sql.raw(`interval '90 days'`)

/** A row of an index has at most 2704 bytes. */
const MAX_NAMES_BYTES = 2000

/** Adds a batch, all or nothing; does nothing if a batch of this id was added before. */
export async function mergeCounts(
  database: SharedDatabase,
  { id, counts }: { id: string; counts: readonly SharedCount[] },
  limits = LIMITS,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`.execute(transaction)
    const { rows: added } = await sql`
      INSERT INTO aftercast.activity_batches (id, merged_at) VALUES (${id}, clock_timestamp())
      ON CONFLICT DO NOTHING RETURNING id`.execute(transaction)
    if (added.length === 0) return
    await sql`
      WITH given AS (
        SELECT * FROM json_to_recordset(${JSON.stringify(counts.map(storable))}::json) AS given (
          day text, name text, label text, zone text, streamer text, date text,
          "sessionId" text, amount bigint)),
      known AS (
        UPDATE aftercast.daily_counts AS counted SET amount = counted.amount + given.amount
        FROM given
        WHERE (counted.day, counted.name, counted.label, counted.zone) =
            (given.day, given.name, given.label, given.zone)
          AND (counted.streamer, counted.date, counted.session_id) =
            (given.streamer, given.date, given."sessionId")
        RETURNING given.*),
      sizes AS MATERIALIZED (
        SELECT day, count(*) AS present FROM aftercast.daily_counts
        WHERE day IN (SELECT day FROM given) GROUP BY day),
      added AS (
        SELECT given.*, row_number() OVER (
            PARTITION BY given.day ORDER BY amount DESC, streamer, date, "sessionId"
          ) <= ${limits.rowsPerDay} - coalesce(present, 0) AS has_room
        FROM (SELECT * FROM given EXCEPT ALL SELECT * FROM known) AS given
        LEFT JOIN sizes USING (day))
      INSERT INTO aftercast.daily_counts
        (day, name, label, zone, streamer, date, session_id, amount)
      SELECT day, name,
        CASE WHEN has_room OR name NOT LIKE 'ad\\_%' THEN label ELSE '' END AS label,
        CASE WHEN has_room THEN zone ELSE '' END,
        CASE WHEN has_room THEN streamer ELSE '' END,
        CASE WHEN has_room THEN date ELSE '' END,
        CASE WHEN has_room THEN "sessionId" ELSE '' END, sum(amount)
      FROM added GROUP BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (day, name, label, zone, streamer, date, session_id)
        DO UPDATE SET amount = daily_counts.amount + excluded.amount`.execute(transaction)
  })
}

/** Without names that PostgreSQL cannot store: a NUL, half of a surrogate pair, very long ones. */
function storable(count: SharedCount): SharedCount {
  const names = Object.values(count).join('')
  if (names.isWellFormed() && !names.includes('\0') && names.length * 3 <= MAX_NAMES_BYTES) {
    return count
  }
  return { ...count, label: '', zone: '', streamer: '', date: '', sessionId: '' }
}

/** Deletes all but the newest days with counters, and batches that no node sends again. */
export async function pruneCounts(database: SharedDatabase, limits = LIMITS): Promise<void> {
  await sql`
    DELETE FROM aftercast.daily_counts WHERE day < (
      SELECT min(day) FROM (
        SELECT DISTINCT day FROM aftercast.daily_counts ORDER BY day DESC LIMIT ${limits.days})
        AS newest)`.execute(database)
  await sql`
    DELETE FROM aftercast.activity_batches
    WHERE merged_at < clock_timestamp() - ${KNOWN_BATCHES}`.execute(database)
}

/** Runs a query on `aftercast.daily_counts` with `$1` and so on. */
export async function queryCounts<Row>(
  database: SharedDatabase,
  { text, parameters, row }: { text: string; parameters: unknown[]; row: z.ZodType<Row> },
): Promise<Row[]> {
  const { rows } = await database.executeQuery(CompiledQuery.raw(text, parameters))
  return z.array(row).parse(rows)
}
