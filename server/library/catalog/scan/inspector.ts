// Second pass of a scan: inspects pending recordings, first those that visitors requested, then the
// newest.
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../../shared/paths.ts'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { isAppError } from '../../../base/errors.ts'
import type { CatalogWriter, PendingRecording } from '../store/catalog-writer.ts'
import { planInspectionResult } from '../store/inspection-result.ts'
import type { Inspection, InspectionOutcome } from '../store/inspection-result.ts'
import { createWakeSignal } from '../../../base/admission/wake-signal.ts'
import { startOfNames } from '../names/start-time.ts'
import { splitPath } from '../../../storage/recordings/library-path.ts'
import { ResultBatch } from './result-batch.ts'

/**
 * Inspects one recording. Rejects only for reasons outside of the recording (disk, network), and is
 * then retried.
 */
export type Inspect = (recording: InspectableRecording, signal: AbortSignal) => Promise<Inspection>

/** A recording as found by the last walk. */
export interface InspectableRecording extends Omit<PendingRecording, 'id' | 'attempts'> {
  /** A visitor requested its session. */
  isRequested: boolean
}

export interface InspectorOptions {
  writer: CatalogWriter
  inspect: Inspect
  /** Number of concurrent inspections. */
  concurrency: number
  /** An inspection that takes longer counts as failed; default 10 minutes. */
  timeoutMs?: number | undefined
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

type Job = PendingRecording & InspectableRecording

/** Pending rows fetched per query, beside those under inspection, */
const BATCH_SIZE = 100
/** and how long they stay valid: rows may change or disappear meanwhile. */
const BATCH_FRESH_MS = 1000
/** Most prioritised sessions; the oldest is dropped beyond that. */
const MAX_WANTED = 1000
const DEFAULT_TIMEOUT_MS = 600_000
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
  readonly #running = new Set<Promise<void>>()
  #failure: { error: unknown } | undefined
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
      this.#startDue(signal)
      while (this.#running.size > 0) {
        await this.#wait(signal)
        this.#startDue(signal)
      }
      this.#results.write()
    } finally {
      this.#results.tryWrite()
    }
  }

  /** Inspects recordings as they become due, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#startDue(signal)
        if (this.#running.size === 0) this.#results.write()
        await this.#wait(signal)
      } catch (error) {
        if (signal.aborted) break
        // For example a full disk.
        this.#options.onCatalogError(error)
        await sleep(this.#options.catalogRetryMs, undefined, { signal }).catch(() => undefined)
      }
    }
    await Promise.all(this.#running)
    this.#results.tryWrite()
  }

  #startDue(signal: AbortSignal): void {
    while (this.#running.size < this.#options.concurrency) {
      const job = this.#takeWanted() ?? (this.#isOpen ? this.#takeNewest() : undefined)
      if (job === undefined) return
      this.#active.add(job.id)
      const running = this.#inspect(job, signal)
        .catch((error: unknown) => {
          this.#failure = { error }
        })
        .finally(() => {
          this.#running.delete(running)
          this.#wakeSignal.ring()
        })
      this.#running.add(running)
    }
  }

  /** Until an inspection ends or another one may be due. @throws the error of an inspection */
  async #wait(signal: AbortSignal): Promise<void> {
    await this.#wakeSignal.wait(this.#sleepMs(), signal)
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
  }

  #takeWanted(): Job | undefined {
    for (const [key, session] of this.#wanted) {
      this.#wanted.delete(key)
      const id = this.#options.writer.findPending(session)
      const recording = id === undefined ? undefined : this.#readPending(id)
      if (recording) return { ...recording, isRequested: true }
    }
    return undefined
  }

  #takeNewest(): Job | undefined {
    const recording = this.#takeFromFreshBatch() ?? this.#takeFromNextBatch()
    return recording && { ...recording, isRequested: false }
  }

  #takeFromFreshBatch(): PendingRecording | undefined {
    return performance.now() < this.#batchUntilMs ? this.#takeFromBatch() : undefined
  }

  #takeFromNextBatch(): PendingRecording | undefined {
    const { writer, now } = this.#options
    // Unwritten results would still be due.
    this.#results.write()
    this.#batch = writer.duePending(now(), BATCH_SIZE + this.#active.size)
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

  async #inspect(job: Job, signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    try {
      const outcome = await this.#outcomeOf(job, signal)
      const tookMs = performance.now() - startedMs
      const { settlesAtMs, attempts } = job
      const namedStartMs = startOfNames({
        ...job.session,
        ...job,
        name: splitPath(job.path)?.name ?? '',
      })
      const context = {
        nowMs: this.#options.now(),
        tookMs,
        settlesAtMs,
        attempts,
        namedStartMs,
      }
      this.#results.add({ recording: job, result: planInspectionResult(outcome, context) })
    } catch (error) {
      this.#active.delete(job.id)
      throw error
    }
  }

  async #outcomeOf(job: Job, signal: AbortSignal): Promise<InspectionOutcome> {
    const { inspect, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const reason = () => new Error('the inspection took too long')
    try {
      return await withTimeout((limit) => inspect(job, limit), { timeoutMs, reason, signal })
    } catch (error) {
      signal.throwIfAborted()
      // Deleted or replaced during inspection: the walk that follows the change handles it.
      if (!isAppError(error, 'not_found', 'gone')) this.#options.onError(job.path, error)
      return { status: 'failed' }
    }
  }

  #sleepMs(): number {
    const dueMs = this.#options.writer.nextDueMs()
    // A recording that is due now is already under inspection, whose end wakes the loop.
    const waitMs = dueMs === undefined ? MAX_SLEEP_MS : dueMs - this.#options.now()
    return Math.min(Math.max(waitMs, 100), MAX_SLEEP_MS)
  }
}
