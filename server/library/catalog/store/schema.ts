// Table types for queries; migrations.ts creates the tables.
import type { Generated } from 'kysely'

export interface CatalogSchema {
  library: LibraryTable
  streamers: StreamerTable
  folders: FolderTable
  recordings: RecordingTable
  hidden: HiddenTable
  hide_log: HideLogTable
  changes: ChangeTable
  replica: ReplicaTable
  outbox: OutboxTable
  hidden_position: HiddenPositionTable
  migrations: MigrationTable
}

/** A single row of catalog-wide state. */
interface LibraryTable {
  id: number
  /** Increases with every change of any list. */
  generation: number
  /** The layout with which the sessions were named; null before the first scan. */
  layout: string | null
  /** Where the recordings are; null before a scan of this release. */
  location: string | null
}

interface StreamerTable {
  id: Generated<number>
  /** NFC. */
  name: string
  /** Number of listed sessions, maintained by the writer. */
  recording_count: number
}

/** Folders that contain recordings, and their ancestors. */
interface FolderTable {
  id: Generated<number>
  /** Null for the root. */
  parent_id: number | null
  /** As spelled in storage; '' for the root. */
  path: string
}

/**
 * One row per recording, a file or a folder of parts, listed or not.
 */
interface RecordingTable {
  id: Generated<number>
  folder_id: number
  /** As spelled in storage. */
  name: string
  streamer_id: number
  date: string
  session_id: string
  kind: 'file' | 'folder'
  /** Rank among the recordings of one session (recording-name.ts). */
  rank: number
  size_bytes: number
  modified_ms: number
  /** `FileStat.version`; empty in a row of an older release. */
  version: string
  status: 'found' | 'playable' | 'unplayable'
  duration_seconds: number | null
  /** JSON of an UnplayableReason (stored-reason.ts); null unless unplayable. */
  reason: string | null
  /** 1 if it plays with limitations. */
  flawed: number
  /** 1 for the one recording that represents its session in lists, else 0. */
  listed: number
  /** When the file counts as finished, unless it changes again. */
  settles_at_ms: number
  /** Earliest time of the next inspection. */
  retry_at_ms: number
  /** Earliest time of the next inspection even after a change: limits the cost of growing files. */
  rest_until_ms: number
  /** Consecutive inspections that failed for a reason outside of the recording. */
  attempts: number
  /** Signature of the sidecars with text (text-sidecars.ts), empty without any. */
  sidecars: Generated<string>
  /** The signature of those that `facts` are from. */
  titled_by: Generated<string>
  facts: Generated<string>
}

/** Hidden names in NFC; separate from recordings, so that they outlive them. */
interface HiddenTable {
  streamer: string
  /** Empty together with the session id: the whole streamer. */
  date: string
  session_id: string
}

/** What operators have hidden and shown again, oldest first; names as in `hidden`. */
interface HideLogTable {
  id: Generated<number>
  at_ms: number
  action: 'hide' | 'unhide'
  streamer: string
  date: string
  session_id: string
  /** Empty if none was given. */
  reason: string
}

/** Changes of the latest generations (change-log.ts), by names in NFC. */
interface ChangeTable {
  generation: number
  /** Empty for everything. */
  streamer: string
  /** Empty together with the session id: the whole streamer. */
  date: string
  session_id: string
}

/** At most one row: which shared database this catalog replicates, and how far (replica.ts). */
interface ReplicaTable {
  id: number
  /** Random; identifies this catalog among the nodes. */
  node: string
  identity: string
  epoch: string
  /** Generation of the shared database up to which everything is applied; 0 before a snapshot. */
  generation: number
}

/** Recordings with changes that are not in the shared database yet (outbox.ts). */
interface OutboxTable {
  number: Generated<number>
  folder: string
  name: string
}

/** At most one row: how far hidden names have followed a shared database (replica-hidden.ts). */
interface HiddenPositionTable {
  id: number
  identity: string
  epoch: string
  generation: number
}

interface MigrationTable {
  number: number
}
