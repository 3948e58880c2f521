// The tables of the catalog as types; migrations.ts creates them.
import type { Generated } from 'kysely'

export interface CatalogSchema {
  library: LibraryTable
  streamers: StreamerTable
  folders: FolderTable
  recordings: RecordingTable
  hidden: HiddenTable
  changes: ChangeTable
  migrations: MigrationTable
}

/** One row for the whole catalog. */
interface LibraryTable {
  id: number
  /** Grows with every change of any list. */
  generation: number
  /** The path template of the last scan; null before the first. */
  layout: string | null
}

interface StreamerTable {
  id: Generated<number>
  /** NFC. */
  name: string
  /** Number of listed sessions, kept by the writer. */
  recording_count: number
}

/** Folders with recordings, and their parents. */
interface FolderTable {
  id: Generated<number>
  /** Null for the root. */
  parent_id: number | null
  /** As the storage spells it; '' for the root. */
  path: string
}

export type RecordingStatus = 'found' | 'playable' | 'unplayable'

/** One row for each recording, a file or a folder of parts; a session may have several. */
interface RecordingTable {
  id: Generated<number>
  folder_id: number
  /** As the storage spells it. */
  name: string
  streamer_id: number
  date: string
  session_id: string
  kind: 'file' | 'folder'
  /** Rank among the recordings of one session (recording-name.ts). */
  rank: number
  size_bytes: number
  modified_ms: number
  status: RecordingStatus
  duration_seconds: number | null
  /** JSON of an UnplayableReason (stored-reason.ts); null unless unplayable. */
  reason: string | null
  /** 1 if it plays with limitations. */
  flawed: number
  /** 1 for the one recording that is served for its session, else 0. */
  listed: number
  /** The file counts as settled from this moment, unless it changes again. */
  settles_at_ms: number
  /** Not inspected before this moment. */
  retry_at_ms: number
  /** Not inspected before this moment even when it changes: saves work for growing files. */
  rest_until_ms: number
  /** Consecutive inspections that failed for a reason outside of the recording. */
  attempts: number
}

/** Hidden streamers and sessions, by names in NFC. The rows outlive those of the recordings. */
interface HiddenTable {
  streamer: string
  /** '' with an empty session id: the whole streamer. */
  date: string
  session_id: string
}

/** The changes of the last generations (change-log.ts), by names in NFC. */
interface ChangeTable {
  generation: number
  /** '' for everything. */
  streamer: string
  /** '' with an empty session id: the whole streamer. */
  date: string
  session_id: string
}

interface MigrationTable {
  number: number
}
