// Worker processes that share the port. Each serves on its own, from the same catalog, indexes and
// thumbnails.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { z } from 'zod'
import { AppError, isAppError } from '../base/errors.ts'
import { countForWorkers } from './activity.ts'
import { OwnEncodeSlots } from '../base/admission/encode-slots.ts'
import { admitForWorker } from './admission-requests.ts'
import { indexForWorker } from './index-requests.ts'
import { addNetworkBytes, reportNetworkBytes } from './network-bytes.ts'
import { readRequested, reportToPrimary } from './requested-sessions.ts'
import type { OnRequested } from './requested-sessions.ts'
import type { Serving } from './library.ts'
import type { WebServer } from './web-server.ts'
import { superviseWorkers } from './supervisor.ts'
import type { StartReport, SupervisorLimits } from './supervisor.ts'

const LIMITS: SupervisorLimits = {
  startMs: 60_000,
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  stableMs: 60_000,
  logMs: 60_000,
  closeMs: 9000,
}
/** Message to workers: the first walk of the library is done. */
const WALKED = 'walked'

/** The workers as one server. */
export interface Workers extends WebServer {
  /** Notifies the workers that the catalog is usable. */
  announceFirstWalk(): void
}

/** First message of a worker: its URL, or why it failed to start. */
const startShape = z.union([z.object({ url: z.url() }), z.object({ failure: z.string() })])
type StartMessage = z.infer<typeof startShape>

/**
 * Resolves once a worker serves and each other one has started or ended.
 *
 * @throws AppError `failed` if the first report of a worker is a failure; all have exited then
 */
export async function startWorkers(
  { config, io, logger, library, pacing, encodes, networks }: Serving,
  onRequested: OnRequested,
): Promise<Workers> {
  if (config.analytics.firstParty) countForWorkers()
  const state = { isWalked: false }
  const admission = {
    encodeSlots: new OwnEncodeSlots(config.renditions),
    egress: pacing?.egress,
    encodingNodes: encodes,
  }
  const firstUrl = Promise.withResolvers<string>()
  const fork = (): Worker => {
    const worker = cluster.fork()
    worker.once('listening', () => {
      if (state.isWalked) notifyWalked(worker)
    })
    worker.on('message', (message: unknown) => {
      const report = readStart(message)
      if (report?.status === 'started') firstUrl.resolve(report.url)
      else if (report?.status === 'failed') firstUrl.reject(new AppError('failed', report.reason))
      const requested = readRequested(message)
      if (requested !== undefined) onRequested(requested)
      addNetworkBytes(message, networks)
      void indexForWorker(worker, message, { library, signal: io.signal })
    })
    admitForWorker(worker, admission)
    return worker
  }
  const supervisor = superviseWorkers({
    count: config.server.workers,
    fork,
    readStart,
    limits: LIMITS,
    logger,
    signal: io.signal,
  })
  const aborted = rejectOnAbort(io.signal)
  try {
    const url = await Promise.race([firstUrl.promise, aborted])
    keepPort(url)
    await Promise.race([supervisor.firstStarts, aborted])
    return {
      url,
      announceFirstWalk() {
        state.isWalked = true
        supervisor.workers().forEach(notifyWalked)
      },
      close: async () => supervisor.close(),
    }
  } catch (error) {
    await supervisor.close()
    throw error
  }
}

/** Without a worker the port is closed; the next one must not get another in place of port 0. */
function keepPort(url: string): void {
  const { port } = new URL(url)
  if (port === '') return
  const { args = [] } = cluster.settings
  cluster.setupPrimary({ ...cluster.settings, args: [...args, '--port', port] })
}

function notifyWalked(worker: Worker): void {
  if (worker.isConnected()) worker.send(WALKED)
}

/** Other messages, such as metrics, report nothing about the start. */
function readStart(message: unknown): StartReport<{ url: string }> | undefined {
  const { data } = startShape.safeParse(message)
  if (data === undefined) return undefined
  return 'url' in data
    ? { status: 'started', url: data.url }
    : { status: 'failed', reason: data.failure }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

/**
 * Serves visitors in a worker process until the signal aborts. A start failure is sent to the
 * primary, which reports it.
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
  const onRequested: OnRequested = self === undefined ? () => undefined : reportToPrimary(self)
  const starting = startWebServer({
    ...serving,
    networks: self && reportNetworkBytes(self),
    isReady: () => state.isWalked,
    onRequested,
  })
  const server = await starting.catch((error: unknown) => {
    if (!isAppError(error)) throw error
    notify({ failure: error.message })
  })
  if (server === undefined) return
  notify({ url: server.url })
  if (!io.signal.aborted) await once(io.signal, 'abort')
  await server.close()
}
