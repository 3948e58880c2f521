// A recording as the shared database has it: without ids, and without what each node derives.
import type { RecordingStatus } from './schema.ts'

/** Identifies a recording on all nodes. */
export interface RecordingPath {
  /** As spelled in storage; '' for the root. */
  folder: string
  name: string
}

/** All of a recording's row that is not derived. Names of the session are in NFC. */
export interface ReplicaRecording extends RecordingPath {
  streamer: string
  date: string
  sessionId: string
  kind: 'file' | 'folder'
  rank: number
  sizeBytes: number
  modifiedMs: number
  version: string
  status: RecordingStatus
  durationSeconds: number | null
  reason: string | null
  flawed: number
  settlesAtMs: number
  retryAtMs: number
  restUntilMs: number
  attempts: number
  sidecars: string
  titledBy: string
  title: string | null
  startsAtMs: number | null
}

/** How far a catalog has followed a shared database. */
export interface ReplicaPosition {
  /** Of the shared database: another one after it was created again. */
  identity: string
  /** Of its server: another one after a restart or failover, which may lose the last changes. */
  epoch: string
  /** Everything up to this generation is applied; 0 before the first snapshot. */
  generation: number
}

export function isAt(
  position: ReplicaPosition | undefined,
  expected: ReplicaPosition | undefined,
): boolean {
  return (
    position?.identity === expected?.identity &&
    position?.epoch === expected?.epoch &&
    position?.generation === expected?.generation
  )
}

/** What a replica's catalog stores about itself. */
export interface ReplicaState extends ReplicaPosition {
  /** Random; identifies this catalog among the nodes. */
  node: string
}

/** Columns of a ReplicaRecording besides its path and streamer. */
export const recordingColumns = [
  'recordings.date as date',
  'recordings.session_id as sessionId',
  'recordings.kind as kind',
  'recordings.rank as rank',
  'recordings.size_bytes as sizeBytes',
  'recordings.modified_ms as modifiedMs',
  'recordings.version as version',
  'recordings.status as status',
  'recordings.duration_seconds as durationSeconds',
  'recordings.reason as reason',
  'recordings.flawed as flawed',
  'recordings.settles_at_ms as settlesAtMs',
  'recordings.retry_at_ms as retryAtMs',
  'recordings.rest_until_ms as restUntilMs',
  'recordings.attempts as attempts',
  'recordings.sidecars as sidecars',
  'recordings.titled_by as titledBy',
  'recordings.title as title',
  'recordings.starts_at_ms as startsAtMs',
] as const
