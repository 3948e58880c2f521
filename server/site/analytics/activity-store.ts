// The counters in a SQLite file of their own: one row per counter and day. Several processes may
// write.
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ActivityCount } from './activity-count.ts'

/** A count and its day in UTC, `2026-01-31`. */
export type DailyCount = ActivityCount & { day: string }

/** Writes counters synchronously; may throw SQLite's errors. */
export interface ActivityStore {
  /** Adds to the counters, all or nothing. */
  add(counts: readonly DailyCount[]): void
  close(): void
}

/** Bounds on the file's size; tests set them lower. */
export interface StoreLimits {
  /**
   * Rows per day, approximately if several processes write; beyond that, counts are stored without
   * names.
   */
  rowsPerDay: number
  /** Days with counters to keep, before the current one. */
  days: number
}

const LIMITS: StoreLimits = { rowsPerDay: 50_000, days: 800 }
/** Short, since waiting blocks the event loop: callers retry when the file is locked. */
const BUSY_TIMEOUT_MS = 20
const RECOUNT_ROWS = 1000

/** Opens the file at `path`; creates it if missing. Throws SQLite's errors. */
export function openActivityStore(path: string, limits = LIMITS): ActivityStore {
  mkdirSync(dirname(path), { recursive: true })
  const sqlite = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = NORMAL')
    sqlite.exec(TABLE)
    return createStore(sqlite, limits)
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/** Columns of a counter and the key of its table. */
export const COUNT_COLUMNS = `
    day TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    zone TEXT NOT NULL,
    streamer TEXT NOT NULL,
    date TEXT NOT NULL,
    session_id TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (day, name, label, zone, streamer, date, session_id)`

const TABLE = `CREATE TABLE IF NOT EXISTS daily_counts (${COUNT_COLUMNS}) WITHOUT ROWID`

interface Retention {
  today: string
  days: number
}

/**
 * Deletes all but the newest days with counters. Their age does not count: a clock that is years
 * ahead for a while would delete everything. One index lookup per day, since scanning all rows
 * would block the event loop.
 */
const FORGET = `
  WITH RECURSIVE newest (day, number) AS (
    SELECT (SELECT max(day) FROM daily_counts WHERE day < @today), 1
    UNION ALL
    SELECT (SELECT max(day) FROM daily_counts WHERE day < newest.day), number + 1
    FROM newest WHERE number < @days AND day IS NOT NULL
  )
  DELETE FROM daily_counts WHERE day < (SELECT day FROM newest WHERE number = @days)`

function createStore(sqlite: Database, limits: StoreLimits): ActivityStore {
  const increase = sqlite.prepare<DailyCount>(`
    UPDATE daily_counts SET amount = amount + @amount
    WHERE day = @day AND name = @name AND label = @label AND zone = @zone
      AND streamer = @streamer AND date = @date AND session_id = @sessionId`)
  const insert = sqlite.prepare<DailyCount>(`
    INSERT INTO daily_counts VALUES (@day, @name, @label, @zone, @streamer, @date, @sessionId, @amount)
    ON CONFLICT DO UPDATE SET amount = amount + excluded.amount`)
  const countRows = sqlite
    .prepare<[string], number>('SELECT count(*) FROM daily_counts WHERE day = ?')
    .pluck()
  const forget = sqlite.prepare<Retention>(FORGET)
  let prunedOn = ''
  const counted = { day: '', rows: 0, age: 0 }

  /** Whether the day has room for another row. Counting takes milliseconds, so it is throttled. */
  function takeRoom(day: string): boolean {
    counted.age += 1
    if (counted.day !== day || counted.age > RECOUNT_ROWS) {
      Object.assign(counted, { day, rows: countRows.get(day) ?? 0, age: 0 })
    }
    if (counted.rows >= limits.rowsPerDay) return false
    counted.rows += 1
    return true
  }

  const add = sqlite.transaction((counts: readonly DailyCount[]) => {
    for (const count of counts) {
      if (increase.run(count).changes > 0) continue
      insert.run(takeRoom(count.day) ? count : withoutNames(count))
    }
  })

  return {
    add(counts) {
      const today = counts.at(-1)?.day
      if (today === undefined) return
      if (today !== prunedOn) forget.run({ today, days: limits.days })
      prunedOn = today
      add.immediate(counts)
    },
    close: () => sqlite.close(),
  }
}

/** There are only a few dozen of these per day, whatever visitors send. */
function withoutNames(count: DailyCount): DailyCount {
  const label = count.name.startsWith('ad_') ? '' : count.label
  return { ...count, label, zone: '', streamer: '', date: '', sessionId: '' }
}
