// The migrations of the shared database. A released step never changes.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../base/errors.ts'
import { inTransaction } from './shared-database.ts'
import type { SharedDatabase } from './shared-database.ts'
import { rawSql, sql } from './sql.ts'
import type { Queryable } from './sql.ts'

/**
 * Statements of each step; steps are numbered from 1. Names are compared by bytes, as in SQLite:
 * snapshots are read in that order.
 */
const steps: readonly (readonly string[])[] = [
  [
    `CREATE TABLE aftercast.library (
       id integer PRIMARY KEY CHECK (id = 1),
       identity text NOT NULL,
       generation bigint NOT NULL,
       complete_since bigint NOT NULL,
       layout text,
       is_walked boolean NOT NULL,
       secret text,
       scanner text,
       scanner_until timestamptz)`,
    `CREATE TABLE aftercast.recordings (
       folder text COLLATE "C" NOT NULL,
       name text COLLATE "C" NOT NULL,
       streamer text NOT NULL,
       date text NOT NULL,
       session_id text NOT NULL,
       kind text NOT NULL,
       rank integer NOT NULL,
       size_bytes bigint NOT NULL,
       modified_ms bigint NOT NULL,
       version text NOT NULL,
       status text NOT NULL,
       duration_seconds double precision,
       reason text,
       flawed integer NOT NULL,
       settles_at_ms bigint NOT NULL,
       retry_at_ms bigint NOT NULL,
       rest_until_ms bigint NOT NULL,
       attempts integer NOT NULL,
       generation bigint NOT NULL,
       removed_at timestamptz,
       PRIMARY KEY (folder, name))`,
    `CREATE INDEX recordings_by_generation ON aftercast.recordings (generation)`,
    `CREATE INDEX recordings_removed ON aftercast.recordings (removed_at)
       WHERE removed_at IS NOT NULL`,
    `CREATE TABLE aftercast.hidden (
       streamer text COLLATE "C" NOT NULL,
       date text COLLATE "C" NOT NULL,
       session_id text COLLATE "C" NOT NULL,
       generation bigint NOT NULL,
       removed_at timestamptz,
       PRIMARY KEY (streamer, date, session_id))`,
    `CREATE INDEX hidden_by_generation ON aftercast.hidden (generation)`,
    `CREATE TABLE aftercast.daily_counts (
       day text COLLATE "C" NOT NULL,
       name text COLLATE "C" NOT NULL,
       label text COLLATE "C" NOT NULL,
       zone text COLLATE "C" NOT NULL,
       streamer text COLLATE "C" NOT NULL,
       date text COLLATE "C" NOT NULL,
       session_id text COLLATE "C" NOT NULL,
       amount bigint NOT NULL,
       PRIMARY KEY (day, name, label, zone, streamer, date, session_id))`,
    `CREATE TABLE aftercast.activity_batches (
       id text PRIMARY KEY,
       merged_at timestamptz NOT NULL)`,
  ],
  [
    `ALTER TABLE aftercast.recordings
       ADD COLUMN sidecars text NOT NULL DEFAULT '',
       ADD COLUMN titled_by text NOT NULL DEFAULT '',
       ADD COLUMN title text,
       ADD COLUMN starts_at_ms bigint`,
  ],
  [
    `CREATE TABLE aftercast.releases (id text PRIMARY KEY, added_at timestamptz NOT NULL)`,
    `CREATE TABLE aftercast.assets (
       release text NOT NULL REFERENCES aftercast.releases ON DELETE CASCADE,
       name text NOT NULL,
       bytes bytea NOT NULL,
       PRIMARY KEY (release, name))`,
  ],
  [
    `CREATE TABLE aftercast.hide_log (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       at_ms bigint NOT NULL,
       action text NOT NULL,
       streamer text COLLATE "C" NOT NULL,
       date text COLLATE "C" NOT NULL,
       session_id text COLLATE "C" NOT NULL,
       reason text NOT NULL)`,
  ],
  [
    `ALTER TABLE aftercast.recordings ADD COLUMN facts text NOT NULL DEFAULT '{}'`,
    // In parts: each statement of a large library is within the time limit.
    ...Array.from(
      { length: 32 },
      (_, part) => `UPDATE aftercast.recordings SET facts = json_strip_nulls(
         json_build_object('title', title, 'startMs', starts_at_ms))::text
         WHERE hashtext(folder || '/' || name) & 31 = ${part}
           AND (title IS NOT NULL OR starts_at_ms IS NOT NULL)`,
    ),
    // Nodes of an older release, which still run, read and write the former columns.
    `CREATE FUNCTION aftercast.carry_facts() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF NEW.facts = coalesce(OLD.facts, '{}') AND
         (NEW.title, NEW.starts_at_ms) IS DISTINCT FROM (OLD.title, OLD.starts_at_ms)
       THEN
         NEW.facts := json_strip_nulls(
           json_build_object('title', NEW.title, 'startMs', NEW.starts_at_ms))::text;
       ELSE
         NEW.title := NEW.facts::json ->> 'title';
         NEW.starts_at_ms := NEW.facts::json ->> 'startMs';
       END IF;
       RETURN NEW;
     END $$`,
    `CREATE TRIGGER carry_facts BEFORE INSERT OR UPDATE ON aftercast.recordings
       FOR EACH ROW EXECUTE FUNCTION aftercast.carry_facts()`,
  ],
  [`ALTER TABLE aftercast.recordings ADD COLUMN recorded_start_ms bigint`],
]

/** Of this program; any number that no other program uses for an advisory lock. */
const LOCK = 7_215_409_338

/**
 * Creates the schema and runs the missing steps, once for nodes that start at the same time.
 *
 * @returns whether it has migrated tables of an older release
 * @throws AppError `failed` if a newer release has migrated it; errors of the database
 */
export async function migrateSharedDatabase(database: SharedDatabase): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    // Until the end of the transaction: one of the session would stay with PgBouncer's connection.
    await sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`.execute(transaction)
    // The statement needs a privilege even where the schema exists.
    if (!(await hasTables(transaction))) await sql`CREATE SCHEMA aftercast`.execute(transaction)
    await sql`
      CREATE TABLE IF NOT EXISTS aftercast.migrations (number integer PRIMARY KEY)`.execute(
      transaction,
    )
    const done = await migratedTo(transaction)
    for (const [at, statements] of steps.slice(done).entries()) {
      for (const statement of statements) await rawSql(statement).execute(transaction)
      await sql`
        INSERT INTO aftercast.migrations (number) VALUES (${done + at + 1})`.execute(transaction)
    }
    await sql`
      INSERT INTO aftercast.library (id, identity, generation, complete_since, is_walked)
      VALUES (1, ${randomUUID()}, 1, 0, false) ON CONFLICT DO NOTHING`.execute(transaction)
    return done > 0 && done < steps.length
  })
}

/**
 * Throws AppError `failed` if the database has another version than this program: only what has
 * said so migrates it.
 */
export async function checkSharedMigrated(database: SharedDatabase): Promise<void> {
  const done = (await hasTables(database)) ? await migratedTo(database) : 0
  if (done < steps.length) {
    throw new AppError(
      'failed',
      'database: it is not migrated yet: start a server with this release first',
    )
  }
}

/** Whether the database has the schema, which has all tables. */
export async function hasTables(database: Queryable): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 AS found FROM pg_namespace WHERE nspname = 'aftercast'`.execute(database)
  return rows.length > 0
}

/** @throws AppError `failed` if a newer release has migrated it */
async function migratedTo(database: Queryable): Promise<number> {
  const { number } = await sql`
    SELECT coalesce(max(number), 0) AS number FROM aftercast.migrations`.row(
    database,
    z.object({ number: z.int() }),
  )
  if (number > steps.length) {
    throw new AppError(
      'failed',
      'database: it is of a newer release: install that one, or restore the dump from before ' +
        'the upgrade (docs/deploy/upgrade.md)',
    )
  }
  return number
}
