// Decodes in processes of their own, so that a hostile file costs one picture or a moment of sound and never the site.
import { DecoderProcess } from './decoder-process.ts'
import type { DecoderLimits, DecoderProgram, JobResult } from './decoder-process.ts'
import { createJobQueue } from './job-queue.ts'
import type { JobFigures, JobQueueBounds } from './job-queue.ts'

export interface DecoderPool<Job, Value> {
  readonly figures: JobFigures
  /**
   * Runs one job. Rejects with AppError `busy` where too many jobs wait, `failed` where no process starts, and with the
   * signal's reason.
   */
  run(job: Job, signal: AbortSignal): Promise<JobResult<Value>>
  /** Ends every process; jobs under way reject. */
  close(): void
}

/** The part of a logger that a decoder uses. */
export interface DecoderLog {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface DecoderPoolOptions {
  program: DecoderProgram
  limits: DecoderLimits
  /** Processes at once, and how many jobs may wait for one. */
  queue: JobQueueBounds
  log?: DecoderLog | undefined
}

/** A pool whose processes start when first needed, are used again, and end when they were idle for a while. */
export function createDecoderPool<Job extends object, Value>({
  program,
  limits,
  queue: bounds,
  log,
}: DecoderPoolOptions): DecoderPool<Job, Value> {
  const queue = createJobQueue(bounds)
  const closing = new AbortController()
  const idle = new Map<DecoderProcess<Job, Value>, NodeJS.Timeout>()

  function takeProcess(): DecoderProcess<Job, Value> {
    for (const [process, timer] of idle) {
      clearTimeout(timer)
      idle.delete(process)
      if (!process.ended) return process
    }
    const process = new DecoderProcess<Job, Value>(program, limits)
    log?.debug({ pid: process.pid }, `${program.name} started`)
    return process
  }

  function release(process: DecoderProcess<Job, Value>): void {
    if (process.ended) return
    const timer = setTimeout(() => {
      idle.delete(process)
      process.kill('it was idle')
    }, limits.idleMs)
    idle.set(process, timer.unref())
  }

  async function runNow(job: Job, signal: AbortSignal): Promise<JobResult<Value>> {
    const process = takeProcess()
    try {
      const answer = await process.run(job, signal)
      if (answer.status === 'killed') log?.warn({ reason: answer.reason }, `${program.name} ended`)
      return answer
    } finally {
      if (closing.signal.aborted) process.kill('the server stops')
      else release(process)
    }
  }

  return {
    get figures() {
      return queue.figures
    },
    async run(job, signal) {
      const either = AbortSignal.any([signal, closing.signal])
      return queue.run(() => runNow(job, either), either)
    },
    close() {
      closing.abort(new Error(`The ${program.name} is closed`))
      for (const [process, timer] of idle) {
        clearTimeout(timer)
        process.kill('the server stops')
      }
      idle.clear()
    },
  }
}
