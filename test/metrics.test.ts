// Metrics for Prometheus: of all workers together, on their own listener and nowhere else.
import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findProgram } from '../scripts/programs.mjs'
import { activityApiPath } from '../shared/paths.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { startServer } from './support/servers/start-server.ts'
import {
  alertRules,
  CLUSTER_METRICS,
  dashboardExpressions,
  DASHBOARDS,
  metricsIn,
  metricsNamedBy,
} from './support/verify/named-metrics.ts'
import { makeTempFolder } from './support/temp-folder.ts'

/** One of each group, whichever process it comes from. */
const METRICS = [
  'open_recordings',
  'index_jobs',
  'index_oldest_job_seconds',
  'index_queue_recordings',
  'index_queue_age_seconds',
  'cold_thumbnails_jobs',
  'transcodes_total',
  'encodes_total',
  'encode_cpu_seconds_total',
  'segment_cache_requests_total',
  'in_flight_bytes',
  'sent_bytes_total',
  'admitted_total',
  'refused_total',
  'waiting_for_admission',
  'player_startup_seconds',
]
/** Metrics that dashboards and alerts name, of a primary that does not serve. */
const OF_PRIMARY = [
  'aftercast_primary_artifact_reads_total',
  'aftercast_primary_log_lines_dropped_total',
]
const REPORT = {
  name: 'playback',
  startupSeconds: 0.4,
  abandonedStarts: 0,
  playedSeconds: 12.5,
  stalls: 2,
  stalledSeconds: 1.5,
  networkErrors: 0,
  mediaErrors: 3,
  otherErrors: 0,
}

it.each(['1', '2'])(
  'exports the requests of %s worker(s) on the metrics listener only',
  async (workers) => {
    const folder = makeTempFolder('metrics')
    await mkdir(join(folder, 'library'))
    const port = await findFreePort()
    const server = await startServer({
      args: [join(folder, 'library'), '--data', join(folder, 'data')],
      environment: {
        AFTERCAST_WORKERS: workers,
        AFTERCAST_METRICS: `127.0.0.1:${port}`,
        AFTERCAST_ARTIFACTS: join(folder, 'artifacts'),
      },
    })
    for (let i = 0; i < 5; i += 1) await (await fetch(`${server.url}/api/streamers`)).text()
    await report(server.url, [REPORT, { name: 'vast_error', code: 303 }])
    await report(server.url, [
      { ...REPORT, stalls: 1e9 },
      { name: 'vast_error', code: 7 },
    ])
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const labels = 'route="/api/streamers",method="GET",status="200",kind="list"'
    const count = new RegExp(`requests_total\\{${labels}\\} (?<n>\\d+)`).exec(text)
    expect(count?.groups?.n).toBe('5')
    expect(text).toContain('process_resident_memory_bytes')
    for (const name of METRICS) expect(text, name).toContain(`\n# TYPE aftercast_${name} `)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
    // The `params` of Prometheus are a query.
    const head = await fetch(`http://127.0.0.1:${port}/metrics?a=1`, { method: 'HEAD' })
    expect(head.status).toBe(200)

    // Of players: added up, and no more than one visitor can do.
    expect(text).toContain('\naftercast_player_startup_seconds_bucket{le="0.5"} 2\n')
    expect(text).toContain('\naftercast_player_played_seconds_total 25\n')
    expect(text).toContain('\naftercast_player_stalls_total 1002\n')
    expect(text).toContain('\naftercast_player_errors_total{kind="media"} 6\n')
    expect(text).toContain('\naftercast_player_errors_total{kind="network"} 0\n')
    expect(text).toContain('\naftercast_vast_errors_total{code="303"} 1\n')
    expect(text).toContain('\naftercast_vast_errors_total{code="other"} 1\n')

    const ofPrimary = workers === '1' ? OF_PRIMARY : []
    expect(missingIn(text)).toEqual([...CLUSTER_METRICS, ...ofPrimary].toSorted())
    expect(problemsOf(text)).toBe('')
  },
)

async function report(url: string, events: object[]): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(events)
  const { status } = await fetch(url + activityApiPath, { method: 'POST', headers, body })
  expect(status).toBe(204)
}

/** What dashboards and alert rules name, and the scrape lacks. */
function missingIn(scrape: string): string[] {
  const known = metricsIn(scrape)
  const expressions = [
    ...DASHBOARDS.flatMap(dashboardExpressions),
    ...alertRules().map(({ expr }) => expr),
  ]
  return metricsNamedBy(expressions.join('\n')).filter((name) => !known.has(name))
}

/** What Prometheus' own linter reports; nothing on a machine without it. */
function problemsOf(scrape: string): string {
  const program = findProgram('promtool')
  if (program === undefined) return ''
  const { stdout, stderr, status } = spawnSync(program, ['check', 'metrics'], {
    input: scrape,
    encoding: 'utf8',
  })
  return `${stdout}${stderr}${status === 0 ? '' : `ended with ${status}`}`
}
