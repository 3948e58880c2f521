// The scanner: walks the library, inspects what is new, and follows changes until it is told to stop.
import type { SessionReference } from '../../../shared/paths.ts'
import { AppError } from '../../errors.ts'
import type { Storage } from '../../storage/storage.ts'
import type { CatalogWriter } from '../store/catalog-writer.ts'
import { Inspector } from './inspector.ts'
import type { Inspect } from './inspector.ts'
import type { Layout } from '../names/layout.ts'
import { walkLibrary } from './walk.ts'
import type { DueChanges, WalkOptions } from './walk.ts'
import { LibraryWatch } from './watch.ts'

export interface ScannerOptions {
  storage: Storage
  layout: Layout
  writer: CatalogWriter
  inspect: Inspect
  /** A file that has not changed for so long counts as finished. */
  settleSeconds: number
  /** Recordings inspected at once; default 1. */
  concurrency?: number
  /** Full rescans while changes are watched, which repair lost events; default 300. */
  rescanSeconds?: number
  /** Milliseconds since 1970; default the system's clock. */
  now?: () => number
  onProgress?: (progress: ScanProgress) => void
  onProblem?: (problem: ScanProblem) => void
}

/** How far a scan is. */
export interface ScanProgress {
  /** Recordings found. */
  found: number
  /** Inspections done since the scanner began. */
  done: number
  /** Inspections done, and recordings that wait for one (some until they have settled). */
  total: number
}

/**
 * What an operator may want to know; the scanner goes on. `library`: it cannot be read, the catalog is kept; `folder`:
 * it cannot be read, its rows are kept; `inspection`: tried again later; `watch`: polled instead; `catalog`: it
 * cannot be written, tried again later. `path` is a library path, '' where there is none.
 */
export interface ScanProblem {
  kind: 'library' | 'folder' | 'inspection' | 'watch' | 'catalog'
  path: string
  error: unknown
}

/** While the library cannot be read, it is tried again so often. */
const TROUBLE_RETRY_MS = 5000
/** Where changes cannot be watched: small libraries are walked often, large ones seldom. */
const SMALL_LIBRARY_RECORDINGS = 10_000
const SMALL_POLL_MS = 5000
const LARGE_POLL_MS = 60_000
/** Where watching is not possible or ended, it is tried again so often. */
const WATCH_RETRY_MS = 60_000
const DEFAULT_RESCAN_SECONDS = 300
const PROGRESS_INTERVAL_MS = 250

/** A scanner that has not begun. */
export function createScanner(options: ScannerOptions): Scanner {
  return new Scanner(options)
}

export class Scanner {
  readonly #options: ScannerOptions
  readonly #now: () => number
  readonly #inspector: Inspector
  readonly #watch: LibraryWatch
  readonly #firstWalk = Promise.withResolvers<void>()
  #failedFolders: ReadonlySet<string> = new Set()
  #hasTrouble = false
  /** Whether the library was met with something in it. */
  #wasSeen = false
  #watchError: unknown
  #wasWatchTold = false
  #watchedAtMs = 0
  #found = 0
  #done = 0
  #progressAtMs = 0

  constructor(options: ScannerOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#inspector = new Inspector({
      writer: options.writer,
      inspect: options.inspect,
      concurrency: options.concurrency ?? 1,
      now: this.#now,
      onError: (path, error) => this.#tell({ kind: 'inspection', path, error }),
      onCatalogError: (error) => this.#tell({ kind: 'catalog', path: '', error }),
      onInspected: (count) => this.#countInspections(count),
    })
    this.#watch = new LibraryWatch({
      storage: options.storage,
      onEnded: (error) => {
        this.#watchError = error
      },
    })
  }

  /** Resolves when `run` has walked the library once, or found that it cannot. */
  get firstWalk(): Promise<void> {
    return this.#firstWalk.promise
  }

  /** Puts a session's inspection before all others. */
  prioritise(session: SessionReference): void {
    this.#inspector.prioritise(session)
  }

  /** Walks and inspects all that is due, then resolves. Rejects where the library cannot be read. */
  async scanOnce(signal: AbortSignal): Promise<void> {
    this.#options.writer.useLayout(this.#options.layout.identity)
    await this.#walk([''], signal)
    this.#inspector.open()
    await this.#inspector.drain(signal)
    this.#reportProgress({ isLast: true })
  }

  /** Walks, inspects and follows changes until the signal aborts; then resolves. No failure ends it. */
  async run(signal: AbortSignal): Promise<void> {
    this.#options.writer.useLayout(this.#options.layout.identity)
    await Promise.all([this.#inspector.run(signal), this.#follow(signal)])
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      await this.#startWatching()
      // else all would be walked once more, for what changed before it was watched
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

  /** Walks the folders; a failure is told once, until all of the library could be walked again. */
  async #tryWalk(folders: readonly string[], signal: AbortSignal): Promise<void> {
    const hadTrouble = this.#hasTrouble
    const round = hadTrouble ? [''] : folders
    try {
      await this.#walk(round, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#hasTrouble = true
      // Storage throws nothing but AppErrors; what is left is the database's.
      const kind = error instanceof AppError ? 'library' : 'catalog'
      if (!hadTrouble) this.#tell({ kind, path: '', error })
      return
    }
    this.#hasTrouble = false
    // after trouble, what was watched is not what is there now
    if (hadTrouble || (round.includes('') && this.#isTimeToWatch())) await this.#startWatching()
    else this.#tellWatchEnded()
  }

  async #walk(folders: readonly string[], signal: AbortSignal): Promise<void> {
    const { writer } = this.#options
    const failed = new Map<string, unknown>()
    const options = this.#walkOptions(failed)
    await this.#walkEach(
      folders,
      { ...options, changes: this.#dueChanges(options, signal) },
      signal,
    )
    this.#tellFailedFolders(failed, folders.includes(''))
    this.#found = writer.countRecordings()
    this.#wasSeen ||= folders.includes('') && this.#found > 0
    this.#reportProgress({ isLast: true })
  }

  async #walkEach(
    folders: readonly string[],
    options: WalkOptions,
    signal: AbortSignal,
  ): Promise<void> {
    let hasChanged = false
    for (const folder of folders) {
      hasChanged = (await walkLibrary(folder, options, signal)) || hasChanged
    }
    if (hasChanged) this.#inspector.refresh()
  }

  /** What is watched goes before the rest of a walk, which has at least as long in between as that took. */
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

  #walkOptions(failed: Map<string, unknown>): WalkOptions {
    const { storage, layout, writer, settleSeconds } = this.#options
    return {
      storage,
      layout,
      writer,
      settleMs: settleSeconds * 1000,
      mayBeEmpty: this.#wasSeen,
      now: this.#now,
      onFolderError: (folder, error) => failed.set(folder, error),
      onFound: (recordings) => {
        this.#found = Math.max(this.#found, recordings)
        this.#reportProgress({ isLast: false })
      },
    }
  }

  /** Each folder is told of once, until a whole walk could read it again. */
  #tellFailedFolders(failed: ReadonlyMap<string, unknown>, wasWhole: boolean): void {
    for (const [path, error] of failed) {
      if (!this.#failedFolders.has(path)) this.#tell({ kind: 'folder', path, error })
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
    return !this.#watch.isOn && performance.now() - this.#watchedAtMs > WATCH_RETRY_MS
  }

  /** Told after a walk that went well: a library that is not there cannot be watched either, and is told itself. */
  #tellWatchEnded(): void {
    if (this.#watchError === undefined || this.#wasWatchTold) return
    this.#wasWatchTold = true
    this.#tell({ kind: 'watch', path: '', error: this.#watchError })
  }

  /** How long to wait for a change before everything is walked again. */
  #pauseMs(): number {
    if (this.#hasTrouble) return TROUBLE_RETRY_MS
    if (this.#watch.isOn) return (this.#options.rescanSeconds ?? DEFAULT_RESCAN_SECONDS) * 1000
    return this.#found < SMALL_LIBRARY_RECORDINGS ? SMALL_POLL_MS : LARGE_POLL_MS
  }

  #countInspections(count: number): void {
    this.#done += count
    this.#reportProgress({ isLast: false })
  }

  #reportProgress({ isLast }: { isLast: boolean }): void {
    const { onProgress, writer } = this.#options
    const nowMs = performance.now()
    if (!onProgress || (!isLast && nowMs - this.#progressAtMs < PROGRESS_INTERVAL_MS)) return
    this.#progressAtMs = nowMs
    onProgress({ found: this.#found, done: this.#done, total: this.#done + writer.countPending() })
  }

  #tell(problem: ScanProblem): void {
    this.#options.onProblem?.(problem)
  }
}
