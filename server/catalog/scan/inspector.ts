// Second pass of a scan: inspects pending recordings, first those that visitors requested, then the
// newest.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../shared/paths.ts'
import { type TimeLimit, withTimeout } from '../../../shared/with-timeout.ts'
import { isAppError } from '../../errors.ts'
import type { CatalogWriter, PendingRecording } from '../store/catalog-writer.ts'
import { planInspectionResult } from '../store/inspection-result.ts'
import type { Inspection, InspectionOutcome } from '../store/inspection-result.ts'
import { createWakeSignal } from './wake-signal.ts'
import { ResultBatch } from './result-batch.ts'

/**
 * Inspects one recording. Rejects only for reasons outside of the recording (disk, network), and is
 * then retried.
 */
export type Inspect = (recording: InspectableRecording, signal: AbortSignal) => Promise<Inspection>

/** A recording as found by the last walk. */
export type InspectableRecording = Pick<PendingRecording, 'path' | 'kind' | 'stat'>

export interface InspectorOptions {
  writer: CatalogWriter
  inspect: Inspect
  /** Number of concurrent inspections. */
  concurrency: number
  now: () => number
  /** How long after a failed write the catalog is tried again. */
  catalogRetryMs: number
  /** An inspection failed for a reason outside of the recording. */
  onError: (path: string, error: unknown) => void
  /** A result could not be written, or the queue could not be read. */
  onCatalogError: (error: unknown) => void
  /** Called with the number of inspections that finished since the last call. */
  onInspected: (count: number) => void
}

/** Pending rows fetched per query, */
const BATCH_SIZE = 100
/** and how long they stay valid: rows may change or disappear meanwhile. */
const BATCH_FRESH_MS = 1000
/** Most prioritised sessions; the oldest is dropped beyond that. */
const MAX_WANTED = 1000
/** An inspection that takes longer counts as failed. */
const INSPECTION_TIMEOUT_MS = 600_000
/** Longest sleep, in case the system clock is changed. */
const MAX_SLEEP_MS = 60_000

/**
 * The queue of pending recordings. Its state is in the database, so that a killed process loses
 * nothing.
 */
export class Inspector {
  readonly #options: InspectorOptions
  readonly #wakeSignal = createWakeSignal()
  /** Recordings under inspection, or with results that are not written yet. */
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

  /** Moves a session to the front of the queue. */
  prioritise(session: SessionReference): void {
    const key = JSON.stringify([session.streamer, session.date, session.sessionId])
    this.#wanted.set(key, session)
    const oldest = this.#wanted.keys().next()
    if (this.#wanted.size > MAX_WANTED && !oldest.done) this.#wanted.delete(oldest.value)
    this.#wakeSignal.ring()
  }

  /**
   * Ends the first walk. Until then only prioritised recordings are inspected, since the newest are
   * unknown.
   */
  open(): void {
    this.#isOpen = true
    this.refresh()
  }

  /** Signals that the catalog may have new pending recordings. */
  refresh(): void {
    this.#batch = []
    this.#wakeSignal.ring()
  }

  /** Inspects all due recordings, then resolves. Rejects when the signal aborts. */
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

  /** Inspects recordings as they become due, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#inParallel(async () => {
      while (!signal.aborted) await this.#runOnce(signal)
    })
    this.#results.tryWrite()
  }

  /** One inspection, or one sleep. Retries later if the catalog cannot be written (a full disk). */
  async #runOnce(signal: AbortSignal): Promise<void> {
    try {
      const job = this.#take()
      if (job) return await this.#inspect(job, signal)
      this.#results.write()
      await this.#wakeSignal.wait(this.#sleepMs(), signal)
    } catch (error) {
      if (signal.aborted) return
      this.#options.onCatalogError(error)
      await sleep(this.#options.catalogRetryMs, undefined, { signal }).catch(() => undefined)
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
    // Unwritten results would still be due.
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
      return await withTimeout((limit) => this.#options.inspect(job, limit), { ...LIMIT, signal })
    } catch (error) {
      signal.throwIfAborted()
      // Deleted or replaced during inspection: the walk that follows the change handles it.
      if (!isAppError(error, 'not_found', 'gone')) this.#options.onError(job.path, error)
      return { status: 'failed' }
    }
  }

  #sleepMs(): number {
    const dueMs = this.#options.writer.nextDueMs()
    // A recording that is due now is already under inspection: its end wakes this worker.
    const waitMs = dueMs === undefined ? MAX_SLEEP_MS : dueMs - this.#options.now()
    return Math.min(Math.max(waitMs, 100), MAX_SLEEP_MS)
  }
}

const LIMIT: TimeLimit = {
  timeoutMs: INSPECTION_TIMEOUT_MS,
  reason: () => new Error('the inspection took too long'),
}
