// The scanner: walks the library, inspects new recordings, and follows changes until it is stopped.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SessionReference } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { limitCalls } from '../../../storage/recordings/limited-calls.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import type { CatalogWriter } from '../store/catalog-writer.ts'
import { Inspector } from './inspector.ts'
import type { Inspect } from './inspector.ts'
import type { Layout } from '../names/layout.ts'
import { TitleReader } from './title-reader.ts'
import type { ReadTitle } from './title-reader.ts'
import { UnmatchedCollector } from './unmatched.ts'
import type { UnmatchedRecordings } from './unmatched.ts'
import { walkLibrary } from './walk.ts'
import type { DueChanges, WalkOptions } from './walk.ts'
import { LibraryWatch } from './watch.ts'

export interface ScannerOptions {
  storage: Storage
  layout: Layout
  writer: CatalogWriter
  inspect: Inspect
  /** Reads the sidecars of a recording. Default: lists have no titles. */
  readTitle?: ReadTitle
  /** A file that has not changed for this long counts as finished. */
  settleSeconds: number
  /** Number of concurrent inspections; default 1. */
  concurrency?: number
  /** An inspection that takes longer counts as failed; default 10 minutes. */
  inspectionTimeoutMs?: number
  /** Interval of full rescans while changes are watched, to repair lost events; default 300. */
  rescanSeconds?: number
  /** Milliseconds since 1970; default the system clock. */
  now?: () => number
  pauses?: ScanPauses
  onProgress?: (progress: ScanProgress) => void
  onProblem?: (problem: ScanProblem) => void
}

/** How long the scanner waits before it repeats something, in milliseconds. */
export interface ScanPauses {
  /** After the library could not be read. */
  libraryRetryMs: number
  /** Pause after a failed write to the catalog. */
  catalogRetryMs: number
  /** Between full scans of a small library whose changes cannot be watched. */
  smallPollMs: number
  /** The same for a large library. */
  largePollMs: number
  /** Before watching is tried again. */
  watchRetryMs: number
  /** For watching to start before the first walk. */
  watchStartMs: number
}

/** Progress of a scan. */
export interface ScanProgress {
  /** Recordings found. */
  found: number
  /** Inspections finished since the scanner started. */
  done: number
  /** Finished inspections and pending recordings (some wait until they have settled). */
  total: number
}

/**
 * A problem for the operator; the scanner continues. `library`: cannot be read, the catalog stays
 * as it is; `folder`: cannot be read, its rows stay; `inspection`, `sidecar`: retried later;
 * `watch`: polled instead; `catalog`: cannot be written, retried later. `path` is a library path,
 * '' if there is none.
 */
export interface ScanProblem {
  kind: 'library' | 'folder' | 'inspection' | 'sidecar' | 'watch' | 'catalog'
  path: string
  error: unknown
}

const DEFAULT_PAUSES: ScanPauses = {
  libraryRetryMs: 5000,
  catalogRetryMs: 5000,
  smallPollMs: 5000,
  largePollMs: 60_000,
  watchRetryMs: 60_000,
  watchStartMs: 5000,
}
const SMALL_LIBRARY_RECORDINGS = 10_000
const DEFAULT_RESCAN_SECONDS = 300
const PROGRESS_INTERVAL_MS = 250

/** Does not run yet. */
export class Scanner {
  readonly #options: ScannerOptions
  readonly #now: () => number
  readonly #pauses: ScanPauses
  readonly #inspector: Inspector
  readonly #titles: TitleReader | undefined
  readonly #watch: LibraryWatch
  /** The storage of a walk, whose calls end with its signal. */
  readonly #storageUntil: (signal: AbortSignal) => Storage
  readonly #firstWalk = Promise.withResolvers<void>()
  #failedFolders: ReadonlySet<string> = new Set()
  #hasTrouble = false
  /** Whether the library has been seen with content. */
  #wasSeen = false
  #watchError: unknown
  #wasWatchReported = false
  #watchedAtMs = 0
  #unmatched: UnmatchedRecordings | undefined
  #found = 0
  #done = 0
  #progressAtMs = 0
  #progressTimer: NodeJS.Timeout | undefined

  constructor(options: ScannerOptions) {
    this.#options = options
    this.#storageUntil = limitCalls(options.storage)
    this.#now = options.now ?? Date.now
    this.#pauses = options.pauses ?? DEFAULT_PAUSES
    this.#inspector = new Inspector({
      writer: options.writer,
      inspect: options.inspect,
      concurrency: options.concurrency ?? 1,
      timeoutMs: options.inspectionTimeoutMs,
      now: this.#now,
      catalogRetryMs: this.#pauses.catalogRetryMs,
      onError: (path, error) => this.#report({ kind: 'inspection', path, error }),
      onCatalogError: (error) => this.#report({ kind: 'catalog', path: '', error }),
      onInspected: (count) => this.#countInspections(count),
    })
    const { readTitle } = options
    this.#titles =
      readTitle &&
      new TitleReader({
        writer: options.writer,
        readTitle,
        catalogRetryMs: this.#pauses.catalogRetryMs,
        onError: (path, error) => this.#report({ kind: 'sidecar', path, error }),
        onCatalogError: (error) => this.#report({ kind: 'catalog', path: '', error }),
      })
    this.#watch = new LibraryWatch({
      storage: options.storage,
      startMs: this.#pauses.watchStartMs,
      onEnded: (error) => {
        this.#watchError = error
      },
    })
  }

  /** Resolves when `run` has walked the library once, or failed to. */
  get firstWalk(): Promise<void> {
    return this.#firstWalk.promise
  }

  /** As of the last walk of the whole library; undefined before it. */
  get unmatched(): UnmatchedRecordings | undefined {
    return this.#unmatched
  }

  /** Moves a session's inspection to the front of the queue. */
  prioritise(session: SessionReference): void {
    this.#inspector.prioritise(session)
  }

  /**
   * Walks and inspects everything that is due, then resolves. Rejects if the library cannot be
   * read.
   */
  async scanOnce(signal: AbortSignal): Promise<void> {
    await this.#useLayout(signal)
    await this.#walk([''], signal)
    this.#inspector.open()
    try {
      const titles = this.#titles?.drain(signal)
      await Promise.all([this.#inspector.drain(signal), titles, this.#useZone(signal)])
      this.#reportProgress({ isLast: true })
    } finally {
      this.#stopProgressTimer()
    }
  }

  /**
   * Walks, inspects and follows changes until the signal aborts, then resolves. Survives every
   * error.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#useLayout(signal)
    try {
      await Promise.all([
        this.#inspector.run(signal),
        this.#titles?.run(signal),
        this.#follow(signal),
        this.#useZone(signal),
      ])
    } finally {
      this.#stopProgressTimer()
    }
  }

  async #useLayout(signal: AbortSignal): Promise<void> {
    const { writer, layout } = this.#options
    while (!signal.aborted && !writer.useLayout(layout.identity)) await nextTurn()
  }

  /** Beside the walk: a million recordings take a minute. */
  async #useZone(signal: AbortSignal): Promise<void> {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    try {
      while (!signal.aborted && !this.#options.writer.useZone(timeZone)) await nextTurn()
    } catch (error) {
      this.#report({ kind: 'catalog', path: '', error })
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      await this.#startWatching()
      // Otherwise changes from before the watch started would cause a second full walk.
      await this.#watch.begun(signal)
      await this.#tryWalk([''], signal)
      this.#inspector.open()
      this.#firstWalk.resolve()
      while (!signal.aborted) {
        const folders = await this.#watch.next(() => this.#pauseMs(), signal)
        await this.#tryWalk(folders, signal)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.#firstWalk.resolve()
      await this.#watch.stop()
    }
  }

  /** Walks the folders. Reports a failure once until a walk of the whole library succeeds. */
  async #tryWalk(folders: readonly string[], signal: AbortSignal): Promise<void> {
    const hadTrouble = this.#hasTrouble
    const round = hadTrouble ? [''] : folders
    try {
      await this.#walk(round, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#hasTrouble = true
      // Storage throws only AppErrors; everything else comes from the database.
      const kind = error instanceof AppError ? 'library' : 'catalog'
      if (!hadTrouble) this.#report({ kind, path: '', error })
      return
    }
    this.#hasTrouble = false
    // After a failure, the watched folders may have been replaced.
    if (hadTrouble || (round.includes('') && this.#isTimeToWatch())) await this.#startWatching()
    else this.#reportWatchEnded()
  }

  async #walk(folders: readonly string[], signal: AbortSignal): Promise<void> {
    const { writer } = this.#options
    const failed = new Map<string, unknown>()
    const storage = this.#storageUntil(signal)
    const options = { ...this.#walkOptions(failed), storage }
    const isWhole = folders.includes('')
    const unmatched = isWhole ? new UnmatchedCollector() : undefined
    const changes = this.#dueChanges(options, signal)
    await this.#walkEach(folders, { ...options, changes, unmatched }, signal)
    this.#unmatched = (await unmatched?.finish(storage, signal)) ?? this.#unmatched
    this.#reportFailedFolders(failed, isWhole)
    this.#found = writer.countRecordings()
    this.#wasSeen ||= isWhole && this.#found > 0
    this.#reportProgress({ isLast: true })
  }

  async #walkEach(
    folders: readonly string[],
    options: WalkOptions,
    signal: AbortSignal,
  ): Promise<void> {
    let hasChanged = false
    for (const folder of folders) {
      const unmatched = folder === '' ? options.unmatched : undefined
      hasChanged = (await walkLibrary(folder, { ...options, unmatched }, signal)) || hasChanged
    }
    if (!hasChanged) return
    this.#inspector.refresh()
    this.#titles?.refresh()
  }

  /**
   * Changed folders take precedence over the rest of a walk, which then gets at least as much time
   * as they took.
   */
  #dueChanges(options: WalkOptions, signal: AbortSignal): DueChanges {
    let notBeforeMs = 0
    return {
      areDue: () => this.#watch.isDue && performance.now() >= notBeforeMs,
      walk: async () => {
        const startedMs = performance.now()
        await this.#walkEach(this.#watch.take(), options, signal)
        const endedMs = performance.now()
        notBeforeMs = endedMs + (endedMs - startedMs)
      },
    }
  }

  #walkOptions(failed: Map<string, unknown>): Omit<WalkOptions, 'storage'> {
    const { layout, writer, settleSeconds } = this.#options
    return {
      layout,
      writer,
      settleMs: Math.round(settleSeconds * 1000),
      mayBeEmpty: this.#wasSeen,
      now: this.#now,
      onFolderError: (folder, error) => failed.set(folder, error),
      onFound: (recordings) => {
        this.#found = Math.max(this.#found, recordings)
        this.#reportProgress({ isLast: false })
      },
    }
  }

  /** Reports each unreadable folder once, until a full walk can read it again. */
  #reportFailedFolders(failed: ReadonlyMap<string, unknown>, wasWhole: boolean): void {
    for (const [path, error] of failed) {
      if (!this.#failedFolders.has(path)) this.#report({ kind: 'folder', path, error })
    }
    this.#failedFolders = new Set(
      wasWhole ? failed.keys() : [...this.#failedFolders, ...failed.keys()],
    )
  }

  async #startWatching(): Promise<void> {
    this.#watchedAtMs = performance.now()
    this.#watchError = undefined
    await this.#watch.start()
  }

  #isTimeToWatch(): boolean {
    return !this.#watch.isOn && performance.now() - this.#watchedAtMs > this.#pauses.watchRetryMs
  }

  /**
   * Reported only after a successful walk: a missing library cannot be watched either, and is
   * reported itself.
   */
  #reportWatchEnded(): void {
    if (this.#watchError === undefined || this.#wasWatchReported) return
    this.#wasWatchReported = true
    this.#report({ kind: 'watch', path: '', error: this.#watchError })
  }

  /** How long to wait for a change before the next full walk. */
  #pauseMs(): number {
    if (this.#hasTrouble) return this.#pauses.libraryRetryMs
    if (this.#watch.isOn) return (this.#options.rescanSeconds ?? DEFAULT_RESCAN_SECONDS) * 1000
    const { smallPollMs, largePollMs } = this.#pauses
    return this.#found < SMALL_LIBRARY_RECORDINGS ? smallPollMs : largePollMs
  }

  #countInspections(count: number): void {
    this.#done += count
    this.#reportProgress({ isLast: false })
  }

  #reportProgress({ isLast }: { isLast: boolean }): void {
    const { onProgress, writer } = this.#options
    if (!onProgress) return
    const nowMs = performance.now()
    const waitMs = isLast ? 0 : this.#progressAtMs + PROGRESS_INTERVAL_MS - nowMs
    if (waitMs > 0) {
      // The end of the last inspection is reported, too.
      this.#progressTimer ??= setTimeout(() => this.#tryReportProgress(), waitMs)
      return
    }
    this.#stopProgressTimer()
    this.#progressAtMs = nowMs
    onProgress({ found: this.#found, done: this.#done, total: this.#done + writer.countPending() })
  }

  #tryReportProgress(): void {
    try {
      this.#reportProgress({ isLast: true })
    } catch (error) {
      this.#stopProgressTimer()
      this.#report({ kind: 'catalog', path: '', error })
    }
  }

  #stopProgressTimer(): void {
    clearTimeout(this.#progressTimer)
    this.#progressTimer = undefined
  }

  #report(problem: ScanProblem): void {
    this.#options.onProblem?.(problem)
  }
}
