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
   * finished unless the task is stopped: a new process costs more than most jobs.
   */
  run<Value>(task: DecoderTask<Job, Value>, signal: AbortSignal): Promise<JobResult<Value>>
  /**
   * Runs jobs of one piece of work in the same process, one after the other. Rejects as `run`, and
   * with what `work` throws; the process is then ended.
   */
  lease<Result>(work: (run: RunJob<Job>) => Promise<Result>, signal: AbortSignal): Promise<Result>
  /** Ends every process; jobs in progress reject. */
  close(): void
}

export type RunJob<Job> = <Value>(task: DecoderTask<Job, Value>) => Promise<JobResult<Value>>

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
  const ended = `${program.name} ended`
  const idle = new IdleProcesses<Job>(limits.idleMs)

  function startProcess(confinement: Confinement): DecoderProcess<Job> {
    const process = new DecoderProcess<Job>(program, limits, confinement)
    log?.debug({ pid: process.pid }, `${program.name} started`)
    return process
  }

  async function leaseNow<Result>(work: (run: RunJob<Job>) => Promise<Result>): Promise<Result> {
    const { signal } = closing
    const confinement = await sandbox.detect()
    signal.throwIfAborted()
    const process = idle.take() ?? startProcess(confinement)
    try {
      return await work(async (task) => {
        const result = await process.run(task, eitherOf(signal, task.stop))
        if (result.status === 'killed') log?.warn({ reason: result.reason }, ended)
        return result
      })
    } catch (error) {
      process.kill('its work failed')
      throw error
    } finally {
      await process.endIfUsedUp()
      if (signal.aborted) process.kill('the server stops')
      else idle.add(process)
    }
  }

  const lease: DecoderPool<Job>['lease'] = async (work, signal) =>
    gate.run(async () => leaseNow(work), AbortSignal.any([signal, closing.signal]))

  return {
    get figures() {
      const { used: running, waiting, admitted } = gate.figures
      return { running, waiting, finished: admitted - running }
    },
    run: async (task, signal) => lease(async (run) => run(task), eitherOf(signal, task.stop)),
    lease,
    close() {
      closing.abort(new Error(`The ${program.name} is closed`))
      for (let process = idle.take(); process !== undefined; process = idle.take())
        process.kill('the server stops')
    },
  }
}

function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other])
}

/** Processes that are ended unless another job comes. */
class IdleProcesses<Job extends object> {
  readonly #timers = new Map<DecoderProcess<Job>, NodeJS.Timeout>()
  readonly #idleMs: number

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  add(process: DecoderProcess<Job>): void {
    if (process.ended) return
    const timer = setTimeout(() => {
      this.#timers.delete(process)
      process.kill('it was idle')
    }, this.#idleMs)
    this.#timers.set(process, timer.unref())
  }

  take(): DecoderProcess<Job> | undefined {
    for (const [process, timer] of this.#timers) {
      clearTimeout(timer)
      this.#timers.delete(process)
      if (!process.ended) return process
    }
    return undefined
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
