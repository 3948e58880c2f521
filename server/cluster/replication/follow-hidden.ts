// Brings the hidden names of a node to those of the shared database, on a connection of its own:
// nothing that a node does with recordings delays them.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { HiddenChange } from '../../library/catalog/store/hidden.ts'
import type { HiddenReplica } from '../../library/catalog/store/replica-hidden.ts'
import type { ReplicaPosition } from '../../library/catalog/store/replica-position.ts'
import type { SharedLibrary } from '../postgres/library-row.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'
import { readHiddenChanges, readHiddenPage } from '../postgres/shared-hidden.ts'
import type { SharedHiddenName } from '../postgres/shared-hidden.ts'
import { needsSnapshot } from './follow.ts'

export interface HiddenFollowing {
  /** Opened with `HIDE_LIMITS`. */
  database: SharedDatabase
  hidden: HiddenReplica
  /** The names are those of the database. */
  onApplied: () => void
  onFailure: (error: unknown) => void
  signal: AbortSignal
}

/** From the start of one poll to the start of the next. */
const POLL_EVERY_MS = 1000
/** Names per transaction of the replica, which bounds how long the event loop is blocked. */
const NAMES_PER_TRANSACTION = 500

/** Follows until the signal aborts. Failures are reported once until it succeeds. Never rejects. */
export async function followHidden(following: HiddenFollowing): Promise<void> {
  const { onApplied, onFailure, signal } = following
  let hasFailed = false
  while (!signal.aborted) {
    const nextAtMs = performance.now() + POLL_EVERY_MS
    try {
      while (!(await applyHidden(following))) signal.throwIfAborted()
      hasFailed = false
      onApplied()
    } catch (error) {
      if (!hasFailed && !signal.aborted) onFailure(error)
      hasFailed = true
    }
    const pauseMs = Math.max(0, nextAtMs - performance.now())
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

type Sides = Pick<HiddenFollowing, 'database' | 'hidden'>

/**
 * Applies some changes, or compares all names. Returns false if there is more to do.
 *
 * @throws errors of the databases
 */
export async function applyHidden({ database, hidden }: Sides): Promise<boolean> {
  const from = hidden.position()
  const read = await readHiddenChanges(database, from?.generation ?? 0)
  if (needsSnapshot(from, read.library)) return compare({ database, hidden }, read.library, from)
  const { library, changes, upTo } = read
  const { identity, epoch, generation } = library
  if (!hidden.apply(changes, from, { identity, epoch, generation: upTo })) return false
  return upTo === generation
}

/** What changes meanwhile has a later generation than `library`, and is applied after that. */
async function compare(
  { database, hidden }: Sides,
  { identity, epoch, generation, layout }: SharedLibrary,
  from: ReplicaPosition | undefined,
): Promise<boolean> {
  let after: SharedHiddenName | undefined = { streamer: '', date: '', sessionId: '' }
  while (after !== undefined) {
    const { names, upTo } = await readHiddenPage(database, after)
    // A database without a layout does not have the names of this cluster yet: nothing is shown.
    const known = layout === null ? [] : hidden.between(after, upTo)
    const changes: HiddenChange[] = [
      ...difference(names, known).map((name) => ({ ...name, isHidden: true })),
      ...difference(known, names).map((name) => ({ ...name, isHidden: false })),
    ]
    for (let at = 0; at < changes.length; at += NAMES_PER_TRANSACTION) {
      if (!hidden.apply(changes.slice(at, at + NAMES_PER_TRANSACTION), from)) return false
      await nextTurn()
    }
    after = upTo
  }
  return layout === null || hidden.apply([], from, { identity, epoch, generation })
}

/** Names of the first list that the second one lacks. */
function difference(
  names: readonly SharedHiddenName[],
  others: readonly SharedHiddenName[],
): SharedHiddenName[] {
  const known = new Set(others.map((name) => JSON.stringify(name)))
  return names.filter((name) => !known.has(JSON.stringify(name)))
}
