// Runs the jobs of a queue on this node. A job that this node does not complete, for whatever
// reason, is run by another one.
import { createWakeSignal } from '../../base/admission/wake-signal.ts'
import type { FetchedJob, JobQueues, QueueName } from './job-queues.ts'

export interface JobRunnerOptions {
  queues: Pick<JobQueues, 'take' | 'extend' | 'complete' | 'giveBack'>
  queue: QueueName
  /** Jobs that run at once. */
  concurrency: number
  /**
   * Runs one job, and returns what others find of it, if anything. If it rejects, the job is
   * repeated, here or on another node.
   */
  work: (data: unknown, signal: AbortSignal, id: string) => Promise<object | void>
  /** Whether this node can run jobs now; it takes none otherwise. Default always. */
  isReady?: () => boolean
  /** A job failed. Outages of the database are not reported here. */
  onFailed: (error: unknown) => void
  pauses?: JobPauses
}

/** In milliseconds. */
export interface JobPauses {
  /** Between polls of an empty queue. */
  pollMs: number
  /** Pause after an error of the database. */
  retryMs: number
  /** How often running jobs are extended; well below the limit of the queue. */
  extendMs: number
}

const DEFAULT_PAUSES: JobPauses = { pollMs: 1000, retryMs: 2000, extendMs: 3000 }

/** Runs jobs until the signal aborts; those that run then are given back. Never rejects. */
export async function runJobs(options: JobRunnerOptions, signal: AbortSignal): Promise<void> {
  const { queues, queue, concurrency, pauses = DEFAULT_PAUSES } = options
  const wake = createWakeSignal()
  const running = new Map<FetchedJob, Promise<void>>()
  let extendedAtMs = performance.now()

  const start = (job: FetchedJob): void => {
    const ended = runJob(options, job, signal).finally(() => {
      running.delete(job)
      wake.ring()
    })
    running.set(job, ended)
  }
  /** Returns how long to wait, unless a job ends. */
  const turn = async (): Promise<number> => {
    if (performance.now() - extendedAtMs > pauses.extendMs) {
      await queues.extend(queue, [...running.keys()])
      extendedAtMs = performance.now()
    }
    const free = concurrency - running.size
    if (free === 0) return pauses.extendMs
    if (options.isReady?.() === false) return pauses.pollMs
    const jobs = await queues.take(queue, free)
    for (const job of jobs) start(job)
    return jobs.length === free ? pauses.extendMs : pauses.pollMs
  }

  while (!signal.aborted) {
    const pauseMs = await turn().catch(() => pauses.retryMs)
    await wake.wait(pauseMs, signal).catch(() => undefined)
  }
  await Promise.all(running.values())
}

/** Never rejects: a job that could not be settled is repeated after its time limit. */
async function runJob(
  { queues, queue, work, onFailed }: JobRunnerOptions,
  job: FetchedJob,
  signal: AbortSignal,
): Promise<void> {
  let output: object | void
  try {
    output = await work(job.data, signal, job.id)
  } catch (error) {
    if (!signal.aborted) onFailed(error)
    await queues.giveBack(queue, [job]).catch(() => undefined)
    return
  }
  await queues.complete(queue, [job], output ?? undefined).catch(() => undefined)
}
