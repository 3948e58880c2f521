// The operator's page of this node: what it shows, and how it hides names.
import { join } from 'node:path'
import { withTimeout } from '../../../shared/with-timeout.ts'
import { readTopSessions } from '../../site/analytics/activity-stats.ts'
import type { TopSessions } from '../../site/analytics/activity-stats.ts'
import { createLoggedNames } from '../../library/catalog/store/hide-log.ts'
import { createOperatorQueries } from '../../library/catalog/store/operator-queries.ts'
import type { Listing, NewestImperfect } from '../../library/catalog/store/operator-queries.ts'
import { problemOf } from '../../library/catalog/store/imperfect.ts'
import type { ImperfectRecording } from '../../library/catalog/store/imperfect.ts'
import { createOperatorRoutes } from '../../site/operator/operator-routes.ts'
import type { OperatorRoutes } from '../../site/operator/operator-routes.ts'
import { TOP_DAYS } from '../../site/operator/operator-state.ts'
import type {
  CacheState,
  ImperfectRow,
  ImperfectState,
  NodeState,
  OperatorState,
  Part,
} from '../../site/operator/operator-state.ts'
import { formatProblem } from '../../base/problem-text.ts'
import type { QueueFigures, QueueName } from '../../cluster/jobs/job-queues.ts'
import type { NodeFigures } from '../../cluster/replication/node-options.ts'
import { parseLocation } from '../../storage/recordings/storage-location.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'
import { ACTIVITY_FILE } from '../activity.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { describeEmptyLibrary } from '../library-notes.ts'
import type { NetworkBytes } from '../network-bytes.ts'
import type { ScanQueue } from '../scan-progress.ts'
import type { Serving } from '../library.ts'
import type { UnmatchedNote } from '../library-notes.ts'
import { createDiskReader } from './disk-space.ts'
import type { DiskLocations } from './disk-space.ts'
import { createLimitationReader } from './limitations.ts'
import type { LimitationReader } from './limitations.ts'

/** Rows per list. */
const MAX_ROWS = 200
/** For each part of the page. */
const PART_TIMEOUT_MS = 3000

export interface OperatorOptions {
  serving: Serving
  joined: Cluster | undefined
  /** Where the recordings are: as configured, or the demo library. */
  location: StorageLocation
  version: string
  isWalked: () => boolean
  queue: () => ScanQueue
  unmatched: () => UnmatchedNote | undefined
  networks: NetworkBytes
  figures?: (() => NodeFigures) | undefined
  jobs?: (() => ReadonlyMap<QueueName, QueueFigures>) | undefined
  /** Metrics of all processes, in the text format of Prometheus. */
  readMetrics: () => Promise<string>
}

export function createOperator(options: OperatorOptions): OperatorRoutes {
  const { config, logger } = options.serving
  const opening = openNames(options)
  return createOperatorRoutes({
    token: config.server.operatorToken,
    readState: createStateReader(options, opening),
    async change({ action, name, reason }) {
      const names = await opening
      return { isKnown: await names.isKnown(name), isChanged: await names[action](name, reason) }
    },
    log: logger,
    now: () => performance.now(),
  })
}

function createStateReader(
  options: OperatorOptions,
  names: ReturnType<typeof openNames>,
): () => Promise<OperatorState> {
  const { serving, joined, version, isWalked, queue, unmatched, networks, readMetrics } = options
  const { library, io, logger, config } = serving
  const queries = createOperatorQueries(library.database, MAX_ROWS)
  const readDisks = createDiskReader(diskLocations(options))
  const readLimitations = createLimitationReader(library, io.signal)
  const part = async <T>(name: string, work: () => T | Promise<T>): Promise<Part<T>> => {
    try {
      const limit = { timeoutMs: PART_TIMEOUT_MS, signal: io.signal }
      return { status: 'known', value: await withTimeout(async () => work(), limit) }
    } catch (err) {
      logger.warn({ err, part: name }, "a part of the operator's page could not be read")
      return { status: 'unknown' }
    }
  }
  return async () => {
    const [libraryState, caches, imperfect, top, hidden, disks] = await Promise.all([
      part('library', () => ({
        ...queries.counts(),
        isWalked: isWalked(),
        queue: queue(),
        advice: unmatched()?.text ?? (isWalked() ? describeEmptyLibrary(serving) : undefined),
      })),
      part('caches', async () =>
        readCacheFigures(await readMetrics(), { hasEncodes: config.renditions.video.length > 0 }),
      ),
      part('imperfect', async () => describeAll(queries.newestImperfect(), readLimitations)),
      part('top', async () => readTop(config.data, joined)),
      part('hidden', async () => (await names).summarise()),
      readDisks(),
    ])
    return {
      version,
      uptimeSeconds: performance.now() / 1000,
      atMs: Date.now(),
      library: libraryState,
      ...(options.figures && { node: nodeState(options.figures(), options.jobs?.()) }),
      disks,
      caches,
      imperfect,
      ...(config.analytics.firstParty && { top }),
      networks: networks.heaviest(),
      hidden,
    }
  }
}

function diskLocations({ serving: { config }, location }: OperatorOptions): DiskLocations {
  const { data, artifacts, s3 } = config
  return [
    ['Recordings', location],
    ['Data', { kind: 'folder', path: data }],
    ...(artifacts === undefined
      ? []
      : [['Shared artifacts', parseLocation(artifacts, s3.pathStyle)] as const]),
  ]
}

function nodeState(
  figures: NodeFigures,
  jobs: ReadonlyMap<QueueName, QueueFigures> = new Map(),
): NodeState {
  return { ...figures, jobs: [...jobs].map(([queue, values]) => ({ queue, ...values })) }
}

async function readTop(data: string, joined: Cluster | undefined): Promise<TopSessions> {
  const span = { to: new Date().toISOString().slice(0, 10), days: TOP_DAYS }
  if (joined === undefined) return readTopSessions(join(data, ACTIVITY_FILE), span)
  const { readSharedTopSessions } = await import('../cluster/shared-stats.ts')
  return readSharedTopSessions(joined.database, span)
}

async function describeAll(
  { unplayable, limited, duplicates }: NewestImperfect,
  readLimitations: LimitationReader,
): Promise<ImperfectState> {
  const limitations = await readLimitations(limited.rows)
  const limitedRows = limited.rows.map(({ path }, at) => ({ path, problems: limitations[at] }))
  return {
    unplayable: describe(unplayable),
    limited: { total: limited.total, rows: limitedRows },
    duplicates: describe(duplicates),
  }
}

function describe({ total, rows }: Listing<ImperfectRecording>): Listing<ImperfectRow> {
  const described = rows.map(({ path, state }) => {
    const problem = problemOf(state)
    return { path, problems: problem ? [formatProblem(problem)] : [] }
  })
  return { total, rows: described }
}

/** Hidden names of this node, or of all nodes. */
async function openNames({ serving, joined }: OperatorOptions) {
  if (joined === undefined) {
    const { database } = serving.library
    const { hidden: summarise } = createOperatorQueries(database, MAX_ROWS)
    return { ...createLoggedNames(database, Date.now), summarise }
  }
  const { sharedHiddenNames } = await import('../cluster/shared-hidden-names.ts')
  const names = sharedHiddenNames(joined.database, Date.now)
  return { ...names, summarise: async () => names.summarise(MAX_ROWS) }
}

/** @param metrics in the text format of Prometheus */
export function readCacheFigures(
  metrics: string,
  { hasEncodes }: { hasEncodes: boolean },
): CacheState {
  const sumOf = (name: string, label = ''): number | undefined => {
    const values = metrics.split('\n').flatMap((line) => {
      const { named, labels = '', value } = SAMPLE.exec(line)?.groups ?? {}
      return named === name && labels.includes(label) ? [Number(value)] : []
    })
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
  }
  return {
    segmentHits: sumOf('aftercast_segment_cache_requests_total', 'result="hit"'),
    segmentMisses: sumOf('aftercast_segment_cache_requests_total', 'result="miss"'),
    segmentBytes: sumOf('aftercast_segment_cache_bytes'),
    openRecordings: sumOf('aftercast_open_recordings'),
    artifactHits: sumOf('aftercast_artifact_reads_total', 'result="hit"'),
    artifactMisses: sumOf('aftercast_artifact_reads_total', 'result="miss"'),
    refused: sumOf('aftercast_refused_total'),
    ...(hasEncodes && {
      encodes: {
        running: sumOf('aftercast_encodes_jobs', 'state="running"') ?? 0,
        waiting: sumOf('aftercast_encodes_jobs', 'state="waiting"') ?? 0,
        finished: sumOf('aftercast_encodes_total') ?? 0,
        cpuSeconds: sumOf('aftercast_encode_cpu_seconds_total') ?? 0,
      },
    }),
  }
}

const SAMPLE = /^(?<named>[a-z_]+)(?:\{(?<labels>.*)\})? (?<value>[\d.e+-]+)$/
