// The jobs that a node of a cluster runs: inspections, and thumbnails of what was inspected.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReference } from '../../../shared/paths.ts'
import { withTimeout } from '../../../shared/with-timeout.ts'
import type { LibraryProbe } from '../../library/catalog/scan/library-probe.ts'
import { parseFileName } from '../../stream/hls/playlist/segment-names.ts'
import { runForClient } from '../../base/admission/client.ts'
import { isAppError } from '../../base/errors.ts'
import type { JobQueues, NewJob, QueueFigures, QueueName } from '../../cluster/jobs/job-queues.ts'
import type {
  EncodeJob,
  EncodeOutcome,
  InspectionJob,
  InspectionJobOutcome,
} from '../../cluster/jobs/job-shapes.ts'
import { parseEncodeJob, parseSession } from '../../cluster/jobs/job-shapes.ts'
import { runInspections } from '../../cluster/jobs/run-inspections.ts'
import type { Inspected } from '../../cluster/jobs/run-inspections.ts'
import { runJobs } from '../../cluster/jobs/run-jobs.ts'
import type { JobRunnerOptions } from '../../cluster/jobs/run-jobs.ts'
import { inspectIn } from '../scanning.ts'
import type { Serving } from '../library.ts'

/** Below the limit of a job, after which another node runs it. */
export const INSPECTION_TIMEOUT_MS = 600_000
const FIGURES_EVERY_MS = 10_000
/** The format of images that most browsers request. */
const FORMAT = 'avif'

type Work = JobRunnerOptions['work']

type RunnerParts = Required<Pick<JobRunnerOptions, 'isReady'>> & { queues: JobQueues }

/** The jobs of one node. */
export interface NodeJobs {
  /** The queues of all nodes, a few seconds old. */
  figures(): ReadonlyMap<QueueName, QueueFigures>
  /** Runs jobs until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

export interface NodeJobsOptions {
  queues: JobQueues
  /** Whether this node can read the recordings. */
  probe: LibraryProbe
  /** What nodes that serve look for: this one encodes for them. Default it does not. */
  offer?: string | undefined
}

export function createNodeJobs(
  serving: Serving,
  { queues, probe, offer }: NodeJobsOptions,
): NodeJobs {
  const { library, logger } = serving
  let figures: ReadonlyMap<QueueName, QueueFigures> = new Map()
  const onFailed = (err: unknown): void => logger.warn({ err }, 'a job failed; it is repeated')
  const watchFigures = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      figures = await queues.figures().catch(() => new Map())
      await sleep(FIGURES_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return {
    figures: () => figures,
    async run(signal) {
      const inspect = inspectionWork(serving, queues, probe)
      const isReady = (): boolean => probe.isReady
      const running = [
        watchFigures(signal),
        runJobs(
          {
            queues,
            queue: 'inspections',
            concurrency: library.inspectionsAtOnce,
            work: inspect,
            isReady,
            onFailed,
          },
          signal,
        ),
      ]
      const { artifacts, hasDecoders } = library
      if (artifacts !== undefined && hasDecoders)
        running.push(runThumbnails(serving, { queues, isReady }, signal))
      if (offer !== undefined) {
        running.push(runEncodes(serving, { queues, isReady }, signal))
        running.push(offerEncodes(offer, { queues, isReady }, signal))
      }
      await Promise.all(running)
    },
  }
}

function inspectionWork(
  { library, logger }: Serving,
  queues: JobQueues,
  probe: LibraryProbe,
): Work {
  const inspect = inspectIn(library)

  const outcomeOf = async (
    job: InspectionJob,
    signal: AbortSignal,
  ): Promise<InspectionJobOutcome> => {
    const limit = { timeoutMs: INSPECTION_TIMEOUT_MS, signal }
    try {
      return await withTimeout(async (attempt) => inspect(job, attempt), limit)
    } catch (err) {
      signal.throwIfAborted()
      if (isAppError(err, 'not_found', 'gone')) {
        // Of a library that is missing, nothing is known to be gone: another node runs the job.
        if (!(await probe.check())) throw err
        return { status: 'gone' }
      }
      logger.warn({ err, path: job.path }, 'a recording could not be read; retrying later')
      return { status: 'failed' }
    }
  }

  const addThumbnails = async (inspected: readonly Inspected[]): Promise<void> => {
    const playable = inspected.filter(({ outcome }) => outcome.status === 'playable')
    if (playable.length === 0 || library.artifacts === undefined) return
    const jobs = playable.map(({ job }) => sessionJob(job.session))
    await queues.add('thumbnails', jobs)
  }

  const options = { queues, inspect: outcomeOf, onInspected: addThumbnails }
  return async (data, signal) => runInspections(data, options, signal)
}

/** Of visitors that wait: found sooner than other jobs. */
const ENCODE_PAUSES = { pollMs: 200, retryMs: 2000, extendMs: 3000 }
const CANCELLED_EVERY_MS = 500
const OFFER_EVERY_MS = 1000

/** Offers to encode while this node can read the recordings. Never rejects. */
async function offerEncodes(
  offer: string,
  { queues, isReady }: RunnerParts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const changed = isReady() ? queues.offer(offer) : queues.withdraw()
    await changed.catch(() => undefined)
    await sleep(OFFER_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  await queues.withdraw().catch(() => undefined)
}

/** Encodes what visitors of other nodes wait for, within the limits of this node. */
async function runEncodes(
  { library, config, logger }: Serving,
  { queues, isReady }: RunnerParts,
  signal: AbortSignal,
): Promise<void> {
  const encode = async (job: EncodeJob, attempt: AbortSignal): Promise<EncodeOutcome> => {
    const { version, name: fileName, session } = job
    const row = library.catalog.findSession(session)
    if (row === undefined) return { status: 'failed' }
    const name = parseFileName(fileName)
    const address = { version, name, signal: attempt, startPhase: () => () => undefined }
    try {
      const found = await library.sessions.openFile(row, address)
      await found.session.close()
      return { status: 'done' }
    } catch (error) {
      attempt.throwIfAborted()
      if (isAppError(error, 'busy')) return { status: 'busy' }
      logger.debug({ err: error }, 'a rendition was not encoded for another node')
      return { status: 'failed' }
    }
  }
  const work: Work = async (data, attempt, id) => {
    const job = parseEncodeJob(data)
    if (job === undefined) return { status: 'failed' }
    const cancelled = new AbortController()
    const watching = setInterval(() => {
      const isCancelled = queues.find('encodes', { id }).then((found) => found?.state !== 'active')
      isCancelled.then((is) => is && cancelled.abort()).catch(() => undefined)
    }, CANCELLED_EVERY_MS)
    try {
      const either = AbortSignal.any([attempt, cancelled.signal])
      return await runForClient(
        () => job.client,
        async () => encode(job, either),
      )
    } catch (error) {
      if (cancelled.signal.aborted) return { status: 'busy' }
      throw error
    } finally {
      clearInterval(watching)
    }
  }
  const onFailed = (err: unknown): void => logger.warn({ err }, 'an encode failed; it is repeated')
  const { concurrency } = config.renditions
  const pauses = ENCODE_PAUSES
  await runJobs({ queues, queue: 'encodes', concurrency, isReady, work, onFailed, pauses }, signal)
}

/** Rendered ahead where all nodes share the images. */
async function runThumbnails(
  serving: Serving,
  { queues, isReady }: RunnerParts,
  signal: AbortSignal,
): Promise<void> {
  // Loaded here, so that a node which renders nothing does not need the memory.
  const { openThumbnails } = await import('../thumbnails.ts')
  const { thumbnails, sources, close } = openThumbnails(serving)
  const work: Work = async (data, attempt) => {
    const session = parseSession(data)
    try {
      const source = session && (await sources.session(session, attempt))
      const image =
        source && (await thumbnails.session(source, { format: FORMAT, signal: attempt }))
      image?.release()
    } catch (error) {
      // Hidden, replaced or deleted meanwhile.
      if (!isAppError(error, 'not_found', 'gone', 'unplayable')) throw error
    }
  }
  const onFailed = (err: unknown): void =>
    serving.logger.debug({ err }, 'a thumbnail was not rendered')
  const jobs = { queues, queue: 'thumbnails', concurrency: 1, isReady, work, onFailed } as const
  await runJobs(jobs, signal)
  close()
}

/** A job for a session; its key keeps a second one out of the queue. */
export function sessionJob({ streamer, date, sessionId }: SessionReference): NewJob {
  const key = createHash('sha256').update(JSON.stringify([streamer, date, sessionId]))
  return { data: { streamer, date, sessionId }, key: key.digest('base64url') }
}
