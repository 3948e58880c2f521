// Brings a node's replica to the generation of the shared database, by its changes or a snapshot.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordingPath } from '../../library/catalog/store/recording-columns.ts'
import type { Replica, SnapshotPart } from '../../library/catalog/store/replica.ts'
import { isAt } from '../../library/catalog/store/replica-position.ts'
import type { ReplicaPosition } from '../../library/catalog/store/replica-position.ts'
import type { SharedLibrary } from '../postgres/library-row.ts'
import { readLibrary } from '../postgres/library-row.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { readChanges, readPage } from '../postgres/shared-recordings.ts'

export interface Following {
  database: SharedDatabase
  replica: Replica
  /** Rows of the database that are not valid were skipped. */
  onInvalid: (rows: number) => void
  /** One that a failure has interrupted; it is continued if nothing else has changed. */
  snapshot: Snapshot | undefined
}

interface Snapshot {
  /** Of the shared database at its beginning, and of the replica until its end. */
  from: ReplicaPosition
  position: ReplicaPosition
  /** All before, and this path, is applied. */
  after: RecordingPath
}

/** Rows per statement. */
const ROWS_PER_READ = 5000
/** Rows per transaction of the replica, which bounds how long the event loop is blocked. */
const ROWS_PER_TRANSACTION = 500

/**
 * Applies everything up to the generation of `library`. Returns false if there is more to do: the
 * next call continues. Does nothing before the first scan.
 *
 * @throws errors of the databases, and of the signal
 */
export async function follow(
  following: Following,
  library: SharedLibrary,
  signal: AbortSignal,
): Promise<boolean> {
  if (library.layout === null) return true
  const position = following.replica.state()
  if (needsSnapshot(position, library)) {
    if (!(await applySnapshot(following, library, signal))) return false
    following.replica.useLayout(library.layout)
    return true
  }
  following.replica.useLayout(library.layout)
  return applyChanges(following, library, signal)
}

/**
 * Whether the changes after a position are incomplete, or of another database or run of its server.
 * A lower generation than this node's is that of a restored backup.
 */
export function needsSnapshot(
  position: ReplicaPosition | undefined,
  library: SharedLibrary,
): boolean {
  const { identity, epoch, generation, completeSince } = library
  return (
    position?.identity !== identity ||
    position.epoch !== epoch ||
    position.generation > generation ||
    position.generation < Math.max(1, completeSince)
  )
}

async function applyChanges(
  { database, replica, onInvalid }: Following,
  { identity, epoch, generation }: SharedLibrary,
  signal: AbortSignal,
): Promise<boolean> {
  let position = { identity, epoch, generation: replica.state()?.generation ?? generation }
  while (position.generation < generation) {
    signal.throwIfAborted()
    const span = { after: position.generation, upTo: generation, limit: ROWS_PER_READ }
    const { present, gone, upTo, invalid } = await readChanges(database, span)
    // Deletions may have been pruned between these statements.
    const { completeSince } = await readLibrary(database)
    if (completeSince > position.generation) return false
    if (invalid > 0) onInvalid(invalid)
    for (const part of parts(present)) {
      if (!replica.apply({ present: part, gone: [] }, position)) return false
      await nextTurn()
    }
    for (const part of parts(gone)) {
      if (!replica.apply({ present: [], gone: part }, position)) return false
      await nextTurn()
    }
    position = { identity, epoch, generation: upTo }
    replica.moveTo(position)
  }
  return true
}

/**
 * Reads all recordings in pages. What changes meanwhile has a later generation than `library`, and
 * is applied after that.
 */
async function applySnapshot(
  following: Following,
  library: SharedLibrary,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, replica, onInvalid } = following
  const snapshot = continued(following, library) ?? begun(replica, library)
  following.snapshot = snapshot
  let next = readPage(database, snapshot.after, ROWS_PER_READ)
  for (let isLast = false; !isLast;) {
    const { present, upTo, invalid } = await next
    signal.throwIfAborted()
    if (invalid > 0) onInvalid(invalid)
    isLast = upTo === undefined
    if (upTo !== undefined) {
      next = readPage(database, upTo, ROWS_PER_READ)
      // Awaited in the next round, unless this one fails.
      next.catch(() => undefined)
    }
    const part = { present, after: snapshot.after, upTo }
    if (!(await reconcile(replica, part, snapshot.position))) return false
    snapshot.after = upTo ?? snapshot.after
  }
  following.snapshot = undefined
  replica.moveTo(snapshot.from)
  return true
}

function continued({ snapshot, replica }: Following, library: SharedLibrary): Snapshot | undefined {
  if (snapshot === undefined || needsSnapshot(snapshot.from, library)) return undefined
  return isAt(replica.state(), snapshot.position) ? snapshot : undefined
}

function begun(replica: Replica, { identity, epoch, generation }: SharedLibrary): Snapshot {
  const before = replica.state()
  // A node with this database's catalog can serve it if it is started again before the end.
  const complete = before?.identity === identity ? before.generation : 0
  const position = { identity, epoch: '', generation: complete }
  replica.moveTo(position)
  return { from: { identity, epoch, generation }, position, after: { folder: '', name: '' } }
}

/** Applies a part of a snapshot; what this catalog has more is removed. */
async function reconcile(
  replica: Replica,
  part: SnapshotPart,
  position: ReplicaPosition,
): Promise<boolean> {
  for (const present of parts(part.present)) {
    if (!replica.apply({ present, gone: [] }, position)) return false
    await nextTurn()
  }
  let gone: RecordingPath[] = []
  for (const path of replica.surplus(part)) {
    gone.push(path)
    if (gone.length < ROWS_PER_TRANSACTION) continue
    if (!replica.apply({ present: [], gone }, position)) return false
    gone = []
    await nextTurn()
  }
  return replica.apply({ present: [], gone }, position)
}

function parts<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / ROWS_PER_TRANSACTION) }, (_, at) =>
    rows.slice(at * ROWS_PER_TRANSACTION, (at + 1) * ROWS_PER_TRANSACTION),
  )
}
