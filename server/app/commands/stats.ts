// `aftercast stats`: views and plays by day, streamer and session, from the first-party counters.
import { join } from 'node:path'
import { readActivityStats } from '../../site/analytics/activity-stats.ts'
import type { ActivityStats, Reach, StatsSpan } from '../../site/analytics/activity-stats.ts'
import type { Config } from '../../base/config/load-config.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import { requireCatalog } from '../data-folder.ts'
import type { StatsOptions } from '../cli-values.ts'
import type { Io } from '../io.ts'
import { printable } from '../../../shared/printable.ts'

/** Rows per table; JSON contains all. */
const MAX_ROWS = 20

/**
 * Returns the exit code 0.
 *
 * @throws AppError `failed` if the counters cannot be read
 */
export async function stats(
  config: Config,
  { days, format }: StatsOptions,
  io: Io,
): Promise<number> {
  const span = { to: new Date().toISOString().slice(0, 10), days }
  const found = await readStats(config, span)
  const lines = format === 'json' ? [JSON.stringify(found, undefined, 2)] : formatStats(found)
  for (const line of lines) io.stdout(line)
  return 0
}

async function readStats({ database, data }: Config, span: StatsSpan): Promise<ActivityStats> {
  if (database === undefined) {
    requireCatalog({ data })
    return readActivityStats(join(data, ACTIVITY_FILE), span)
  }
  const { withSharedDatabase } = await import('../cluster/connect-database.ts')
  const { readSharedStats } = await import('../cluster/shared-stats.ts')
  return withSharedDatabase(database, async (shared) => readSharedStats(shared, span))
}

/**
 * The tables as lines. Numbers come first, so that columns stay aligned for names of any script and
 * width.
 */
export function formatStats(found: ActivityStats): string[] {
  const span = `${found.from} to ${found.to} (UTC)`
  if (found.days.length + found.ads.length === 0) return [`Nothing was counted from ${span}.`]
  const { days, streamers, sessions, ads } = found
  return [
    `Views and plays from ${span}`,
    ...table('day', days, ({ day }) => day),
    ...table('streamer', streamers, ({ streamer }) => streamer),
    ...table('session', sessions, ({ streamer, date, sessionId }) =>
      [streamer, date, sessionId].join(' - '),
    ),
    ...adTable(ads),
  ]
}

function table<Row extends Reach>(
  title: string,
  rows: Row[],
  nameOf: (row: Row) => string,
): string[] {
  if (rows.length === 0) return []
  const shown = title === 'day' ? rows : rows.slice(0, MAX_ROWS)
  const lines = shown.map((row) => columns(row.views, row.plays, printable(nameOf(row))))
  return ['', columns('views', 'plays', title), ...lines, ...restOf(rows, shown)]
}

function adTable(ads: ActivityStats['ads']): string[] {
  if (ads.length === 0) return []
  const shown = ads.slice(0, MAX_ROWS)
  const lines = shown.map(({ impressions, clicks, creative, zone }) =>
    columns(impressions, clicks, printable(`${creative} in ${zone}`)),
  )
  return ['', columns('shown', 'clicks', 'house ad'), ...lines, ...restOf(ads, shown)]
}

function restOf(rows: unknown[], shown: unknown[]): string[] {
  const rest = rows.length - shown.length
  return rest === 0 ? [] : [columns('', '', `and ${rest} more, listed by --json`)]
}

function columns(first: number | string, second: number | string, name: string): string {
  return `${String(first).padStart(9)}  ${String(second).padStart(7)}  ${name}`
}
