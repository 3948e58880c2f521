// Third pass of a scan: reads the sidecars of listed recordings for titles in lists, newest first.
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { CatalogWriter, RecordingTitle, UntitledRecording } from '../store/catalog-writer.ts'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { createWakeSignal } from '../../../base/admission/wake-signal.ts'

/** Reads the sidecars of one recording. Rejects only while storage is unavailable. */
export type ReadTitle = (
  recording: Pick<UntitledRecording, 'path' | 'kind'>,
  signal: AbortSignal,
) => Promise<RecordingTitle>

export interface TitleReaderOptions {
  writer: CatalogWriter
  readTitle: ReadTitle
  /** How long after a failed write the catalog is tried again. */
  catalogRetryMs: number
  /** Sidecars could not be read; they are read again later. */
  onError: (path: string, error: unknown) => void
  /** Titles could not be written, or the queue could not be read. */
  onCatalogError: (error: unknown) => void
}

/** Recordings whose sidecars are read at once, and written in one transaction. */
const BATCH_SIZE = 16
/** A file that changed after the walk has another signature until the next walk. */
const RETRY_MS = 5000
const MAX_SLEEP_MS = 60_000
const TIMEOUT_MS = 60_000

export class TitleReader {
  readonly #options: TitleReaderOptions
  readonly #wakeSignal = createWakeSignal()
  /** Recordings that were read, but are still in the queue, and until when they rest. */
  readonly #resting = new Map<number, number>()

  constructor(options: TitleReaderOptions) {
    this.#options = options
  }

  /** Signals that recordings may have new sidecars. */
  refresh(): void {
    this.#resting.clear()
    this.#wakeSignal.ring()
  }

  /** Reads all sidecars that are due, then resolves. Rejects when the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    while (await this.#readBatch(signal));
  }

  /** Reads sidecars as they change, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.drain(signal)
        await this.#wakeSignal.wait(this.#resting.size > 0 ? RETRY_MS : MAX_SLEEP_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#options.onCatalogError(error)
        const { catalogRetryMs } = this.#options
        await sleep(catalogRetryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** Returns whether there may be more. */
  async #readBatch(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    const { writer } = this.#options
    const batch = this.#due()
    const read = await Promise.all(batch.map(async (recording) => this.#read(recording, signal)))
    const titles = read.filter((title) => title !== undefined)
    if (titles.length > 0) writer.recordTitles(titles)
    return batch.length > 0
  }

  #due(): UntitledRecording[] {
    const now = performance.now()
    for (const [id, untilMs] of this.#resting) if (untilMs <= now) this.#resting.delete(id)
    return this.#options.writer
      .untitled(BATCH_SIZE + this.#resting.size)
      .filter(({ id }) => !this.#resting.has(id))
      .slice(0, BATCH_SIZE)
  }

  async #read(recording: UntitledRecording, signal: AbortSignal) {
    const { id, path, kind, sidecars } = recording
    try {
      const { readTitle } = this.#options
      const limit = { timeoutMs: TIMEOUT_MS, reason: noResponse, signal }
      const read = await withTimeout(async (attempt) => readTitle({ path, kind }, attempt), limit)
      // Otherwise the recording leaves the queue.
      if (read.sidecars !== sidecars) this.#rest(id)
      return { id, ...read }
    } catch (error) {
      signal.throwIfAborted()
      if (!isAppError(error)) throw error
      this.#rest(id)
      this.#options.onError(path, error)
      return undefined
    }
  }

  #rest(id: number): void {
    this.#resting.set(id, performance.now() + RETRY_MS)
  }
}

function noResponse(): AppError {
  return new AppError('busy', 'the sidecars do not respond')
}
