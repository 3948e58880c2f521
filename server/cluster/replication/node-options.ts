// What a node of a cluster is given, and what it reports.
import type { Outbox } from '../../library/catalog/store/outbox.ts'
import type { HiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { RecordingPath } from '../../library/catalog/store/recording-columns.ts'
import type { Replica } from '../../library/catalog/store/replica.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import type { Contribution } from './publish.ts'

export interface NodeOptions {
  database: SharedDatabase
  /** The same, opened with `HIDE_LIMITS`. */
  hideDatabase: SharedDatabase
  /** Connections of role `follow`. */
  replica: Replica
  hidden: HiddenReplica
  outbox: Outbox
  /** Identity of this node's layout. */
  layout: string
  /** Scans the library until the signal aborts or the scan is complete; absent: never scans. */
  scan?: ((signal: AbortSignal) => Scan) | undefined
  /** Whether this node can read the recordings; default always. It scans only then. */
  library?: ReadableLibrary
  /**
   * Prepares the database: at the start, and if its tables have been missing for `recreateAfterMs`.
   * Not after other failures: the tables may be those of a newer release then.
   */
  prepare: () => Promise<void>
  /** Long enough for an operator to restore the tables instead. Default half a minute. */
  recreateAfterMs?: number
  /** Repairs what else the node has in the database, after each outage. */
  recover?: () => Promise<void>
  /** What the node gives to a database that has no library yet. */
  contribution: () => Promise<Omit<Contribution, 'layout'>>
  onProblem: (problem: NodeProblem) => void
  /** From 0 to 1, for pauses; default `Math.random`. */
  random?: () => number
}

/** Whether this node can read the recordings. */
export interface ReadableLibrary {
  /** As of the last seconds. */
  readonly isUsable: boolean
  /** It is usable, but without recordings: a mount may be missing. */
  readonly isEmpty: boolean
  /** Waits for a result, within a time limit. */
  check(): Promise<boolean>
}

/** A running scan. */
export interface Scan {
  firstWalk: Promise<void>
  /** Resolves after the signal has aborted, or when it is complete. Never rejects. */
  ended: Promise<void>
}

/** For the operator. `down` and `up` alternate. */
export type NodeProblem =
  | { kind: 'down' | 'hides-late'; error: unknown }
  | { kind: 'up' | 'scan-begins' | 'scan-lost' | 'scan-idle' }
  | { kind: 'invalid'; rows: number }
  | { kind: 'unstorable'; path: RecordingPath; error: unknown }

/** State of a node at this moment. */
export interface NodeFigures {
  isDatabaseUp: boolean
  isScanning: boolean
  /** Whether this node can read the recordings. */
  isLibraryUsable: boolean
  /** Generations of the shared database that are not applied yet, as of the last contact. */
  lagGenerations: number
  /** Milliseconds since this node was last known to have all changes. */
  lagMs: number
  /** Recordings with changes that are not published yet. */
  outbox: number
}
