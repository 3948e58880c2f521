// Runs inspections, and reads recorders' playlists, chapters, and subtitle files, in a worker
// thread; a crash of the thread fails only the jobs it was running.
import { addAbortListener } from 'node:events'
import { Worker } from 'node:worker_threads'
import { AppError, UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import { separateRanges, tableBuffers } from '../../storage/recordings/range-list.ts'
import type { StorageLocation } from '../../storage/recordings/storage-location.ts'
import type { RecordedList } from '../recorded/read-recorded-folder.ts'
import type { InspectionFacts, inspectRecording } from './inspect-recording.ts'
import type { ReadSubtitles, SubtitleFile } from './read-subtitles.ts'
import type { RecordedChapters } from './recorded-chapters.ts'

export type ThreadRequest =
  | ({ kind: 'inspect'; id: number; path: string } & InspectionFacts)
  | { kind: 'playlist'; id: number; path: string; known: string | undefined }
  | { kind: 'chapters'; id: number; path: string }
  | { kind: 'subtitles'; id: number; file: SubtitleFile }
  | { kind: 'abort'; id: number }

export type ThreadResult = Awaited<ReturnType<typeof inspectRecording>>

/** What a job returned. */
export type ThreadOutcome =
  | { kind: 'inspection'; result: ThreadResult }
  | { kind: 'playlist'; list: RecordedList | 'unchanged' }
  | { kind: 'chapters'; recorded: RecordedChapters }
  | { kind: 'subtitles'; subtitles: ReadSubtitles }
  | { kind: 'unplayable'; reason: UnplayableReason }

export type ThreadReply =
  | { id: number; status: 'done'; outcome: ThreadOutcome }
  | { id: number; status: 'failed'; error: { message: string; stack: string; code: string } }

interface Job {
  startedMs: number
  resolve(outcome: ThreadOutcome): void
  reject(error: Error): void
}

type JobRequest = Exclude<ThreadRequest, { kind: 'abort' }>

/** Heap limit of the thread; readers hold tables of bounded size. */
const MAX_HEAP_MB = 256
/** Young generation limit, where garbage accumulates; the default is 192 MiB. */
const MAX_YOUNG_MB = 24

/** Inspects the recordings at one location off the event loop. Its thread starts when needed. */
export class IndexThread {
  readonly #location: StorageLocation
  readonly #jobs = new Map<number, Job>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(location: StorageLocation) {
    this.#location = location
  }

  /**
   * @throws AppError `not_found` (the file is gone), `gone` (a segment was replaced), `failed` or
   *   `busy` (it cannot be read), or the signal's reason
   */
  async inspect(
    path: string,
    signal: AbortSignal,
    { previous, ranges }: InspectionFacts = {},
  ): Promise<ThreadResult> {
    signal.throwIfAborted()
    const id = (this.#lastId += 1)
    using _aborting = addAbortListener(signal, () => {
      if (this.#worker !== undefined) this.#post(this.#worker, { kind: 'abort', id })
    })
    const own = ranges && separateRanges(ranges)
    const outcome = await this.#run({ kind: 'inspect', id, path, previous, ranges: own })
    if (outcome.kind === 'inspection') return outcome.result
    throw new AppError('failed', 'the recording was not inspected')
  }

  /** As `RecordedFolders.read`. */
  async readPlaylist(path: string, known: string | undefined): Promise<RecordedList | 'unchanged'> {
    const id = (this.#lastId += 1)
    const outcome = await this.#run({ kind: 'playlist', id, path, known })
    if (outcome.kind === 'unplayable') throw new UnplayableError(outcome.reason)
    if (outcome.kind === 'playlist') return outcome.list
    throw new AppError('failed', 'the playlist was not read')
  }

  /**
   * The chapters in the container of a recording.
   *
   * @throws AppError `not_found`, `busy`, `failed`, as `inspect`
   */
  async readChapters(path: string): Promise<RecordedChapters> {
    const id = (this.#lastId += 1)
    const outcome = await this.#run({ kind: 'chapters', id, path })
    if (outcome.kind === 'chapters') return outcome.recorded
    throw new AppError('failed', 'the chapters were not read')
  }

  /** As `readSubtitles`. */
  async readSubtitles(file: SubtitleFile): Promise<ReadSubtitles> {
    const id = (this.#lastId += 1)
    const outcome = await this.#run({ kind: 'subtitles', id, file })
    if (outcome.kind === 'subtitles') return outcome.subtitles
    throw new AppError('failed', 'the subtitles were not read')
  }

  async #run(request: JobRequest): Promise<ThreadOutcome> {
    const worker = (this.#worker ??= this.#start())
    const { id } = request
    try {
      return await new Promise((resolve, reject) => {
        this.#jobs.set(id, { startedMs: performance.now(), resolve, reject })
        worker.ref()
        this.#post(worker, request)
      })
    } finally {
      this.#jobs.delete(id)
      if (this.#jobs.size === 0) worker.unref()
    }
  }

  /** Jobs that run or wait, and how long the oldest of them has been under way. */
  get figures(): { jobs: number; oldestMs: number } {
    const [oldest] = this.#jobs.values()
    const oldestMs = oldest === undefined ? 0 : performance.now() - oldest.startedMs
    return { jobs: this.#jobs.size, oldestMs }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #post(worker: Worker, request: ThreadRequest): void {
    const ranges = request.kind === 'inspect' ? request.ranges : undefined
    worker.postMessage(request, ranges === undefined ? [] : tableBuffers(ranges.table))
  }

  #start(): Worker {
    const worker = new Worker(new URL(`./index-worker${sourceExtension()}`, import.meta.url), {
      workerData: { location: this.#location },
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: MAX_YOUNG_MB,
      },
    })
    worker.on('message', (reply: ThreadReply) => this.#finishJob(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('the index thread ended')))
    return worker
  }

  #finishJob(reply: ThreadReply): void {
    const job = this.#jobs.get(reply.id)
    if (reply.status === 'done') job?.resolve(reply.outcome)
    else job?.reject(restoreError(reply.error))
  }

  /** The next request starts a new thread. */
  #fail(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker && this.#worker !== undefined) return
    this.#worker = undefined
    for (const job of this.#jobs.values()) {
      job.reject(new AppError('failed', 'the recording could not be read', { cause }))
    }
    this.#jobs.clear()
  }
}

/** `.ts` when running from source, `.js` when built. */
function sourceExtension(): string {
  return import.meta.url.endsWith('.ts') ? '.ts' : '.js'
}

function restoreError({
  message,
  stack,
  code,
}: {
  message: string
  stack: string
  code: string
}): Error {
  const cause = new Error(message)
  cause.stack = stack
  if (code === 'not_found' || code === 'gone' || code === 'busy')
    return new AppError(code, message, { cause })
  return new AppError('failed', 'the recording could not be read', { cause })
}
