// Turns storage's change events into batches of folders to walk, debounced, with a full walk at
// intervals. A full walk polls for changes in between.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Storage } from '../../../storage/recordings/storage.ts'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { createWakeSignal } from '../../../base/admission/wake-signal.ts'

/** A batch starts when nothing has changed for this long, */
const QUIET_MS = 300
/** at the latest this long after its first change. */
const MAX_WAIT_MS = 1000
/** More changed folders than this count as a change of the whole library. */
const MAX_FOLDERS = 1000
const STOP_MS = 2000

export interface LibraryWatchOptions {
  storage: Storage
  /** If watching takes longer to start, the library is walked meanwhile. */
  startMs: number
  /** Watching is not possible, or ended by itself. */
  onEnded: (error: unknown) => void
}

/** Watches a library, and collects changed folders. */
export class LibraryWatch {
  readonly #options: LibraryWatchOptions
  readonly #wakeSignal = createWakeSignal()
  readonly #changed = new Set<string>()
  #hasAllChanged = false
  #firstChangeMs = 0
  #lastChangeMs = 0
  #isOn = false
  #stop = new AbortController()
  #begun: Promise<void> = Promise.resolve()
  #ended: Promise<void> = Promise.resolve()

  constructor(options: LibraryWatchOptions) {
    this.#options = options
  }

  /** Whether changes are being reported; otherwise the library must be polled. */
  get isOn(): boolean {
    return this.#isOn
  }

  /** Starts watching, or restarts it: the watched folder may have been replaced. */
  async start(): Promise<void> {
    await this.stop()
    this.#stop = new AbortController()
    this.#isOn = true
    const begun = Promise.withResolvers<void>()
    this.#begun = begun.promise
    this.#ended = this.#watch(begun.resolve, this.#stop.signal).finally(begun.resolve)
  }

  /**
   * Resolves when changes are reported, when they cannot be, or after a time limit. A full walk
   * that starts afterwards covers all earlier changes, unless watching starts later.
   */
  async begun(signal: AbortSignal): Promise<void> {
    const isLate = sleep(this.#options.startMs, true, { signal, ref: false })
    const hasBegun = this.#begun.then(() => false)
    if (!(await Promise.race([isLate, hasBegun]))) this.#hasAllChanged = false
  }

  /** Stops watching; resolves when storage has released its resources, unless that hangs. */
  async stop(): Promise<void> {
    this.#stop.abort()
    const limit = { timeoutMs: STOP_MS }
    await withTimeout(async () => this.#ended, limit).catch(() => undefined)
  }

  /**
   * Resolves with the folders to walk next: changed folders after the debounce time, then all ('')
   * if anything may have changed. Also resolves with all when nothing has changed for
   * `timeoutMs()`, which is evaluated again when watching starts or ends.
   */
  async next(timeoutMs: () => number, signal: AbortSignal): Promise<string[]> {
    const startMs = performance.now()
    while (this.#changed.size === 0 && !this.#hasAllChanged) {
      const leftMs = startMs + timeoutMs() - performance.now()
      if (leftMs <= 0) return ['']
      await this.#wakeSignal.wait(leftMs, signal)
    }
    for (let leftMs = this.#quietInMs(); leftMs > 0; leftMs = this.#quietInMs()) {
      await this.#wakeSignal.wait(leftMs, signal)
    }
    const all = this.#hasAllChanged ? [''] : []
    this.#hasAllChanged = false
    return [...this.take(), ...all]
  }

  /** Whether there are changed folders past their debounce time. */
  get isDue(): boolean {
    return this.#changed.size > 0 && this.#quietInMs() <= 0
  }

  /** Takes the changed folders to walk now. A change of the whole library is left to `next`. */
  take(): string[] {
    const folders = outermost(this.#changed)
    this.#changed.clear()
    return folders
  }

  async #watch(onBegun: () => void, signal: AbortSignal): Promise<void> {
    const notify = (folder: string): void => {
      this.#note(folder)
      onBegun()
    }
    try {
      await this.#options.storage.watch(notify, signal)
    } catch (error) {
      this.#options.onEnded(error)
    }
    this.#isOn = false
    // Changes since watching ended are unknown.
    if (!signal.aborted) this.#note('')
  }

  #note(folder: string): void {
    this.#lastChangeMs = performance.now()
    const isFirst = this.#changed.size === 0 && (folder !== '' || !this.#hasAllChanged)
    if (isFirst) this.#firstChangeMs = this.#lastChangeMs
    if (folder === '' || this.#changed.size >= MAX_FOLDERS) this.#hasAllChanged = true
    else this.#changed.add(folder)
    this.#wakeSignal.ring()
  }

  #quietInMs(): number {
    const quietMs = Math.min(this.#lastChangeMs + QUIET_MS, this.#firstChangeMs + MAX_WAIT_MS)
    return quietMs - performance.now()
  }
}

/** Folders that have no ancestor in the set, except the root. */
function outermost(folders: ReadonlySet<string>): string[] {
  return [...folders].filter((folder) => {
    for (let end = folder.lastIndexOf('/'); end > 0; end = folder.lastIndexOf('/', end - 1)) {
      if (folders.has(folder.slice(0, end))) return false
    }
    return true
  })
}
