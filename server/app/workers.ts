// Worker processes that share the port. Each serves on its own, from the same catalog, indexes and
// thumbnails.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, isAppError } from '../errors.ts'
import { countForWorkers } from './activity-limit.ts'
import type { Serving } from './serving.ts'
import type { WebServer } from './web-server.ts'

/** Shortest interval between restarts of a worker. */
const RESTART_PAUSE_MS = 1000
const CLOSE_TIMEOUT_MS = 9000
/** Message to workers: the first walk of the library is done. */
const WALKED = 'walked'

/** The workers as one server. */
export interface Workers extends WebServer {
  /** Notifies the workers that the catalog is usable. */
  announceFirstWalk(): void
}

/** First message of a worker: its URL, or why it failed to start. */
type StartMessage = { url: string } | { failure: string }

/** @throws AppError `failed` if a worker cannot start; the others have exited then */
export async function startWorkers({ config, io, logger }: Serving): Promise<Workers> {
  const state = { isWalked: false }
  const notify = (worker: Worker): void => {
    if (state.isWalked && worker.isConnected()) worker.send(WALKED)
  }
  const keepRunning = (worker: Worker): void => {
    worker.once('listening', () => notify(worker))
    worker.once('exit', (code) => {
      if (io.signal.aborted) return
      logger.error({ code }, 'a worker exited unexpectedly; restarting it')
      void sleep(RESTART_PAUSE_MS, undefined, { signal: io.signal }).then(
        () => keepRunning(cluster.fork()),
        () => undefined,
      )
    })
  }
  if (config.analytics.firstParty) countForWorkers()
  const workers = await startAll(config.server.workers)
  workers.forEach(({ worker }) => keepRunning(worker))
  return {
    url: workers[0]?.url ?? '',
    announceFirstWalk() {
      state.isWalked = true
      for (const worker of liveWorkers()) notify(worker)
    },
    async close() {
      await Promise.all(liveWorkers().map(endWorker))
    },
  }
}

/**
 * Serves visitors in a worker process until the signal aborts. A start failure is sent to the
 * primary, which logs it.
 */
export async function listenAsWorker(serving: Serving): Promise<void> {
  const { io } = serving
  const state = { isWalked: false }
  const self = cluster.worker
  self?.on('message', (message: unknown) => {
    if (message === WALKED) state.isWalked = true
  })
  const notify = (message: StartMessage): void => void self?.send(message)
  const { startWebServer } = await import('./web-server.ts')
  const server = await startWebServer({ ...serving, isReady: () => state.isWalked }).catch(
    (error: unknown) => {
      if (!isAppError(error)) throw error
      notify({ failure: error.message })
    },
  )
  if (server === undefined) return
  notify({ url: server.url })
  if (!io.signal.aborted) await once(io.signal, 'abort')
  await server.close()
}

interface StartedWorker {
  worker: Worker
  url: string
}

async function startAll(count: number): Promise<StartedWorker[]> {
  const starts = await Promise.allSettled(Array.from({ length: count }, startWorker))
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed === undefined) {
    return starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []))
  }
  await Promise.all(liveWorkers().map(endWorker))
  throw failed.reason
}

async function startWorker(): Promise<StartedWorker> {
  const worker = cluster.fork()
  return new Promise((resolve, reject) => {
    // A reply to a request for metrics may come first.
    worker.on('message', (message: StartMessage | object) => {
      if ('url' in message) resolve({ worker, url: message.url })
      else if ('failure' in message) reject(new AppError('failed', message.failure))
    })
    worker.once('exit', () => reject(new AppError('failed', 'a worker process could not start')))
  })
}

function liveWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/** Lets a worker finish open requests; kills it after a time limit. */
async function endWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return
  const ended = once(worker, 'exit')
  worker.process.kill('SIGTERM')
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}
