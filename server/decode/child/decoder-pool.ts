// Decodes in child processes, so that a hostile file costs one image or a moment of audio and never
// the server.
import { Gate } from '../../base/admission/gate.ts'
import type { GateBounds } from '../../base/admission/gate.ts'
import { DecoderProcess } from './decoder-process.ts'
import type { DecoderLimits, DecoderProgram, DecoderTask, JobResult } from './decoder-process.ts'
import type { Confinement } from './sandbox-command.ts'
import { createSandbox } from './sandbox.ts'
import type { DecoderLog, Sandbox } from './sandbox.ts'
import { fileURLToPath } from 'node:url'

/** Jobs that run and wait now, and how many have ended. */
export interface JobFigures {
  running: number
  waiting: number
  finished: number
}

/** The figures of an installation without decoders. */
export const NO_JOBS: JobFigures = { running: 0, waiting: 0, finished: 0 }

export interface DecoderPool<Job> {
  readonly figures: JobFigures
  /**
   * Runs one job. Rejects with AppError `busy` if too many jobs wait, `failed` if no process
   * starts, and with the signal's reason if it aborts while the job waits. A job that runs is
   * finished: a new process costs more than most jobs.
   */
  run<Value>(task: DecoderTask<Job, Value>, signal: AbortSignal): Promise<JobResult<Value>>
  /** Ends every process; jobs in progress reject. */
  close(): void
}

export interface DecoderPoolOptions {
  program: DecoderProgram
  limits: DecoderLimits
  /** Number of processes, and of jobs that may wait. */
  queue: GateBounds
}

/** What the server passes to each of its pools. */
export interface ChildOptions {
  /** Other limits than those of the pool. */
  limits?: Partial<DecoderLimits>
  log?: DecoderLog
  /** The restrictions of every process. Shared by pools, so that detection runs once. */
  sandbox?: Sandbox
}

/** Starts processes on demand, reuses them, and ends them when idle. */
export function createDecoderPool<Job extends object>(
  { program, queue, ...defaults }: DecoderPoolOptions,
  { log, sandbox = createSandbox({ log }), ...changed }: ChildOptions = {},
): DecoderPool<Job> {
  const limits = { ...defaults.limits, ...changed.limits }
  const gate = new Gate(queue)
  const closing = new AbortController()
  const idle = new Map<DecoderProcess<Job>, NodeJS.Timeout>()

  function takeProcess(confinement: Confinement): DecoderProcess<Job> {
    for (const [process, timer] of idle) {
      clearTimeout(timer)
      idle.delete(process)
      if (!process.ended) return process
    }
    const process = new DecoderProcess<Job>(program, limits, confinement)
    log?.debug({ pid: process.pid }, `${program.name} started`)
    return process
  }

  function release(process: DecoderProcess<Job>): void {
    if (process.ended) return
    const timer = setTimeout(() => {
      idle.delete(process)
      process.kill('it was idle')
    }, limits.idleMs)
    idle.set(process, timer.unref())
  }

  async function runNow<Value>(task: DecoderTask<Job, Value>, signal: AbortSignal) {
    const confinement = await sandbox.detect()
    signal.throwIfAborted()
    const process = takeProcess(confinement)
    try {
      const result = await process.run(task, signal)
      if (result.status === 'killed') log?.warn({ reason: result.reason }, `${program.name} ended`)
      return result
    } finally {
      if (closing.signal.aborted) process.kill('the server stops')
      else release(process)
    }
  }

  return {
    get figures() {
      const { used: running, waiting, admitted } = gate.figures
      return { running, waiting, finished: admitted - running }
    },
    async run(task, signal) {
      const either = AbortSignal.any([signal, closing.signal])
      return gate.run(() => runNow(task, closing.signal), either)
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

/**
 * Path of a program next to the file that starts it: TypeScript when running from source,
 * JavaScript when built.
 *
 * @param name its name without extension, e.g. `audio-child`
 * @param startedFrom `import.meta.url` of that file
 */
export function childFile(name: string, startedFrom: string): string {
  const extension = startedFrom.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./${name}.${extension}`, startedFrom))
}
