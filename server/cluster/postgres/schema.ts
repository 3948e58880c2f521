// Table types of the shared database, all in the schema `aftercast`; migrations.ts creates them.

export interface SharedSchema {
  'aftercast.migrations': { number: number }
  'aftercast.library': LibraryTable
  'aftercast.recordings': RecordingTable
  'aftercast.hidden': HiddenTable
  'aftercast.daily_counts': DailyCountTable
  'aftercast.activity_batches': { id: string; merged_at: Date }
}

/**
 * A single row. Its lock orders all changes: a generation is drawn under it and is committed before
 * the next one is drawn, so that a node which has read one generation has seen all before.
 */
interface LibraryTable {
  id: number
  /** Random; another one in a database that was created again. */
  identity: string
  generation: string
  /** Deletions up to this generation are no longer recorded: an older node needs a snapshot. */
  complete_since: string
  /** Identity of the layout with which the sessions were named; null before the first scan. */
  layout: string | null
  /** Whether a walk of the whole library has been published. */
  is_walked: boolean
  /** HLS secret of all nodes; null until one needs it. */
  secret: string | null
  /** Token of the process that scans, until `scanner_until` by the clock of the database. */
  scanner: string | null
  scanner_until: Date | null
}

/** Rows of all recordings by path, including those that were deleted lately. */
interface RecordingTable {
  folder: string
  name: string
  generation: string
  removed_at: Date | null
}

/** Hidden names in NFC, including those that were shown again lately. */
interface HiddenTable {
  streamer: string
  date: string
  session_id: string
  generation: string
  removed_at: Date | null
}

interface DailyCountTable {
  day: string
  name: string
  label: string
  zone: string
  streamer: string
  date: string
  session_id: string
  amount: string
}
