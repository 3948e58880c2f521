// What the operator's page shows of the catalog: counts, the newest recordings that are not fully
// playable, hidden names. By indexes, and bounded, since statements block the event loop.
import type { Database, Query } from './database.ts'
import type { HiddenRow } from './hidden.ts'
import type { HideLogEntry } from './hide-log.ts'
import { imperfectOf, selectImperfect } from './imperfect.ts'
import type { ImperfectRecording, ImperfectRow } from './imperfect.ts'

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
  const unplayable = prepareNewest(database, isUnplayable)
  const limited = prepareNewest(database, isLimited)
  const duplicates = prepareNewest(database, 'listed = 0 AND reason IS NULL')
  const hidden = prepareHidden(database)

  const listOf = (
    query: Query<{ limit: number }, ImperfectRow>,
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
function prepareNewest(database: Database, condition: string) {
  return database.query<{ limit: number }, ImperfectRow>(`
    ${selectImperfect}
    WHERE recordings.id IN (
      SELECT id FROM recordings WHERE ${condition} ORDER BY date DESC, id DESC LIMIT @limit)
    ORDER BY recordings.date DESC, recordings.id DESC`)
}

const isUnplayable = 'reason IS NOT NULL'
const isLimited = 'flawed = 1 AND listed = 1'

function prepareCounts(database: Database) {
  const count = (condition: string): string =>
    `(SELECT count(*) FROM recordings WHERE ${condition})`
  return {
    catalog: database.query<object, CatalogCounts>(`
      SELECT count(*) AS streamers, coalesce(sum(recording_count), 0) AS sessions,
        ${count(`status = 'found' AND listed = 1`)} AS unindexed
      FROM streamers WHERE recording_count > 0`),
    imperfect: database.query<object, { unplayable: number; limited: number }>(
      `SELECT ${count(isUnplayable)} AS unplayable, ${count(isLimited)} AS limited`,
    ),
  }
}

function prepareHidden(database: Database) {
  return {
    names: database.query<{ limit: number }, HiddenRow>(`
      SELECT streamer, date, session_id AS "sessionId" FROM hidden
      ORDER BY streamer, date, session_id LIMIT @limit`),
    log: database.query<{ limit: number }, HideLogEntry>(`
      SELECT at_ms AS "atMs", action, streamer, date, session_id AS "sessionId", reason
      FROM hide_log ORDER BY id DESC LIMIT @limit`),
    totals: database.query<object, { names: number; log: number }>(`
      SELECT (SELECT count(*) FROM hidden) AS names, (SELECT count(*) FROM hide_log) AS log`),
  }
}
