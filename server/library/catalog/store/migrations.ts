// The migrations of the catalog. A released step never changes.
import type { Database as SqliteDatabase } from 'better-sqlite3'
import { AppError } from '../../../base/errors.ts'

/** Statements of each step; steps are numbered from 1. */
const steps: readonly (readonly string[])[] = [
  [
    `CREATE TABLE library (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       generation INTEGER NOT NULL,
       layout TEXT)`,
    `INSERT INTO library (id, generation) VALUES (1, 1)`,
    `CREATE TABLE streamers (
       id INTEGER PRIMARY KEY,
       name TEXT NOT NULL UNIQUE,
       recording_count INTEGER NOT NULL)`,
    `CREATE TABLE folders (
       id INTEGER PRIMARY KEY,
       parent_id INTEGER REFERENCES folders (id),
       path TEXT NOT NULL UNIQUE)`,
    `CREATE INDEX folders_by_parent ON folders (parent_id)`,
    `CREATE TABLE recordings (
       id INTEGER PRIMARY KEY,
       folder_id INTEGER NOT NULL REFERENCES folders (id),
       name TEXT NOT NULL,
       streamer_id INTEGER NOT NULL REFERENCES streamers (id),
       date TEXT NOT NULL,
       session_id TEXT NOT NULL,
       rank INTEGER NOT NULL,
       size_bytes BIGINT NOT NULL,
       modified_ms BIGINT NOT NULL,
       status TEXT NOT NULL CHECK (status IN ('found', 'playable', 'unplayable')),
       duration_seconds DOUBLE PRECISION,
       reason TEXT,
       listed INTEGER NOT NULL,
       settles_at_ms BIGINT NOT NULL,
       retry_at_ms BIGINT NOT NULL,
       rest_until_ms BIGINT NOT NULL,
       attempts INTEGER NOT NULL,
       UNIQUE (folder_id, name),
       CHECK ((status = 'playable') = (duration_seconds IS NOT NULL)),
       CHECK ((status = 'unplayable') = (reason IS NOT NULL)))`,
    `CREATE INDEX recordings_by_session ON recordings (streamer_id, date, session_id, listed)`,
    `CREATE INDEX recordings_pending ON recordings (date, modified_ms, retry_at_ms)
       WHERE status = 'found' AND listed = 1`,
  ],
  [
    `ALTER TABLE recordings ADD COLUMN kind TEXT NOT NULL DEFAULT 'file'
       CHECK (kind IN ('file', 'folder'))`,
    `ALTER TABLE recordings ADD COLUMN flawed INTEGER NOT NULL DEFAULT 0`,
    // newer readers may play these: the next walk adds them again
    `DELETE FROM recordings WHERE status = 'unplayable'`,
    `CREATE TABLE hidden (
       streamer TEXT NOT NULL,
       date TEXT NOT NULL,
       session_id TEXT NOT NULL,
       PRIMARY KEY (streamer, date, session_id))`,
  ],
  [
    `CREATE TABLE changes (
       generation INTEGER NOT NULL,
       streamer TEXT NOT NULL,
       date TEXT NOT NULL,
       session_id TEXT NOT NULL,
       PRIMARY KEY (generation, streamer, date, session_id))`,
  ],
  [
    // the same table with OR instead of IN, for which SQLite builds a table on every insert
    `CREATE TABLE checked_recordings (
       id INTEGER PRIMARY KEY,
       folder_id INTEGER NOT NULL REFERENCES folders (id),
       name TEXT NOT NULL,
       streamer_id INTEGER NOT NULL REFERENCES streamers (id),
       date TEXT NOT NULL,
       session_id TEXT NOT NULL,
       kind TEXT NOT NULL CHECK (kind = 'file' OR kind = 'folder'),
       rank INTEGER NOT NULL,
       size_bytes BIGINT NOT NULL,
       modified_ms BIGINT NOT NULL,
       status TEXT NOT NULL
         CHECK (status = 'found' OR status = 'playable' OR status = 'unplayable'),
       duration_seconds DOUBLE PRECISION,
       reason TEXT,
       flawed INTEGER NOT NULL,
       listed INTEGER NOT NULL,
       settles_at_ms BIGINT NOT NULL,
       retry_at_ms BIGINT NOT NULL,
       rest_until_ms BIGINT NOT NULL,
       attempts INTEGER NOT NULL,
       UNIQUE (folder_id, name),
       CHECK ((status = 'playable') = (duration_seconds IS NOT NULL)),
       CHECK ((status = 'unplayable') = (reason IS NOT NULL)))`,
    `INSERT INTO checked_recordings
       SELECT id, folder_id, name, streamer_id, date, session_id, kind, rank, size_bytes,
         modified_ms, status, duration_seconds, reason, flawed, listed, settles_at_ms, retry_at_ms,
         rest_until_ms, attempts
       FROM recordings`,
    `DROP TABLE recordings`,
    `ALTER TABLE checked_recordings RENAME TO recordings`,
    `CREATE INDEX recordings_by_session ON recordings (streamer_id, date, session_id, listed)`,
    `CREATE INDEX recordings_pending ON recordings (date, modified_ms, retry_at_ms)
       WHERE status = 'found' AND listed = 1`,
  ],
  [
    // reasons are codes now: the next walk adds these rows again, and they are inspected again
    `DELETE FROM recordings WHERE status = 'unplayable'`,
  ],
  [
    // the next walk adds the versions of files that are unchanged by size and time
    `ALTER TABLE recordings ADD COLUMN version TEXT NOT NULL DEFAULT ''`,
  ],
  [
    `CREATE TABLE replica (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       node TEXT NOT NULL,
       identity TEXT NOT NULL,
       epoch TEXT NOT NULL,
       generation INTEGER NOT NULL)`,
    // a path that changes again gets a new number
    `CREATE TABLE outbox (
       number INTEGER PRIMARY KEY AUTOINCREMENT,
       folder TEXT NOT NULL,
       name TEXT NOT NULL,
       UNIQUE (folder, name))`,
  ],
  [
    `ALTER TABLE recordings ADD COLUMN sidecars TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE recordings ADD COLUMN titled_by TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE recordings ADD COLUMN title TEXT`,
    `ALTER TABLE recordings ADD COLUMN starts_at_ms BIGINT`,
    `CREATE INDEX recordings_untitled ON recordings (date)
       WHERE sidecars <> titled_by AND listed = 1`,
  ],
  [
    `CREATE TABLE hide_log (
       id INTEGER PRIMARY KEY,
       at_ms BIGINT NOT NULL,
       action TEXT NOT NULL CHECK (action = 'hide' OR action = 'unhide'),
       streamer TEXT NOT NULL,
       date TEXT NOT NULL,
       session_id TEXT NOT NULL,
       reason TEXT NOT NULL)`,
  ],
  [`CREATE INDEX recordings_newest ON recordings (date, modified_ms) WHERE listed = 1`],
  [
    `CREATE INDEX recordings_unplayable ON recordings (date) WHERE reason IS NOT NULL`,
    `CREATE INDEX recordings_flawed ON recordings (date) WHERE flawed = 1 AND listed = 1`,
    `CREATE INDEX recordings_unlisted ON recordings (date) WHERE listed = 0 AND reason IS NULL`,
  ],
  [`ALTER TABLE library ADD COLUMN location TEXT`],
  [
    `CREATE TABLE hidden_position (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       identity TEXT NOT NULL,
       epoch TEXT NOT NULL,
       generation INTEGER NOT NULL)`,
  ],
  [
    `ALTER TABLE recordings ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'`,
    `UPDATE recordings
       SET facts = json_patch('{}', json_object('title', title, 'startMs', starts_at_ms))
       WHERE title IS NOT NULL OR starts_at_ms IS NOT NULL`,
    `ALTER TABLE recordings DROP COLUMN title`,
    `ALTER TABLE recordings DROP COLUMN starts_at_ms`,
    // a replica may have followed facts that it did not know: it takes a snapshot
    `UPDATE replica SET epoch = ''`,
  ],
  [
    // the next scan adds those of earlier rows (named-starts.ts)
    `ALTER TABLE recordings ADD COLUMN recorded_start_ms BIGINT`,
    `ALTER TABLE library ADD COLUMN zone TEXT`,
    `ALTER TABLE recordings ADD COLUMN starts_at_ms BIGINT AS (coalesce(
       CASE WHEN json_valid(facts) THEN
         CASE json_type(facts, '$.startMs') WHEN 'integer' THEN facts ->> '$.startMs' END END,
       recorded_start_ms))`,
    `ALTER TABLE recordings ADD COLUMN ends_at_ms BIGINT
       AS (starts_at_ms + CAST(round(duration_seconds * 1000) AS INTEGER))`,
    // 0: up to an hour; each further one has four times the length
    `ALTER TABLE recordings ADD COLUMN span INTEGER
       AS ((duration_seconds > 3600) + (duration_seconds > 14400) + (duration_seconds > 57600) +
         (duration_seconds > 230400) + (duration_seconds > 921600))`,
    `CREATE INDEX recordings_by_time ON recordings (span, starts_at_ms, ends_at_ms, streamer_id)
       WHERE listed = 1 AND span IS NOT NULL`,
    // as for the facts
    `UPDATE replica SET epoch = ''`,
  ],
]

/**
 * Runs the missing steps up to a number (tests stop earlier). Each is one transaction together with
 * its number, so that a kill between two steps loses nothing.
 */
export function migrate(sqlite: SqliteDatabase, upTo = steps.length): void {
  sqlite.exec('CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)')
  const runNext = sqlite.transaction((): boolean => {
    // read inside of the transaction: another process may have migrated
    const done = migratedTo(sqlite)
    const statements = steps[done]
    if (done > steps.length) throw madeByNewer()
    if (!statements || done >= upTo) return false
    for (const statement of statements) sqlite.exec(statement)
    sqlite.prepare('INSERT INTO migrations (number) VALUES (?)').run(done + 1)
    return true
  })
  while (runNext.immediate());
}

/** Of the first step that a catalog lacks. Undefined if it has all of them, or is new. */
export function nextStepOf(sqlite: SqliteDatabase): number | undefined {
  const done = migratedTo(sqlite)
  return done === 0 || done >= steps.length ? undefined : done + 1
}

/** Throws AppError `failed` if the catalog has a later version than this program. */
export function checkNotNewer(sqlite: SqliteDatabase): void {
  if (migratedTo(sqlite) > steps.length) throw madeByNewer()
}

/** Throws AppError `failed` if the catalog has another version than this program. */
export function checkMigrated(sqlite: SqliteDatabase): void {
  checkNotNewer(sqlite)
  if (migratedTo(sqlite) < steps.length)
    throw new AppError(
      'failed',
      'the catalog is not migrated yet: start its server with this release first',
    )
}

function migratedTo(sqlite: SqliteDatabase): number {
  const table = sqlite.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'migrations'`).get()
  if (table === undefined) return 0
  const row = sqlite
    .prepare<[], { number: number | null }>('SELECT max(number) AS number FROM migrations')
    .get()
  return row?.number ?? 0
}

function madeByNewer(): AppError {
  return new AppError(
    'failed',
    'data: the catalog is of a newer release: install that one, or put the copy from before the ' +
      'upgrade in its place (docs/deploy/upgrade.md)',
  )
}
