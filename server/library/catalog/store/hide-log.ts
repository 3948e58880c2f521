// What operators have hidden and shown again, and why; and which sessions are old enough to hide.
import type { SessionReference } from '../../../../shared/paths.ts'
import { sessionDay } from '../../../../shared/session-day.ts'
import type { Database } from './database.ts'
import { createHiddenNames, nameOf, rowOf } from './hidden.ts'
import type { HiddenName, HiddenNames, HiddenRow } from './hidden.ts'

/** One change, as an operator made it. */
export interface HideLogEntry extends HiddenRow {
  /** Milliseconds since 1970. */
  atMs: number
  action: 'hide' | 'unhide'
  /** Empty if none was given. */
  reason: string
}

/** Changes hidden names and logs it, in one transaction. */
export interface LoggedNames extends Pick<HiddenNames, 'isKnown' | 'list'> {
  /** Returns whether it was visible before. */
  hide(name: HiddenName, reason: string): boolean
  /** Returns whether exactly this name was hidden. */
  unhide(name: HiddenName, reason: string): boolean
  /** Oldest first. */
  log(): HideLogEntry[]
  /**
   * Sessions of days before `day` (ISO 8601) that are not hidden by their own name, by streamer and
   * date. Dates that do not begin with a day are not old.
   */
  before(day: string): SessionReference[]
  /** Names that a misspelt one may have meant: of streamers, or of a known streamer's sessions. */
  known(name: HiddenName): HiddenName[]
}

/** @param now milliseconds since 1970 */
export function createLoggedNames(database: Database, now: () => number): LoggedNames {
  const names = createHiddenNames(database)
  const queries = prepareLogQueries(database)

  const change = (action: HideLogEntry['action'], name: HiddenName, reason: string): boolean =>
    database.transaction(() => {
      if (!names[action](name)) return false
      queries.add.run({ ...rowOf(name), atMs: now(), action, reason })
      return true
    })

  return {
    isKnown: (name) => names.isKnown(name),
    list: () => names.list(),
    hide: (name, reason) => change('hide', name, reason),
    unhide: (name, reason) => change('unhide', name, reason),
    log: () => queries.all.all({}),
    before(day) {
      const dates = queries.dates.all({}).map(({ date }) => date)
      return queries.sessions.all({ dates: JSON.stringify(datesBefore(dates, day)) })
    },
    known(name) {
      const row = rowOf(name)
      const sessions = row.sessionId === '' ? [] : queries.sessionsOf.all(row)
      return sessions.length > 0 ? sessions.map(nameOf) : queries.streamers.all({}).map(nameOf)
    },
  }
}

/** The names that the last run hid and that nobody has shown since, in the order of the log. */
export function lastRun(log: readonly HideLogEntry[]): HiddenName[] {
  const hidden = new Map<string, HideLogEntry>()
  for (const entry of log) {
    const key = [entry.streamer, entry.date, entry.sessionId].join('/')
    if (entry.action === 'hide') hidden.set(key, entry)
    else hidden.delete(key)
  }
  const entries = [...hidden.values()]
  // All changes of a run have one time. A clock that was set back has earlier ones later.
  const atMs = entries.at(-1)?.atMs
  return entries
    .filter((entry) => entry.atMs === atMs)
    .map(({ streamer, date, sessionId }) => nameOf({ streamer, date, sessionId }))
}

/** Dates of sessions whose day is before another one (ISO 8601). */
export function datesBefore(dates: readonly string[], day: string): string[] {
  return dates.filter((date) => (sessionDay(date) ?? day) < day)
}

function prepareLogQueries(database: Database) {
  return {
    add: database.query<HideLogEntry>(`
      INSERT INTO hide_log (at_ms, action, streamer, date, session_id, reason)
      VALUES (@atMs, @action, @streamer, @date, @sessionId, @reason)`),
    all: database.query<object, HideLogEntry>(`
      SELECT at_ms AS "atMs", action, streamer, date, session_id AS "sessionId", reason
      FROM hide_log ORDER BY id`),
    dates: database.query<object, { date: string }>(
      'SELECT DISTINCT date FROM recordings WHERE listed = 1',
    ),
    sessions: database.query<{ dates: string }, HiddenRow>(`
      SELECT streamers.name AS streamer, recordings.date, recordings.session_id AS "sessionId"
      FROM recordings
      JOIN streamers ON streamers.id = recordings.streamer_id
      LEFT JOIN hidden ON hidden.streamer = streamers.name AND hidden.date = recordings.date
        AND hidden.session_id = recordings.session_id
      WHERE listed = 1 AND hidden.streamer IS NULL
        AND recordings.date IN (SELECT value FROM json_each(@dates))
      ORDER BY streamers.name, recordings.date, recordings.session_id`),
    streamers: database.query<object, HiddenRow>(
      `SELECT name AS streamer, '' AS date, '' AS "sessionId" FROM streamers`,
    ),
    sessionsOf: database.query<HiddenRow, HiddenRow>(`
      SELECT streamers.name AS streamer, date, session_id AS "sessionId"
      FROM recordings JOIN streamers ON streamers.id = recordings.streamer_id
      WHERE streamers.name = @streamer AND listed = 1`),
  }
}
