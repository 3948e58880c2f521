// What operators have hidden and shown again, and why; and which sessions are old enough to hide.
import { sql } from 'kysely'
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
  // All changes of a run have one time.
  const atMs = entries.reduce((latest, entry) => Math.max(latest, entry.atMs), 0)
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
    ...prepareKnownQueries(database),
    add: database.prepare<HideLogEntry>()((kysely, parameter) =>
      kysely.insertInto('hide_log').values({
        at_ms: parameter('atMs'),
        action: parameter('action'),
        streamer: parameter('streamer'),
        date: parameter('date'),
        session_id: parameter('sessionId'),
        reason: parameter('reason'),
      }),
    ),
    all: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('hide_log')
        .select(['at_ms as atMs', 'action', 'streamer', 'date', 'session_id as sessionId'])
        .select('reason')
        .orderBy('id'),
    ),
    dates: database.prepare<object>()((kysely) =>
      kysely.selectFrom('recordings').select('date').distinct().where('listed', '=', 1),
    ),
    sessions: database.prepare<{ dates: string }>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .leftJoin('hidden', (join) =>
          join
            .onRef('hidden.streamer', '=', 'streamers.name')
            .onRef('hidden.date', '=', 'recordings.date')
            .onRef('hidden.session_id', '=', 'recordings.session_id'),
        )
        .select([
          'streamers.name as streamer',
          'recordings.date',
          'recordings.session_id as sessionId',
        ])
        .where('listed', '=', 1)
        .where('hidden.streamer', 'is', null)
        .where(
          'recordings.date',
          'in',
          sql<string>`(SELECT value FROM json_each(${parameter('dates')}))`,
        )
        .orderBy('streamers.name')
        .orderBy('recordings.date')
        .orderBy('recordings.session_id'),
    ),
  }
}

function prepareKnownQueries(database: Database) {
  return {
    streamers: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('streamers')
        .select(['name as streamer', sql<string>`''`.as('date'), sql<string>`''`.as('sessionId')]),
    ),
    sessionsOf: database.prepare<HiddenRow>()((kysely, parameter) =>
      kysely
        .selectFrom('recordings')
        .innerJoin('streamers', 'streamers.id', 'recordings.streamer_id')
        .select(['streamers.name as streamer', 'date', 'session_id as sessionId'])
        .where('streamers.name', '=', parameter('streamer'))
        .where('listed', '=', 1),
    ),
  }
}
