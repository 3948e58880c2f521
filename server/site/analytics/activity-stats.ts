// Reads the counters: views and plays by day, streamer and session, and results of house ads.
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import type { SessionReference } from '../../../shared/paths.ts'
import { AppError } from '../../base/errors.ts'

/** Number of page views, and of main videos started. */
export interface Reach {
  views: number
  plays: number
}

/** Most played first; newest day first. */
export interface ActivityStats {
  /** First and last day in UTC, `2026-01-31`. */
  from: string
  to: string
  days: (Reach & { day: string })[]
  /** Views of a streamer's list and of its sessions' pages. */
  streamers: (Reach & { streamer: string })[]
  sessions: (Reach & SessionReference)[]
  ads: { creative: string; zone: string; impressions: number; clicks: number }[]
}

export interface StatsSpan {
  /** Last day. */
  to: string
  /** Number of days, including the last. */
  days: number
}

/** The most played sessions of a span. */
export type TopSessions = ActivityStats['sessions']

const DAY_MS = 86_400_000
const TOP_SESSIONS = 20

/**
 * Returns empty statistics if the file does not exist.
 *
 * @throws AppError `failed` if the file is unreadable
 */
export function readActivityStats(path: string, span: StatsSpan): ActivityStats {
  const range = rangeOf(span)
  if (!existsSync(path)) return { ...range, days: [], streamers: [], sessions: [], ads: [] }
  return readCounts(path, range, (select, queries) => ({
    ...range,
    days: select(queries.days),
    streamers: select(queries.streamers),
    sessions: select(queries.sessions),
    ads: select(queries.ads),
  }))
}

/** Only the 20 most played sessions of `readActivityStats`. */
export function readTopSessions(path: string, span: StatsSpan): TopSessions {
  if (!existsSync(path)) return []
  return readCounts(path, rangeOf(span), (select, { topSessions }) => select(topSessions))
}

type Select = <Row>(query: StatsQuery<Row>) => Row[]

function readCounts<T>(
  path: string,
  { from, to }: Pick<ActivityStats, 'from' | 'to'>,
  read: (select: Select, queries: ReturnType<typeof statsQueries>) => T,
): T {
  let sqlite: Database | undefined
  try {
    sqlite = new Sqlite(path, { fileMustExist: true })
    const select: Select = ({ text, row }) =>
      z.array(row).parse(sqlite?.prepare<unknown[]>(text).all({ 1: from, 2: to }))
    return read(select, statsQueries('daily_counts'))
  } catch (cause) {
    throw new AppError('failed', 'the counters cannot be read', { cause })
  } finally {
    sqlite?.close()
  }
}

/** First and last day. */
export function rangeOf({ to, days }: StatsSpan): Pick<ActivityStats, 'from' | 'to'> {
  const from = new Date(Date.parse(to) - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  return { from, to }
}

/** A query with the first day as `$1` and the last one as `$2`. */
export interface StatsQuery<Row> {
  text: string
  row: z.ZodType<Row>
}

const amount = z.number().min(0)
const reach = { views: amount, plays: amount }

/** The queries of the statistics, in the SQL that SQLite and PostgreSQL share. */
export function statsQueries(table: string) {
  const sumOf = (name: string): string =>
    `CAST(coalesce(sum(amount) FILTER (WHERE name = '${name}'), 0) AS double precision)`
  const columns = `${sumOf('page_view')} AS views, ${sumOf('begin_video')} AS plays`
  const spanned = `FROM ${table} WHERE day BETWEEN $1 AND $2`
  const reached = `${spanned} AND name IN ('page_view', 'begin_video')`
  const most = 'ORDER BY plays DESC, views DESC'
  const sessions = {
    text: `
      SELECT streamer, date, session_id AS "sessionId", ${columns} ${reached}
        AND session_id <> ''
      GROUP BY streamer, date, session_id ${most}, streamer, date, session_id`,
    row: z.object({ streamer: z.string(), date: z.string(), sessionId: z.string(), ...reach }),
  }
  return {
    sessions,
    topSessions: { ...sessions, text: `${sessions.text} LIMIT ${TOP_SESSIONS}` },
    days: {
      text: `SELECT day, ${columns} ${reached} GROUP BY day ORDER BY day DESC`,
      row: z.object({ day: z.string(), ...reach }),
    },
    streamers: {
      text: `
        SELECT streamer, ${columns} ${reached} AND streamer <> ''
        GROUP BY streamer ${most}, streamer`,
      row: z.object({ streamer: z.string(), ...reach }),
    },
    ads: {
      text: `
        SELECT label AS creative, zone, ${sumOf('ad_impression')} AS impressions,
          ${sumOf('ad_click')} AS clicks
        ${spanned} AND name IN ('ad_impression', 'ad_click')
        GROUP BY label, zone ORDER BY impressions DESC, creative, zone`,
      row: z.object({
        creative: z.string(),
        zone: z.string(),
        impressions: amount,
        clicks: amount,
      }),
    },
  }
}
