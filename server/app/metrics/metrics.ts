// Prometheus metrics of this process.
import cluster from 'node:cluster'
import type { FastifyInstance } from 'fastify'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  register,
} from 'prom-client'
import type { Aggregator } from 'prom-client'
import { networkOf } from '../../base/admission/client.ts'
import type { Pacing } from '../../base/admission/egress.ts'
import type { Admission } from '../../base/admission/limits.ts'
import type { ArtifactFigures } from '../../storage/artifacts/shared-artifacts.ts'
import { NO_JOBS } from '../../decode/child/decoder-pool.ts'
import type { JobFigures } from '../../decode/child/decoder-pool.ts'
import type { SegmentCache } from '../../stream/delivery/segment-cache.ts'
import type { SegmentSender } from '../../stream/delivery/segment-sender.ts'
import type { Decoder } from '../../decode/thumbnails/decoder.ts'
import type { Activity } from '../activity.ts'
import type { Library } from '../library.ts'
import type { LogFigures } from '../../base/log/logger.ts'
import type { QueueFigures, QueueName } from '../../cluster/jobs/job-queues.ts'
import type { NodeFigures } from '../../cluster/replication/node-options.ts'
import type { NetworkCounter } from '../network-bytes.ts'
import { measurePlayers } from './player-metrics.ts'
import type { ScanQueue } from '../scan-progress.ts'

/** Seconds; segments for slow disks or clients may take long. */
const DURATION_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]

/** Defaults of prom-client that break the conventions for names. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Parts of this process whose load is exported. */
export interface MeasuredParts {
  library: Pick<Library, 'figures' | 'admission'>
  decoder: Pick<Decoder, 'figures'> | undefined
  sender: Pick<SegmentSender, 'bytesInFlight'>
  segmentCache: SegmentCache | undefined
  activity: Pick<Activity, 'onQuality'>
  pacing: Pacing | undefined
  networks: NetworkCounter | undefined
}

/** Starts counting requests, and exports the load of the parts. */
export function measureServer(app: FastifyInstance, parts: MeasuredParts): void {
  measureRequests(app)
  measureBytes(app, parts.networks)
  measureLibrary(parts.library)
  const { library, pacing } = parts
  measureAdmission({ ...library.admission, ...(pacing && { egress: pacing.egress }) })
  measureThumbnails(parts.decoder)
  measureSender(parts.sender)
  if (parts.segmentCache !== undefined) measureSegmentCache(parts.segmentCache)
  measurePlayers(parts.activity)
}

/** Counts this process's requests by route, method, status and kind. */
function measureRequests(app: FastifyInstance): void {
  // A worker answers the primary's requests for metrics.
  if (cluster.isWorker) void new AggregatorRegistry()
  collectDefaultMetrics()
  // Gauges with the suffix of counters; the same numbers are in the metrics without it.
  for (const name of MISNAMED) register.removeSingleMetric(name)
  const labelNames = ['route', 'method', 'status', 'kind'] as const
  const requests = new Counter({
    name: 'aftercast_http_requests_total',
    help: 'Requests answered.',
    labelNames,
  })
  const durations = new Histogram({
    name: 'aftercast_http_request_duration_seconds',
    help: 'Time from a request to the end of its response.',
    labelNames: ['route', 'kind'],
    buckets: DURATION_BUCKETS,
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const { method, kind } = request
    requests.inc({ route, method, status: reply.raw.statusCode, kind })
    durations.observe({ route, kind }, reply.elapsedTime / 1000)
    done()
  })
}

/** Counts the bytes of each response, with its head, by kind and by network. */
function measureBytes(app: FastifyInstance, networks: NetworkCounter | undefined): void {
  const sent = new Counter({
    name: 'aftercast_sent_bytes_total',
    help: 'Bytes sent, by kind of request.',
    labelNames: ['kind'],
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    const before = socket.bytesWritten
    // A client that has disconnected has no address.
    const network = networkOf(request.ip)
    // Before the listener that starts the next request of the connection.
    reply.raw.prependOnceListener('close', () => {
      const bytes = socket.bytesWritten - before + (reply.fileBytes ?? 0)
      sent.inc({ kind: request.kind }, bytes)
      networks?.add(network, bytes)
    })
    done()
  })
}

/** Exports figures of this process's segment cache. */
function measureSegmentCache(cache: SegmentCache): void {
  addCounter(
    'aftercast_segment_cache_requests_total',
    'Requests for encrypted segments, by cache hit or miss.',
    { label: 'result', read: () => ({ hit: cache.figures.hits, miss: cache.figures.misses }) },
  )
  addGauge('aftercast_segment_cache_bytes', 'Memory used by cached segments.', () => {
    return cache.figures.cachedBytes
  })
}

/** Exports the load of this process's library: open files, index thread, audio, renditions. */
export function measureLibrary({ figures }: Pick<Library, 'figures'>): void {
  addGauge('aftercast_open_recordings', 'Recordings that are open for reading.', () => {
    return figures().openRecordings
  })
  addGauge('aftercast_index_jobs', 'Jobs that run or wait in the index thread.', () => {
    return figures().index.jobs
  })
  addGauge('aftercast_index_oldest_job_seconds', 'Age of the oldest of these jobs.', () => {
    return figures().index.oldestMs / 1000
  })
  addJobs('aftercast_transcodes', 'audio transcoding', () => figures().transcodes)
  addJobs('aftercast_encodes', 'video encoding', () => figures().encodes)
  addCounter('aftercast_encode_cpu_seconds_total', 'Processor time of video encoding.', () => {
    return figures().encodeSeconds
  })
}

/** Exports the thumbnails that are decoded because no cached one exists. */
function measureThumbnails(decoder: MeasuredParts['decoder']): void {
  addJobs('aftercast_cold_thumbnails', 'thumbnail decoding', () => decoder?.figures ?? NO_JOBS)
}

/** Exports what each gate has admitted and refused, and how many entries wait. */
function measureAdmission(admission: Admission & { egress?: Pacing['egress'] }): void {
  const gates = Object.entries(admission)
  const each = (figure: 'admitted' | 'refused' | 'waiting') => ({
    label: 'resource',
    read: () =>
      Object.fromEntries(gates.map(([name, { figures }]) => [snakeCase(name), figures[figure]])),
  })
  addCounter('aftercast_admitted_total', 'Work that was admitted, by resource.', each('admitted'))
  addCounter('aftercast_refused_total', 'Work that was refused with 503.', each('refused'))
  addGauge('aftercast_waiting_for_admission', 'Work that waits for a resource.', each('waiting'))
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Exports the memory of responses that are being sent. */
function measureSender(sender: Pick<SegmentSender, 'bytesInFlight'>): void {
  addGauge('aftercast_in_flight_bytes', 'Buffer memory of segments being sent.', () => {
    return sender.bytesInFlight
  })
}

/** Exports the queue of recordings that wait for their index; only the scanning process has one. */
export function measureScan(queue: () => ScanQueue): void {
  addGauge('aftercast_index_queue_recordings', 'Recordings that wait for their index.', () => {
    return queue().recordings
  })
  addGauge('aftercast_index_queue_age_seconds', 'Time since the queue was last empty.', () => {
    return queue().ageMs / 1000
  })
}

/** Exports the state of a node of a cluster; only the process that scans or follows has one. */
export function measureNode(figures: () => NodeFigures): void {
  addGauge('aftercast_database_up', '1 if the last exchange with the database succeeded.', () => {
    return figures().isDatabaseUp ? 1 : 0
  })
  addGauge('aftercast_scanning', '1 on the node that scans the library.', () => {
    return figures().isScanning ? 1 : 0
  })
  addGauge('aftercast_library_usable', '1 if this node can read the recordings.', () => {
    return figures().isLibraryUsable ? 1 : 0
  })
  addGauge('aftercast_replication_lag_generations', 'Generations not applied yet.', () => {
    return figures().lagGenerations
  })
  addGauge(
    'aftercast_replication_lag_seconds',
    'Time since this node was last known to have all changes.',
    () => figures().lagMs / 1000,
  )
  addGauge('aftercast_outbox_recordings', 'Recordings with changes not published yet.', () => {
    return figures().outbox
  })
}

/** Exports the queues of a cluster; each node exports those of all nodes. */
export function measureJobs(figures: () => ReadonlyMap<QueueName, QueueFigures>): void {
  const add = (name: string, help: string, figure: keyof QueueFigures): void => {
    const read = () =>
      Object.fromEntries([...figures()].map(([queue, values]) => [queue, values[figure]]))
    addGauge(name, help, { label: 'queue', aggregator: 'max', read })
  }
  add('aftercast_jobs_waiting', 'Jobs that no node runs yet.', 'waiting')
  add('aftercast_jobs_active', 'Jobs that some node runs.', 'active')
  add('aftercast_jobs_oldest_seconds', 'How long the oldest job has waited.', 'oldestSeconds')
}

/** A primary that does not serve has metrics of its own: only those of workers are summed. */
export type MeasuredProcess = 'serving' | 'primary'

function prefixOf(process: MeasuredProcess): string {
  return process === 'primary' ? 'aftercast_primary_' : 'aftercast_'
}

/** Exports what this process has read and written of the artifacts that nodes share. */
export function measureArtifacts(process: MeasuredProcess, figures: () => ArtifactFigures): void {
  addCounter(`${prefixOf(process)}artifact_reads_total`, 'Reads of shared artifacts, by result.', {
    label: 'result',
    read: () => {
      const { hits, misses, unavailable } = figures()
      return { hit: hits, miss: misses, unavailable }
    },
  })
  addCounter(`${prefixOf(process)}artifacts_written_total`, 'Artifacts that were shared.', () => {
    return figures().written
  })
  addGauge(`${prefixOf(process)}artifacts_waiting`, 'Artifacts that wait to be shared.', () => {
    return figures().waiting
  })
}

/** Exports the lines that the log of this process lacks. */
export function measureLog(process: MeasuredProcess, figures: () => LogFigures): void {
  addCounter(
    `${prefixOf(process)}log_lines_dropped_total`,
    'Log lines that were not written, by reason.',
    { label: 'reason', read: () => ({ ...figures() }) },
  )
}

/** A gauge of running and waiting jobs, and a counter of finished ones. */
function addJobs(name: string, work: string, readJobs: () => JobFigures): void {
  const read = () => {
    const { running, waiting } = readJobs()
    return { running, waiting }
  }
  addGauge(`${name}_jobs`, `Jobs of ${work}, by state.`, { label: 'state', read })
  addCounter(`${name}_total`, `Finished jobs of ${work}.`, () => readJobs().finished)
}

/** The value of this process, or the values by label. */
type Source = (() => number) | LabelledSource

interface LabelledSource {
  label: string
  read: () => Record<string, number>
  aggregator?: Aggregator
}

/** The listener adds the values of all workers, ages excepted. */
function addGauge(name: string, help: string, source: Source): void {
  const aggregator = name.endsWith('_seconds') ? 'max' : 'sum'
  new Gauge({
    name,
    help,
    aggregator,
    ...optionsOf(source),
    collect() {
      for (const [labels, value] of valuesOf(source)) this.set(labels, value)
    },
  })
}

function addCounter(name: string, help: string, source: Source): void {
  new Counter({
    name,
    help,
    ...optionsOf(source),
    collect() {
      this.reset()
      for (const [labels, value] of valuesOf(source)) this.inc(labels, value)
    },
  })
}

function optionsOf(source: Source): { labelNames: string[]; aggregator?: Aggregator } {
  if (typeof source === 'function') return { labelNames: [] }
  const { label, aggregator } = source
  return { labelNames: [label], ...(aggregator && { aggregator }) }
}

function valuesOf(source: Source): [labels: Record<string, string>, value: number][] {
  if (typeof source === 'function') return [[{}, source()]]
  return Object.entries(source.read()).map(([name, value]) => [{ [source.label]: name }, value])
}
