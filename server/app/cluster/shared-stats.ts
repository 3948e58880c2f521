// The statistics of all nodes, from the counters in the shared database.
import { rangeOf, statsQueries } from '../../site/analytics/activity-stats.ts'
import type {
  ActivityStats,
  StatsQuery,
  StatsSpan,
  TopSessions,
} from '../../site/analytics/activity-stats.ts'
import { queryCounts } from '../../cluster/postgres/shared-counts.ts'
import type { SharedDatabase } from '../../cluster/postgres/shared-database.ts'

export async function readSharedStats(
  database: SharedDatabase,
  span: StatsSpan,
): Promise<ActivityStats> {
  const { from, to } = rangeOf(span)
  const queries = statsQueries('aftercast.daily_counts')
  const select = async <Row>(query: StatsQuery<Row>): Promise<Row[]> =>
    queryCounts(database, { ...query, parameters: [from, to] })
  return {
    from,
    to,
    days: await select(queries.days),
    streamers: await select(queries.streamers),
    sessions: await select(queries.sessions),
    ads: await select(queries.ads),
  }
}

/** The same as `readTopSessions`, for all nodes together. */
export async function readSharedTopSessions(
  database: SharedDatabase,
  span: StatsSpan,
): Promise<TopSessions> {
  const { from, to } = rangeOf(span)
  const { topSessions } = statsQueries('aftercast.daily_counts')
  return queryCounts(database, { ...topSessions, parameters: [from, to] })
}
