// What the operator's page shows, as plain values. A part that could not be read is `unknown`, and
// the others are shown.
import type { TopSessions } from '../analytics/activity-stats.ts'
import type {
  CatalogCounts,
  HiddenSummary,
  Listing,
} from '../../library/catalog/store/operator-queries.ts'
import type { ProblemText } from '../../base/problem-text.ts'

export type Part<T> = { status: 'known'; value: T } | { status: 'unknown' }

export interface OperatorState {
  version: string
  uptimeSeconds: number
  /** Milliseconds since 1970. */
  atMs: number
  library: Part<LibraryState>
  /** Only in a cluster. */
  node?: NodeState
  disks: Disk[]
  caches: Part<CacheState>
  imperfect: Part<ImperfectState>
  /** Of the last `TOP_DAYS` days; undefined where nothing is counted. */
  top?: Part<TopSessions>
  /** Those that received most in the last hour. */
  networks: readonly NetworkRow[]
  hidden: Part<HiddenSummary>
}

export interface NetworkRow {
  /** An IPv4 address, or the first four groups of IPv6 addresses. */
  network: string
  bytes: number
}

/**
 * Days of the most played sessions, with today (UTC). Each has up to 50,000 counters, which take
 * about 60 ms of the event loop.
 */
export const TOP_DAYS = 2

export interface LibraryState extends CatalogCounts {
  /** Whether the first walk of the library is complete. */
  isWalked: boolean
  /** Recordings that wait for their index in this process, and for how long there were any. */
  queue: { recordings: number; ageMs: number }
  /** What to do about a library without recordings, or with some that match no session. */
  advice: string | undefined
}

/** State of a node of a cluster. */
export interface NodeState {
  isDatabaseUp: boolean
  isScanning: boolean
  lagGenerations: number
  lagMs: number
  /** Recordings with changes that are not published yet. */
  outbox: number
  /** Queues of all nodes; empty on a node that runs no jobs. */
  jobs: { queue: string; waiting: number; active: number; oldestSeconds: number }[]
}

export interface Disk {
  /** What is stored there, such as `recordings`. */
  contents: string
  space: Part<DiskSpace> | { status: 'object-store' }
}

export interface DiskSpace {
  /** For this user, who may have less than root. */
  freeBytes: number
  totalBytes: number
}

/** Sums over all processes since they started; undefined where a process has no such part. */
export interface CacheState {
  segmentHits: number | undefined
  segmentMisses: number | undefined
  segmentBytes: number | undefined
  openRecordings: number | undefined
  artifactHits: number | undefined
  artifactMisses: number | undefined
  refused: number | undefined
  /** Only where heights are encoded (`renditions.video`). */
  encodes?: { running: number; waiting: number; finished: number; cpuSeconds: number }
}

export interface ImperfectState {
  unplayable: Listing<ImperfectRow>
  limited: Listing<ImperfectRow>
  duplicates: Listing<ImperfectRow>
}

/** A recording that is not fully playable. */
export interface ImperfectRow {
  path: string
  /** Undefined if they could not be read in time. */
  problems: ProblemText[] | undefined
}
