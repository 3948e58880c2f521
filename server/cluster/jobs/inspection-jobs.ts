// Inspections on all nodes of a cluster: the scanning node adds jobs, any node runs them, and the
// scanning node gets their results.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../shared/paths.ts'
import { createWakeSignal } from '../../base/admission/wake-signal.ts'
import type { InspectableRecording } from '../../library/catalog/scan/inspector.ts'
import type { Inspection } from '../../library/catalog/store/inspection-result.ts'
import { AppError } from '../../base/errors.ts'
import { MAX_RETRIES } from './job-queues.ts'
import type { FetchedJob, JobQueues, NewJob } from './job-queues.ts'
import { parseInspectionResults, parseSession } from './job-shapes.ts'
import type { InspectionJob, InspectionJobResult } from './job-shapes.ts'

export interface InspectionJobsOptions {
  queues: Pick<JobQueues, 'add' | 'take' | 'complete'>
  /** Visitors of some node requested a session that is not inspected yet. */
  onRequested: (session: SessionReference) => void
  pauses?: InspectionPauses
}

/** In milliseconds. */
export interface InspectionPauses {
  /** Between polls for results while some are expected. */
  resultsMs: number
  /** The same while none are: only requests. */
  requestsMs: number
  /** Pause after an error of the database. */
  retryMs: number
  /** After which a job without a result is added again: the database may have lost it. */
  repeatMs: number
}

interface WaitingInspection {
  key: string
  job: InspectionJob
  isRequested: boolean
  /** A node has not inspected it with its batch. */
  isAlone: boolean
  /** That of its batch, or its own; undefined before it was added. */
  newJob: NewJob | undefined
  addedAtMs: number | undefined
  resolve: (inspection: Inspection) => void
  reject: (error: unknown) => void
}

const DEFAULT_PAUSES: InspectionPauses = {
  resultsMs: 100,
  requestsMs: 1000,
  retryMs: 2000,
  repeatMs: 60_000,
}
const RESULTS_PER_TURN = 200
const REQUESTS_PER_TURN = 100
const REQUESTED = 1
/** Of small recordings: a job costs four transactions, more than they do. */
const BATCH_RECORDINGS = 16
const BATCH_BYTES = 64 * 1024 * 1024

/** The part of the scanning node: adds jobs, and collects results. */
export class InspectionJobs {
  readonly #options: InspectionJobsOptions
  readonly #pauses: InspectionPauses
  readonly #wake = createWakeSignal()
  readonly #waiting = new Map<string, WaitingInspection>()
  #requestsAtMs = -Infinity

  constructor(options: InspectionJobsOptions) {
    this.#options = options
    this.#pauses = options.pauses ?? DEFAULT_PAUSES
  }

  /**
   * Lets some node inspect a recording. During an outage of the database this takes as long as the
   * outage.
   *
   * @throws AppError `gone` (replaced or deleted meanwhile), `failed` (the node could not read it);
   *   the signal's reason
   */
  async inspect(
    { path, kind, stat, session, isRequested }: InspectableRecording,
    signal: AbortSignal,
  ): Promise<Inspection> {
    signal.throwIfAborted()
    const key = inspectionKey(path, stat.version)
    const { promise, resolve, reject } = Promise.withResolvers<Inspection>()
    // Of a row that was removed and found again: one result settles both.
    const earlier = this.#waiting.get(key)
    if (earlier !== undefined) promise.then(earlier.resolve, earlier.reject)
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const { sizeBytes, modifiedMs, version } = stat
    const job = { path, kind, stat: { sizeBytes, modifiedMs, version }, session }
    const unadded = { isAlone: false, newJob: undefined, addedAtMs: undefined }
    const waiting = { key, job, isRequested, ...unadded, resolve, reject }
    this.#waiting.set(key, waiting)
    this.#wake.ring()
    try {
      return await promise
    } finally {
      if (this.#waiting.get(key) === waiting) this.#waiting.delete(key)
      signal.removeEventListener('abort', abort)
    }
  }

  /** Adds jobs and collects results until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await this.#turn().catch(() => this.#pauses.retryMs)
      const isIdle = this.#waiting.size === 0
      const pause = isIdle
        ? this.#wake.wait(pauseMs, signal)
        : sleep(pauseMs, undefined, { signal })
      await pause.catch(() => undefined)
    }
  }

  /** Returns how long to wait for the next one. */
  async #turn(): Promise<number> {
    const { resultsMs, requestsMs } = this.#pauses
    await this.#addJobs()
    await this.#takeRequests()
    if (this.#waiting.size === 0) return requestsMs
    const { queues } = this.#options
    const jobs = await queues.take('results', RESULTS_PER_TURN)
    for (const { data } of jobs) this.#settle(data)
    await queues.complete('results', jobs)
    return jobs.length === RESULTS_PER_TURN ? 0 : resultsMs
  }

  async #addJobs(): Promise<void> {
    const nowMs = performance.now()
    const due = [...this.#waiting.values()].filter(
      ({ addedAtMs = -Infinity }) => nowMs - addedAtMs > this.#pauses.repeatMs,
    )
    if (due.length === 0) return
    for (const batch of formBatches(due.filter(({ newJob }) => newJob === undefined))) {
      const newJob = createJob(batch)
      for (const waiting of batch) waiting.newJob = newJob
    }
    const jobs = new Set(due.flatMap(({ newJob }) => newJob ?? []))
    await this.#options.queues.add('inspections', [...jobs])
    for (const waiting of due) waiting.addedAtMs = nowMs
  }

  async #takeRequests(): Promise<void> {
    if (performance.now() - this.#requestsAtMs < this.#pauses.requestsMs) return
    const { queues, onRequested } = this.#options
    const jobs: FetchedJob[] = await queues.take('requests', REQUESTS_PER_TURN)
    this.#requestsAtMs = performance.now()
    for (const { data } of jobs) {
      const session = parseSession(data)
      if (session !== undefined) onRequested(session)
    }
    await queues.complete('requests', jobs)
  }

  /** A result that nobody waits for is of an earlier scan. */
  #settle(data: unknown): void {
    const { results, rest } = parseInspectionResults(data)
    for (const result of results) {
      const waiting = this.#waiting.get(inspectionKey(result.path, result.version))
      if (waiting !== undefined) settle(waiting, result)
    }
    for (const { path, stat } of rest) {
      const waiting = this.#waiting.get(inspectionKey(path, stat.version))
      const alone = { isAlone: true, newJob: undefined, addedAtMs: undefined }
      if (waiting !== undefined) Object.assign(waiting, alone)
    }
  }
}

/** Small recordings in batches, each other one alone. */
function formBatches(inspections: readonly WaitingInspection[]): WaitingInspection[][] {
  const batches: WaitingInspection[][] = []
  let batch: WaitingInspection[] = []
  let bytes = Infinity
  for (const inspection of inspections) {
    const { isRequested, isAlone, job } = inspection
    const { sizeBytes } = job.stat
    if (isRequested || isAlone || sizeBytes > BATCH_BYTES) {
      batches.push([inspection])
      continue
    }
    if (bytes + sizeBytes > BATCH_BYTES || batch.length === BATCH_RECORDINGS) {
      batches.push((batch = []))
      bytes = 0
    }
    batch.push(inspection)
    bytes += sizeBytes
  }
  return batches
}

/** A batch is not repeated as such: one recording may have ended the node of all. */
function createJob(batch: readonly WaitingInspection[]): NewJob {
  const [first] = batch
  if (first === undefined || batch.length > 1) {
    const data = { recordings: batch.map(({ job }) => job) }
    return { data, key: hash(batch.map(({ key }) => key)), retryLimit: 0 }
  }
  const { job, key, isRequested, isAlone } = first
  const priority = isRequested ? REQUESTED : 0
  return { data: job, key, priority, ...(isAlone && { retryLimit: MAX_RETRIES - 1 }) }
}

function settle({ resolve, reject }: WaitingInspection, { outcome }: InspectionJobResult): void {
  switch (outcome.status) {
    case 'gone':
      return reject(new AppError('gone', 'the recording was replaced or deleted'))
    case 'failed':
      return reject(new AppError('failed', 'a node could not read the recording'))
    case 'playable':
    case 'unplayable':
      return resolve(outcome)
  }
}

function inspectionKey(path: string, version: string): string {
  return hash([path, version])
}

/** Paths may be longer than an index of PostgreSQL permits. */
function hash(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url')
}
