// The load that viewers put on nodes, object store and database, and the nodes that it needs.
import { refreshRate, sessionShares } from './edge-cache.ts'
import { audience, live, measured, node, replication, visit } from './figures.ts'

export interface LoadInput {
  viewers: number
  /** Share of the segment requests that the CDN answers itself, from 0 to 1. */
  hitRate: number
  isEncrypted: boolean
  /** Where the recordings are. */
  storage: 'bucket' | 'folder'
}

export interface Load {
  segmentsPerSecond: number
  bytesPerSecond: number
  /** Pages, lists, keys and counters, which the CDN passes on. */
  otherPerSecond: number
  /** Playlists of growing recordings. */
  livePlaylistsPerSecond: number
  /** CPUs that are busy on all nodes together. */
  cpus: number
  /** GET requests that the object store gets: one per segment that is missed. */
  storeRequestsPerSecond: number
  nodes: number
  /** What the number of nodes follows from. */
  limit: 'CPU' | 'network'
  /** At most: one per session and event. */
  counterRowsPerSecond: number
  /** Share of the time that PostgreSQL merges counters: merges run one by one. */
  mergingShare: number
  /** Of all nodes, to follow the catalog. */
  statementsPerSecond: number
}

/** Share of a node's CPUs and network that is planned. */
const PLANNED_SHARE = 0.7
/** One may fail. */
const MIN_NODES = 2

export function computeLoad({ viewers, hitRate, isEncrypted, storage }: LoadInput): Load {
  const segmentsPerSecond = (viewers / audience.segmentSeconds) * (1 - hitRate)
  const bytesPerSecond = segmentsPerSecond * audience.segmentBytes
  const visitsPerSecond = viewers / audience.watchedSeconds
  const perVisit = visit.revalidated + (isEncrypted ? visit.keys : 0) + visit.activityPosts
  const pagesPerSecond = visitsPerSecond * visit.pages
  const smallPerSecond = visitsPerSecond * perVisit
  const livePlaylistsPerSecond = livePlaylists(viewers)
  const cpus =
    (bytesPerSecond / 1e9) * cpuSecondsPerGigabyte({ isEncrypted, storage }) +
    pagesPerSecond * measured.pageCpuSeconds +
    (smallPerSecond + livePlaylistsPerSecond) * measured.smallCpuSeconds
  const byCpu = cpus / (node.cpus * PLANNED_SHARE)
  const byNetwork = bytesPerSecond / (node.bytesPerSecond * PLANNED_SHARE)
  const counterRowsPerSecond = visitsPerSecond * visit.counterRows
  const nodes = Math.max(MIN_NODES, Math.ceil(Math.max(byCpu, byNetwork)))
  return {
    segmentsPerSecond,
    bytesPerSecond,
    otherPerSecond: pagesPerSecond + smallPerSecond,
    livePlaylistsPerSecond,
    cpus,
    storeRequestsPerSecond: storage === 'bucket' ? segmentsPerSecond : 0,
    nodes,
    limit: byCpu > byNetwork ? 'CPU' : 'network',
    counterRowsPerSecond,
    mergingShare: counterRowsPerSecond / measured.counterRowsPerSecond,
    statementsPerSecond: nodes * replication.statementsPerSecond,
  }
}

function cpuSecondsPerGigabyte({
  isEncrypted,
  storage,
}: Pick<LoadInput, 'isEncrypted' | 'storage'>): number {
  const read =
    storage === 'bucket' ? measured.storeCpuSecondsPerGigabyte : measured.fileCpuSecondsPerGigabyte
  return read + (isEncrypted ? measured.cipherCpuSecondsPerGigabyte : 0)
}

/** Per second, of all live sessions. */
function livePlaylists(viewers: number): number {
  const reloads = (viewers * live.share) / live.reloadSeconds
  return sessionShares(live.sessions, live.zipfExponent).reduce(
    (sum, { count, share }) =>
      sum + count * refreshRate(reloads * share, live.places, live.maxAgeSeconds),
    0,
  )
}
