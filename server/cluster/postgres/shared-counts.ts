// Activity counters of all nodes, merged in batches that count once, however often they are sent.
import { z } from 'zod'
import { storeUnlessRefused } from './refused-rows.ts'
import { inIndexOrder, inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import { rawSql, sql } from './sql.ts'
import type { Queryable } from './sql.ts'

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
const KNOWN_BATCHES = rawSql(`interval '90 days'`)
/** Bounds how long one statement of pruning takes. */
const PRUNED_ROWS = 5000

/** A row of an index has at most 2704 bytes. */
const MAX_NAMES_BYTES = 2000

const countShape = z.object({
  day: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  name: z.string().regex(/^[a-z_]{1,40}$/),
  amount: z.int().min(1),
})

/**
 * Adds a batch, all or nothing; does nothing if a batch of this id was added before. Returns the
 * number of counters that cannot be stored.
 */
export async function mergeCounts(
  database: SharedDatabase,
  { id, counts }: { id: string; counts: readonly SharedCount[] },
  limits = LIMITS,
): Promise<number> {
  const valid = counts.filter((count) => countShape.safeParse(count).success).map(storable)
  let refused = counts.length - valid.length
  await inTransaction(database, async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`.execute(transaction)
    const { rows: added } = await sql`
      INSERT INTO aftercast.activity_batches (id, merged_at) VALUES (${id}, clock_timestamp())
      ON CONFLICT DO NOTHING RETURNING id`.execute(transaction)
    if (added.length === 0) return
    await storeUnlessRefused(valid, {
      store: async (rows) => addRows(transaction, rows, limits),
      onRefused: () => (refused += 1),
    })
  })
  return refused
}

/** Adds to rows of the same names. Beyond the limit, rows that are new lose their names. */
async function addRows(
  transaction: Queryable,
  counts: readonly SharedCount[],
  { rowsPerDay }: CountLimits,
): Promise<true> {
  await sql`SAVEPOINT before_rows`.execute(transaction)
  try {
    await sql`
      WITH given AS (
        SELECT day, name, label, zone, streamer, date, session_id, sum(amount) AS amount
        FROM json_to_recordset(${JSON.stringify(counts.map(columnsOf))}::json) AS given (
          day text, name text, label text, zone text, streamer text, date text, session_id text,
          amount bigint)
        GROUP BY 1, 2, 3, 4, 5, 6, 7),
      sizes AS MATERIALIZED (
        SELECT day, count(*) AS present FROM aftercast.daily_counts
        WHERE day IN (SELECT day FROM given) GROUP BY day),
      placed AS (
        SELECT given.*, counted.amount IS NOT NULL OR row_number() OVER (
            PARTITION BY day, counted.amount IS NULL
            ORDER BY given.amount DESC, streamer, date, session_id
          ) <= ${rowsPerDay} - coalesce(present, 0) AS has_room
        FROM given
        LEFT JOIN aftercast.daily_counts AS counted
          USING (day, name, label, zone, streamer, date, session_id)
        LEFT JOIN sizes USING (day))
      INSERT INTO aftercast.daily_counts
        (day, name, label, zone, streamer, date, session_id, amount)
      SELECT day, name,
        CASE WHEN has_room OR name NOT LIKE 'ad\\_%' THEN label ELSE '' END AS label,
        CASE WHEN has_room THEN zone ELSE '' END,
        CASE WHEN has_room THEN streamer ELSE '' END,
        CASE WHEN has_room THEN date ELSE '' END,
        CASE WHEN has_room THEN session_id ELSE '' END, sum(amount)
      FROM placed GROUP BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (day, name, label, zone, streamer, date, session_id)
        DO UPDATE SET amount = daily_counts.amount + excluded.amount`.execute(transaction)
  } catch (error) {
    await sql`ROLLBACK TO SAVEPOINT before_rows`.execute(transaction)
    throw error
  }
  return true
}

function columnsOf({ sessionId: session_id, ...names }: SharedCount): object {
  return { ...names, session_id }
}

/** Without names that PostgreSQL cannot store: a NUL, half of a surrogate pair, very long ones. */
function storable(count: SharedCount): SharedCount {
  const names = Object.values(count).join('')
  if (names.isWellFormed() && !names.includes('\0') && names.length * 3 <= MAX_NAMES_BYTES) {
    return count
  }
  return { ...count, label: '', zone: '', streamer: '', date: '', sessionId: '' }
}

/**
 * Deletes all but the newest days with counters, and batches that no node sends again: a bounded
 * number of rows for each step, all of them found by an index.
 */
export async function* pruneCounts(
  database: SharedDatabase,
  limits = LIMITS,
): AsyncGenerator<void, void> {
  const oldest = await oldestDay(database, limits.days)
  for (let hasMore = oldest !== undefined; hasMore;) {
    const { rowCount } = await sql`
      DELETE FROM aftercast.daily_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM aftercast.daily_counts WHERE day < ${oldest}
        ORDER BY day LIMIT ${PRUNED_ROWS}))`.execute(database)
    hasMore = rowCount === PRUNED_ROWS
    yield
  }
  for (let after: string | undefined = ''; after !== undefined;) {
    after = await pruneBatches(database, after)
    yield
  }
}

/** The oldest one of the newest `days`, by one lookup in the index for each. */
async function oldestDay(database: SharedDatabase, days: number): Promise<string | undefined> {
  const [oldest] = await sql`
    WITH RECURSIVE newest (day, number) AS (
      SELECT (SELECT max(day) FROM aftercast.daily_counts), 1
      UNION ALL
      SELECT (SELECT max(day) FROM aftercast.daily_counts WHERE day < newest.day), number + 1
      FROM newest WHERE number < ${days} AND day IS NOT NULL)
    SELECT day FROM newest WHERE number = ${days} AND day IS NOT NULL`.rows(
    database,
    z.object({ day: z.string() }),
  )
  return oldest?.day
}

/** Prunes the batches that follow an id; returns the last one, undefined if there are no more. */
async function pruneBatches(database: SharedDatabase, after: string): Promise<string | undefined> {
  const rows = await inIndexOrder(
    database,
    sql`
      WITH page AS MATERIALIZED (
        SELECT id, merged_at FROM aftercast.activity_batches WHERE id > ${after}
        ORDER BY id LIMIT ${PRUNED_ROWS}),
      gone AS (
        DELETE FROM aftercast.activity_batches WHERE id IN (
          SELECT id FROM page WHERE merged_at < clock_timestamp() - ${KNOWN_BATCHES}))
      SELECT max(id) AS "upTo" FROM page`,
  )
  return z.object({ upTo: z.string().nullable() }).parse(rows[0]).upTo ?? undefined
}

/** Runs a query on `aftercast.daily_counts` with `$1` and so on. */
export async function queryCounts<Row>(
  database: SharedDatabase,
  { text, parameters, row }: { text: string; parameters: unknown[]; row: z.ZodType<Row> },
): Promise<Row[]> {
  const { rows } = await database.query(text, parameters)
  return z.array(row).parse(rows)
}
