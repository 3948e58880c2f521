// Prometheus metrics of what players report: startup, stalls, errors and failed pre-rolls.
import { Counter, Histogram } from 'prom-client'
import type { QualityEvent } from '../../../shared/contract.ts'
import { VAST_ERROR_CODES } from '../../../shared/vast-error-codes.ts'
import type { Activity } from '../activity.ts'

type PlaybackReport = Extract<QualityEvent, { name: 'playback' }>

/** Seconds. Below a second, visitors hardly notice; after 30 they have left. */
const STARTUP_BUCKETS = [0.25, 0.5, 1, 2, 4, 8, 15, 30]
/** Anyone can send events: more than a visitor can do between two reports is not counted. */
const MAX_SECONDS = 86_400
const MAX_COUNT = 1000
/** Others are counted as `other`. */
const VAST_CODES: ReadonlySet<number> = new Set(VAST_ERROR_CODES)

/** Counts what the page's players report. The reports have no visitor and no session. */
export function measurePlayers({ onQuality }: Pick<Activity, 'onQuality'>): void {
  const playback = createPlaybackMetrics()
  const vastErrors = new Counter({
    name: 'aftercast_vast_errors_total',
    help: 'Pre-rolls that were not shown or broke off, by VAST error code; 303 is no ad.',
    labelNames: ['code'],
  })
  onQuality((event) => {
    if (event.name === 'playback') playback(event)
    else vastErrors.inc({ code: VAST_CODES.has(event.code) ? event.code : 'other' })
  })
}

function createPlaybackMetrics(): (report: PlaybackReport) => void {
  const startup = new Histogram({
    name: 'aftercast_player_startup_seconds',
    help: 'Time from the wish to play to the first frame, as players report it.',
    buckets: STARTUP_BUCKETS,
  })
  const abandoned = addCounter(
    'aftercast_player_abandoned_starts_total',
    'Visitors who left before the first frame.',
  )
  const played = addCounter('aftercast_player_played_seconds_total', 'Time that players played.')
  const stalls = addCounter(
    'aftercast_player_stalls_total',
    'Interruptions of playback for lack of data, other than after a seek.',
  )
  const stalled = addCounter(
    'aftercast_player_stalled_seconds_total',
    'Time of these interruptions.',
  )
  const errors = new Counter({
    name: 'aftercast_player_errors_total',
    help: 'Failures after which players retry or give up, by kind.',
    labelNames: ['kind'],
  })
  // Rates need a first value.
  for (const kind of ['network', 'media', 'other']) errors.inc({ kind }, 0)
  return (report) => {
    const { startupSeconds } = report
    if (startupSeconds !== undefined) startup.observe(Math.min(startupSeconds, MAX_SECONDS))
    abandoned.inc(Math.min(report.abandonedStarts, 1))
    played.inc(Math.min(report.playedSeconds, MAX_SECONDS))
    stalls.inc(Math.min(report.stalls, MAX_COUNT))
    stalled.inc(Math.min(report.stalledSeconds, MAX_SECONDS))
    errors.inc({ kind: 'network' }, Math.min(report.networkErrors, MAX_COUNT))
    errors.inc({ kind: 'media' }, Math.min(report.mediaErrors, MAX_COUNT))
    errors.inc({ kind: 'other' }, Math.min(report.otherErrors, MAX_COUNT))
  }
}

function addCounter(name: string, help: string): Counter {
  return new Counter({ name, help })
}
