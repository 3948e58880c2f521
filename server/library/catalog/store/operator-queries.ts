// What the operator's page shows of the catalog: counts, the newest recordings that are not fully
// playable, hidden names. By indexes, and bounded, since statements block the event loop.
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { Database, Query } from './database.ts'
import type { HiddenRow } from './hidden.ts'
import type { HideLogEntry } from './hide-log.ts'
import { imperfectOf, selectImperfect } from './imperfect.ts'
import type { ImperfectRecording } from './imperfect.ts'

/** The first rows of a longer list. */
export interface Listing<Row> {
  total: number
  rows: Row[]
}

export interface CatalogCounts {
  streamers: number
  /** Sessions in lists. */
  sessions: number
  /** Of these, the ones without an index. */
  unindexed: number
}

/** By date, newest first. */
export interface NewestImperfect {
  unplayable: Listing<ImperfectRecording>
  limited: Listing<ImperfectRecording>
  /** Only of the newest `DUPLICATE_CANDIDATES` recordings that are not listed. */
  duplicates: Listing<ImperfectRecording>
}

/** Hidden names in byte order, and the newest changes first. */
export interface HiddenSummary {
  names: Listing<HiddenRow>
  log: Listing<HideLogEntry>
}

export interface OperatorQueries {
  counts(this: void): CatalogCounts
  newestImperfect(this: void): NewestImperfect
  hidden(this: void): HiddenSummary
}

/** Those of hidden sessions are candidates too, and there may be very many. */
export const DUPLICATE_CANDIDATES = 2000

/** @param limit rows of each list */
export function createOperatorQueries(database: Database, limit: number): OperatorQueries {
  const counts = prepareCounts(database)
  const unplayable = prepareNewest(database, sql`reason IS NOT NULL`)
  const limited = prepareNewest(database, sql`flawed = 1 AND listed = 1`)
  const duplicates = prepareNewest(database, sql`listed = 0 AND reason IS NULL`)
  const hidden = prepareHidden(database)

  const listOf = (
    query: Query<{ limit: number }, Parameters<typeof imperfectOf>[0]>,
    total: number,
  ): Listing<ImperfectRecording> => ({ total, rows: query.all({ limit }).flatMap(imperfectOf) })

  return {
    counts: () => counts.catalog.get({}) ?? { streamers: 0, sessions: 0, unindexed: 0 },
    newestImperfect() {
      const totals = counts.imperfect.get({})
      const found = duplicates.all({ limit: DUPLICATE_CANDIDATES }).flatMap(imperfectOf)
      return {
        unplayable: listOf(unplayable, totals?.unplayable ?? 0),
        limited: listOf(limited, totals?.limited ?? 0),
        duplicates: { total: found.length, rows: found.slice(0, limit) },
      }
    },
    hidden() {
      const totals = hidden.totals.get({})
      return {
        names: { total: totals?.names ?? 0, rows: hidden.names.all({ limit }) },
        log: { total: totals?.log ?? 0, rows: hidden.log.all({ limit }) },
      }
    },
  }
}

/** Conditions are literal: SQLite uses no partial index for a bound value. */
function prepareNewest(database: Database, condition: RawBuilder<unknown>) {
  return database.prepare<{ limit: number }>()((kysely, parameter) =>
    selectImperfect(kysely)
      .where(
        sql<boolean>`recordings.id IN (
          SELECT id FROM recordings WHERE ${condition} ORDER BY date DESC, id DESC
          LIMIT ${parameter('limit')})`,
      )
      .orderBy('recordings.date', 'desc')
      .orderBy('recordings.id', 'desc'),
  )
}

function prepareCounts(database: Database) {
  const count = (condition: RawBuilder<unknown>): RawBuilder<number> =>
    sql<number>`(SELECT count(*) FROM recordings WHERE ${condition})`
  return {
    catalog: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('streamers')
        .select(({ fn }) => fn.countAll<number>().as('streamers'))
        .select(sql<number>`coalesce(sum(recording_count), 0)`.as('sessions'))
        .select(count(sql`status = 'found' AND listed = 1`).as('unindexed'))
        .where('recording_count', '>', 0),
    ),
    imperfect: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('library')
        .select(count(sql`reason IS NOT NULL`).as('unplayable'))
        .select(count(sql`flawed = 1 AND listed = 1`).as('limited')),
    ),
  }
}

function prepareHidden(database: Database) {
  return {
    names: database.prepare<{ limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('hidden')
        .select(['streamer', 'date', 'session_id as sessionId'])
        .orderBy('streamer')
        .orderBy('date')
        .orderBy('session_id')
        .limit(parameter('limit')),
    ),
    log: database.prepare<{ limit: number }>()((kysely, parameter) =>
      kysely
        .selectFrom('hide_log')
        .select(['at_ms as atMs', 'action', 'streamer', 'date', 'session_id as sessionId'])
        .select('reason')
        .orderBy('id', 'desc')
        .limit(parameter('limit')),
    ),
    totals: database.prepare<object>()((kysely) =>
      kysely
        .selectFrom('library')
        .select(sql<number>`(SELECT count(*) FROM hidden)`.as('names'))
        .select(sql<number>`(SELECT count(*) FROM hide_log)`.as('log')),
    ),
  }
}
