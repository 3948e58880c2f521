// Runs a job of the queue `inspections`: inspects one recording, or a batch of small ones.
import type { JobQueues } from './job-queues.ts'
import { parseInspections } from './job-shapes.ts'
import type { InspectionJob, InspectionJobOutcome, InspectionJobResult } from './job-shapes.ts'

export interface InspectionRunnerOptions {
  queues: Pick<JobQueues, 'add'>
  /** If it rejects, the job is repeated, a batch as one job per recording. */
  inspect: (job: InspectionJob, signal: AbortSignal) => Promise<InspectionJobOutcome>
  /** Their results were added. */
  onInspected?: (inspected: readonly Inspected[]) => Promise<void>
  /** How long the recordings of a batch wait for a slow one; then they get jobs of their own. */
  holdMs?: number
}

export interface Inspected {
  job: InspectionJob
  outcome: InspectionJobOutcome
}

const HOLD_MS = 1000

/** Rejects with errors of the database and of `inspect`. */
export async function runInspections(
  data: unknown,
  { queues, inspect, onInspected, holdMs = HOLD_MS }: InspectionRunnerOptions,
  signal: AbortSignal,
): Promise<void> {
  const waiting = parseInspections(data)
  const isBatch = waiting.length > 1
  const done: Inspected[] = []
  const report = async (): Promise<void> => {
    const inspected = done.splice(0)
    const recordings = waiting.splice(0)
    const results = inspected.map(toResult)
    const all: object[] = isBatch && results.length > 0 ? [{ results }] : results
    const reported = recordings.length > 0 ? [...all, { recordings }] : all
    if (reported.length === 0) return
    await queues.add(
      'results',
      reported.map((result) => ({ data: result })),
    )
    await onInspected?.(inspected)
  }

  let early: Promise<void> | undefined
  const reportEarly = (): void => {
    early = report()
    early.catch(() => undefined)
  }
  const timer = isBatch ? setTimeout(reportEarly, holdMs) : undefined
  try {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift())
      done.push({ job, outcome: await inspect(job, signal) })
  } finally {
    clearTimeout(timer)
  }
  await early
  await report()
}

function toResult({ job: { path, stat }, outcome }: Inspected): InspectionJobResult {
  return { path, version: stat.version, outcome }
}
