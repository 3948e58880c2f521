// The second pass of a scan: inspects pending recordings, those asked for first, then newest first.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../shared/paths.ts'
import { type TimeLimit, withinTime } from '../../../shared/within-time.ts'
import { isAppError } from '../../errors.ts'
import type { CatalogWriter, PendingRecording } from '../store/catalog-writer.ts'
import { planInspectionResult } from '../store/inspection-result.ts'
import type { Inspection, InspectionOutcome } from '../store/inspection-result.ts'
import { createWakeSignal } from './wake-signal.ts'
import { ResultBatch } from './result-batch.ts'

/**
 * Looks at one recording. Rejects only for reasons outside of the recording (disk, network); it is then tried again
 * later.
 */
export type Inspect = (recording: InspectableRecording, signal: AbortSignal) => Promise<Inspection>

/** A recording as the last walk found it. */
export type InspectableRecording = Pick<PendingRecording, 'path' | 'kind' | 'stat'>

export interface InspectorOptions {
  writer: CatalogWriter
  inspect: Inspect
  /** Recordings inspected at once. */
  concurrency: number
  now: () => number
  /** An inspection failed for a reason outside of the recording. */
  onError: (path: string, error: unknown) => void
  /** A result could not be written, or the queue not be read. */
  onCatalogError: (error: unknown) => void
  /** Called with the number of inspections that have ended, and are not held any more, since the last call. */
  onInspected: (count: number) => void
}

/** Rows fetched at once, so that those which wait are not skipped again for each, */
const BATCH_SIZE = 100
/** and how long they are good: meanwhile they may change or go. */
const BATCH_FRESH_MS = 1000
/** Sessions asked for and not inspected yet; the oldest wish is dropped when there are more. */
const MAX_WANTED = 1000
/** An inspection that takes longer counts as failed. */
const INSPECTION_TIMEOUT_MS = 600_000
/** Longest sleep, in case the clock is set. */
const MAX_SLEEP_MS = 60_000
const CATALOG_RETRY_MS = 5000

/** The queue of pending recordings; its state is in the database, so that nothing is lost when the process dies. */
export class Inspector {
  readonly #options: InspectorOptions
  readonly #wakeSignal = createWakeSignal()
  /** Recordings that are looked at, or whose results wait to be written. */
  readonly #active = new Set<number>()
  readonly #results: ResultBatch
  readonly #wanted = new Map<string, SessionReference>()
  #batch: PendingRecording[] = []
  #batchUntilMs = 0
  #isOpen = false

  constructor(options: InspectorOptions) {
    const { writer, onInspected, onCatalogError: onError } = options
    this.#options = options
    this.#results = new ResultBatch({
      writer,
      onLetGo: (inspected) => {
        for (const { recording } of inspected) this.#active.delete(recording.id)
        onInspected(inspected.length)
      },
      onError,
    })
  }

  /** Puts a session first in the queue. */
  prioritise(session: SessionReference): void {
    const key = JSON.stringify([session.streamer, session.date, session.sessionId])
    this.#wanted.set(key, session)
    const oldest = this.#wanted.keys().next()
    if (this.#wanted.size > MAX_WANTED && !oldest.done) this.#wanted.delete(oldest.value)
    this.#wakeSignal.ring()
  }

  /** Tells that the first walk is over: before, only what was asked for is inspected, as the newest is not known. */
  open(): void {
    this.#isOpen = true
    this.refresh()
  }

  /** Tells that the catalog may hold new pending recordings. */
  refresh(): void {
    this.#batch = []
    this.#wakeSignal.ring()
  }

  /** Inspects all that is due, then resolves. Rejects when the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    try {
      await this.#inParallel(async () => {
        for (let job = this.#take(); job; job = this.#take()) await this.#inspect(job, signal)
        this.#results.write()
      })
    } finally {
      this.#results.tryWrite()
    }
  }

  /** Inspects what becomes due, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#inParallel(async () => {
      while (!signal.aborted) await this.#runOnce(signal)
    })
    this.#results.tryWrite()
  }

  /** One inspection, or one sleep. A catalog that cannot be written (a full disk) is tried again later. */
  async #runOnce(signal: AbortSignal): Promise<void> {
    try {
      const job = this.#take()
      if (job) return await this.#inspect(job, signal)
      this.#results.write()
      await this.#wakeSignal.wait(this.#sleepMs(), signal)
    } catch (error) {
      if (signal.aborted) return
      this.#options.onCatalogError(error)
      await sleep(CATALOG_RETRY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #inParallel(worker: () => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.concurrency }, worker))
  }

  #take(): PendingRecording | undefined {
    const job = this.#takeWanted() ?? (this.#isOpen ? this.#takeNewest() : undefined)
    if (job) this.#active.add(job.id)
    return job
  }

  #takeWanted(): PendingRecording | undefined {
    for (const [key, session] of this.#wanted) {
      this.#wanted.delete(key)
      const id = this.#options.writer.findPending(session)
      const job = id === undefined ? undefined : this.#readPending(id)
      if (job) return job
    }
    return undefined
  }

  #takeNewest(): PendingRecording | undefined {
    const job = performance.now() < this.#batchUntilMs ? this.#takeFromBatch() : undefined
    if (job) return job
    const { writer, now } = this.#options
    // else it would be these that are due
    this.#results.write()
    this.#batch = writer.duePending(now(), BATCH_SIZE)
    this.#batchUntilMs = performance.now() + BATCH_FRESH_MS
    return this.#takeFromBatch()
  }

  #takeFromBatch(): PendingRecording | undefined {
    for (let job = this.#batch.shift(); job; job = this.#batch.shift()) {
      if (!this.#active.has(job.id)) return job
    }
    return undefined
  }

  #readPending(id: number): PendingRecording | undefined {
    if (this.#active.has(id)) return undefined
    return this.#options.writer.readPending(id, this.#options.now())
  }

  async #inspect(job: PendingRecording, signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    try {
      const outcome = await this.#outcomeOf(job, signal)
      const tookMs = performance.now() - startedMs
      const { settlesAtMs, attempts } = job
      const context = { nowMs: this.#options.now(), tookMs, settlesAtMs, attempts }
      this.#results.add({ recording: job, result: planInspectionResult(outcome, context) })
    } catch (error) {
      this.#active.delete(job.id)
      throw error
    }
  }

  async #outcomeOf(job: PendingRecording, signal: AbortSignal): Promise<InspectionOutcome> {
    try {
      return await withinTime((limit) => this.#options.inspect(job, limit), { ...LIMIT, signal })
    } catch (error) {
      signal.throwIfAborted()
      // Gone or replaced while it was looked at: the walk that follows the change deals with it.
      if (!isAppError(error, 'not_found', 'gone')) this.#options.onError(job.path, error)
      return { status: 'failed' }
    }
  }

  #sleepMs(): number {
    const dueMs = this.#options.writer.nextDueMs()
    // one that is due now is under way: its end wakes this worker, not the clock
    const waitMs = dueMs === undefined ? MAX_SLEEP_MS : dueMs - this.#options.now()
    return Math.min(Math.max(waitMs, 100), MAX_SLEEP_MS)
  }
}

const LIMIT: TimeLimit = {
  timeoutMs: INSPECTION_TIMEOUT_MS,
  reason: () => new Error('the inspection took too long'),
}
