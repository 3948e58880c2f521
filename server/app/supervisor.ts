// Keeps worker processes running: a worker that ends, or does not start in time, is replaced after
// a pause that grows with each failure.
import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Times in milliseconds. */
export interface SupervisorLimits {
  /** A worker that has not started by then is killed. */
  startMs: number
  /** Pause after the first failure; it doubles with each further one. */
  firstPauseMs: number
  longestPauseMs: number
  /** A worker that ran for as long starts the pauses from the first one again. */
  stableMs: number
  /** At most one log line about failures within this time. */
  logMs: number
  /** For open requests when the supervisor closes. */
  closeMs: number
}

export interface SupervisorOptions {
  count: number
  /** Starts a process. */
  fork: () => Worker
  /** What a message of a worker reports about its start, if anything. */
  readStart: (message: unknown) => StartReport | undefined
  limits: SupervisorLimits
  logger: Pick<Logger, 'error'>
  /** Stops all restarts. */
  signal: AbortSignal
}

/** A worker serves, or exits because it cannot. */
export type StartReport<Facts = object> =
  | ({ status: 'started' } & Facts)
  | { status: 'failed'; reason: string }

export interface Supervisor {
  /** The running workers. */
  workers: () => Worker[]
  /** Resolves once each first worker has started or ended. */
  firstStarts: Promise<void>
  /** Lets the workers finish open requests within a time limit, then kills them. */
  close(): Promise<void>
}

export function superviseWorkers(options: SupervisorOptions): Supervisor {
  const { count, signal, limits } = options
  const closing = new AbortController()
  const workers = new Map<Worker, Promise<End>>()
  const context: Context = {
    ...options,
    workers,
    signal: AbortSignal.any([signal, closing.signal]),
    log: createFailureLog(options),
  }
  const slots = Array.from({ length: count }, () => keepRunning(context))
  return {
    workers: () => [...workers.keys()],
    firstStarts: Promise.all(slots.map(({ firstStart }) => firstStart)).then(() => undefined),
    async close() {
      closing.abort()
      await Promise.all(
        [...workers].map(async ([worker, ended]) => {
          worker.process.kill('SIGTERM')
          const timer = setTimeout(() => worker.process.kill('SIGKILL'), limits.closeMs)
          await ended
          clearTimeout(timer)
        }),
      )
    },
  }
}

interface Context extends SupervisorOptions {
  workers: Map<Worker, Promise<End>>
  log: (failure: object) => void
}

/** Why a process is no longer running. */
type End = { code: number | null; signal: NodeJS.Signals | null } | { reason: string }

function keepRunning(context: Context): { firstStart: Promise<void> } {
  const { signal, limits, log } = context
  const firstStart = Promise.withResolvers<void>()
  const run = async (): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      const startMs = performance.now()
      const end = await runWorker(context, firstStart.resolve)
      firstStart.resolve()
      if (signal.aborted) return
      failures = performance.now() - startMs >= limits.stableMs ? 0 : failures
      const pauseMs = Math.min(limits.firstPauseMs * 2 ** failures, limits.longestPauseMs)
      failures += 1
      log({ ...end, restartMs: pauseMs })
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
  void run().finally(firstStart.resolve)
  return { firstStart: firstStart.promise }
}

/** Runs one worker to its end. */
async function runWorker(
  { fork, readStart, limits, workers }: Context,
  onStarted: () => void,
): Promise<End> {
  const worker = tryFork(fork)
  if (worker instanceof Error) return { reason: worker.message }
  const exited = Promise.withResolvers<End>()
  let failure: string | undefined
  const timer = setTimeout(() => {
    failure = 'it did not start in time'
    worker.process.kill('SIGKILL')
  }, limits.startMs)
  worker.on('message', (message: unknown) => {
    const report = readStart(message)
    if (report?.status === 'failed') failure = report.reason
    if (report?.status !== 'started') return
    clearTimeout(timer)
    onStarted()
  })
  // A process that cannot be created does not exit. Other errors concern messages to it.
  worker.on('error', (error) => {
    if (worker.process.pid === undefined) exited.resolve({ reason: error.message })
  })
  worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) =>
    exited.resolve(failure === undefined ? { code, signal } : { reason: failure }),
  )
  workers.set(worker, exited.promise)
  const end = await exited.promise
  workers.delete(worker)
  clearTimeout(timer)
  return end
}

function tryFork(fork: () => Worker): Worker | Error {
  try {
    return fork()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function createFailureLog({ logger, limits }: SupervisorOptions): (failure: object) => void {
  let nextAtMs = -Infinity
  let failures = 0
  return (failure) => {
    failures += 1
    const nowMs = performance.now()
    if (nowMs < nextAtMs) return
    logger.error({ ...failure, failures }, 'a worker exited unexpectedly; restarting it')
    nextAtMs = nowMs + limits.logMs
    failures = 0
  }
}
