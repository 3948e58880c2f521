// Moves the counters of this node to the shared database. None is lost or counted twice: a batch
// has an id, and stays in the file until the database has it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingCounts } from '../analytics/outgoing-counts.ts'
import { mergeCounts, pruneCounts } from '../postgres/shared-counts.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'

export interface MergeOptions {
  database: SharedDatabase
  /** Undefined while nothing has been counted. */
  open: () => OutgoingCounts | undefined
  onFailure: (error: unknown) => void
  signal: AbortSignal
}

const MERGE_EVERY_MS = 5000
const PRUNE_EVERY_MS = 3_600_000

/** Merges until the signal aborts. Failures are repeated, and reported once until it succeeds. */
export async function mergeActivity(options: MergeOptions): Promise<void> {
  const { database, onFailure, signal } = options
  let prunedAtMs = -Infinity
  let hasFailed = false
  while (!signal.aborted) {
    try {
      await mergeOnce(options)
      if (performance.now() - prunedAtMs > PRUNE_EVERY_MS) {
        await pruneCounts(database)
        prunedAtMs = performance.now()
      }
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onFailure(error)
      hasFailed = true
    }
    await sleep(MERGE_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Merges everything that is in the file now. @throws errors of the databases */
export async function mergeOnce({
  database,
  open,
}: Pick<MergeOptions, 'database' | 'open'>): Promise<void> {
  const outgoing = open()
  if (outgoing === undefined) return
  try {
    for (let batch = outgoing.read(); batch !== undefined; batch = outgoing.read()) {
      await mergeCounts(database, batch)
      outgoing.remove(batch.id)
    }
  } finally {
    outgoing.close()
  }
}
