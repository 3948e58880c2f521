// Reads the counters: views and plays by day, streamer and session, and results of house ads.
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { existsSync } from 'node:fs'
import type { SessionReference } from '../../shared/paths.ts'
import { AppError } from '../errors.ts'

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

const DAY_MS = 86_400_000

/**
 * Returns empty statistics if the file does not exist.
 *
 * @throws AppError `failed` if the file is unreadable
 */
export function readActivityStats(path: string, { to, days }: StatsSpan): ActivityStats {
  const from = daysBefore(to, days - 1)
  const empty = { from, to, days: [], streamers: [], sessions: [], ads: [] }
  if (!existsSync(path)) return empty
  let sqlite: Database | undefined
  try {
    sqlite = new Sqlite(path, { fileMustExist: true })
    return { ...empty, ...query(sqlite, { from, to }) }
  } catch (cause) {
    throw new AppError('failed', 'the counters cannot be read', { cause })
  } finally {
    sqlite?.close()
  }
}

/** The day a number of days before another. */
function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10)
}

const REACH = `
  sum(amount) FILTER (WHERE name = 'page_view') AS views,
  sum(amount) FILTER (WHERE name = 'begin_video') AS plays`

type Span = Pick<ActivityStats, 'from' | 'to'>

function query(sqlite: Database, span: Span): Omit<ActivityStats, keyof Span> {
  const select = <Row>(columns: string, rest: string): Row[] =>
    sqlite
      .prepare<Span, Row>(
        `SELECT ${columns} FROM daily_counts WHERE day BETWEEN @from AND @to ${rest}`,
      )
      .all(span)
  const isReach = `AND name IN ('page_view', 'begin_video')`
  const most = 'ORDER BY ifnull(plays, 0) DESC, ifnull(views, 0) DESC'
  return {
    days: select<RawReach & { day: string }>(
      `day, ${REACH}`,
      `${isReach} GROUP BY day ORDER BY day DESC`,
    ).map(reachOf),
    streamers: select<RawReach & { streamer: string }>(
      `streamer, ${REACH}`,
      `${isReach} AND streamer <> '' GROUP BY streamer ${most}, streamer`,
    ).map(reachOf),
    sessions: select<RawReach & SessionReference>(
      `streamer, date, session_id AS sessionId, ${REACH}`,
      `${isReach} AND session_id <> ''
       GROUP BY streamer, date, session_id ${most}, streamer, date, session_id`,
    ).map(reachOf),
    ads: select(
      `label AS creative, zone,
       ifnull(sum(amount) FILTER (WHERE name = 'ad_impression'), 0) AS impressions,
       ifnull(sum(amount) FILTER (WHERE name = 'ad_click'), 0) AS clicks`,
      `AND name IN ('ad_impression', 'ad_click') GROUP BY label, zone
       ORDER BY impressions DESC, creative, zone`,
    ),
  }
}

interface RawReach {
  /** SQLite returns NULL for an empty sum. */
  views: number | null
  plays: number | null
}

function reachOf<Row extends RawReach>(row: Row): Row & Reach {
  return { ...row, views: row.views ?? 0, plays: row.plays ?? 0 }
}
