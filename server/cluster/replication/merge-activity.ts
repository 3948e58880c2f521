// Moves the counters of this node to the shared database. None is lost or counted twice: a batch
// has an id, and stays in the file until the database has it.
import { setTimeout as sleep } from 'node:timers/promises'
import { closing } from '../../base/closing.ts'
import { backoffMs } from '../../../shared/backoff.ts'
import type { OutgoingCounts } from '../../site/analytics/outgoing-counts.ts'
import { mergeCounts, pruneCounts } from '../postgres/shared-counts.ts'
import type { SharedDatabase } from '../postgres/shared-database.ts'

export interface MergeOptions {
  database: SharedDatabase
  /** Undefined while nothing has been counted. */
  open: () => OutgoingCounts | undefined
  /** Whether this node is the one that prunes the counters of all. */
  isPruning: () => boolean
  onFailure: (error: unknown) => void
  /** Counters that cannot be stored were dropped. */
  onDropped: (rows: number) => void
  signal: AbortSignal
}

const MERGE_EVERY_MS = 5000
const MAX_PAUSE_MS = 60_000
const PRUNE_EVERY_MS = 3_600_000
/** Statements of pruning between two merges. */
const PRUNES_PER_MERGE = 20

/** Merges until the signal aborts. Failures are repeated, and reported once until it succeeds. */
export async function mergeActivity(options: MergeOptions): Promise<void> {
  const { onFailure, signal } = options
  const pruner = createPruner(options)
  let failures = 0
  while (!signal.aborted) {
    try {
      await mergeOnce(options)
      await pruner.turn()
      failures = 0
    } catch (error) {
      if (failures === 0) onFailure(error)
      failures += 1
    }
    const backoff = { firstMs: MERGE_EVERY_MS, maxMs: MAX_PAUSE_MS, random: Math.random }
    const pauseMs = failures === 0 ? MERGE_EVERY_MS : backoffMs(failures, backoff)
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Prunes once an hour, in steps. What fails is left to the next hour. */
function createPruner({ database, isPruning }: Pick<MergeOptions, 'database' | 'isPruning'>) {
  let begunAtMs = -Infinity
  let pruning: AsyncGenerator<void, void> | undefined
  return {
    async turn(): Promise<void> {
      if (performance.now() - begunAtMs > PRUNE_EVERY_MS && isPruning()) {
        begunAtMs = performance.now()
        pruning = pruneCounts(database)
      }
      const current = pruning
      pruning = undefined
      for (let step = 0; current !== undefined && step < PRUNES_PER_MERGE; step += 1) {
        if ((await current.next()).done === true) return
      }
      pruning = current
    },
  }
}

/** Merges everything that is in the file now. @throws errors of the databases */
export async function mergeOnce({
  database,
  open,
  onDropped,
}: Pick<MergeOptions, 'database' | 'open' | 'onDropped'>): Promise<void> {
  const outgoing = open()
  if (outgoing === undefined) return
  using _closing = closing(outgoing)
  for (let batch = outgoing.read(); batch !== undefined; batch = outgoing.read()) {
    const dropped = await mergeCounts(database, batch)
    outgoing.remove(batch.id)
    if (dropped > 0) onDropped(dropped)
  }
}
