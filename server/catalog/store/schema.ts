// The tables of the catalog as queries see them; migrations.ts makes them.
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

/** One row: what is true of the catalog as a whole. */
interface LibraryTable {
  id: number
  /** Grows with every change of any list. */
  generation: number
  /** The path template by which the sessions were named; null before the first scan. */
  layout: string | null
}

interface StreamerTable {
  id: Generated<number>
  /** NFC. */
  name: string
  /** Number of listed sessions, kept by the writer. */
  recording_count: number
}

/** Folders that hold recordings, and those on the way to them. */
interface FolderTable {
  id: Generated<number>
  /** Null for the root. */
  parent_id: number | null
  /** As the storage spells it; '' for the root. */
  path: string
}

export type RecordingStatus = 'found' | 'playable' | 'unplayable'

/**
 * One row for each recording, be it a file or a folder of parts, so also for those that stand behind another of the
 * same session.
 */
interface RecordingTable {
  id: Generated<number>
  folder_id: number
  /** As the storage spells it. */
  name: string
  streamer_id: number
  date: string
  session_id: string
  kind: 'file' | 'folder'
  /** Place among the recordings of one session (recording-name.ts). */
  rank: number
  size_bytes: number
  modified_ms: number
  status: RecordingStatus
  duration_seconds: number | null
  /** JSON of an UnplayableReason (stored-reason.ts); null unless unplayable. */
  reason: string | null
  /** 1 where it plays, but not all of it as it was meant. */
  flawed: number
  /** 1 for the one recording that stands for its session in lists, else 0. */
  listed: number
  /** Moment from which the file counts as finished, unless it changes again. */
  settles_at_ms: number
  /** Not to be inspected before this moment. */
  retry_at_ms: number
  /** Not to be inspected before this moment even when it changes: spares files that grow all the time. */
  rest_until_ms: number
  /** Inspections in a row that failed for a reason outside of the recording. */
  attempts: number
}

/** What was taken off the site, by names in NFC; kept apart from recordings, so that it outlives them. */
interface HiddenTable {
  streamer: string
  /** '' with an empty session id: all of the streamer. */
  date: string
  session_id: string
}

/** What changed with the last generations (change-log.ts), by names in NFC. */
interface ChangeTable {
  generation: number
  /** '' for everything. */
  streamer: string
  /** '' with an empty session id: all of the streamer. */
  date: string
  session_id: string
}

interface MigrationTable {
  number: number
}
