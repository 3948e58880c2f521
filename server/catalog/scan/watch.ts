// Turns storage's change events into rounds of folders to walk: gathered for a moment, and everything now and then.
// Whoever walks everything asks in between for what has changed meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Storage } from '../../storage/storage.ts'
import { createWakeSignal } from './wake-signal.ts'

/** A round begins when nothing has changed for so long, */
const QUIET_MS = 300
/** but at the latest so long after its first change. */
const MAX_WAIT_MS = 1000
/** More changed folders than this count as a change anywhere. */
const MAX_FOLDERS = 1000
/** A library whose folders take longer to be watched is walked beside that. */
const BEGUN_WITHIN_MS = 5000

export interface LibraryWatchOptions {
  storage: Storage
  /** Watching is not possible, or ended by itself. */
  onEnded: (error: unknown) => void
}

/** Watches a library while told to, and gathers what changed. */
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

  /** Whether changes are told; else the library must be polled. */
  get isOn(): boolean {
    return this.#isOn
  }

  /** Begins to watch, anew where it did already: what was watched may have been exchanged. */
  async start(): Promise<void> {
    await this.stop()
    this.#stop = new AbortController()
    this.#isOn = true
    const begun = Promise.withResolvers<void>()
    this.#begun = begun.promise
    this.#ended = this.#watch(begun.resolve, this.#stop.signal).finally(begun.resolve)
  }

  /**
   * Resolves when changes are told, or cannot be, or after a while. Whoever walks everything then need not do so again
   * for what changed before, unless watching begins later.
   */
  async begun(signal: AbortSignal): Promise<void> {
    const isLate = sleep(BEGUN_WITHIN_MS, true, { signal, ref: false })
    const hasBegun = this.#begun.then(() => false)
    if (!(await Promise.race([isLate, hasBegun]))) this.#hasAllChanged = false
  }

  /** Ends watching; resolves when storage has let go. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  /**
   * Resolves with the folders to walk next: those that changed, once they have been quiet for a moment, and behind them
   * all ('') where anything may have changed. All as well when nothing has changed for `timeoutMs()`, which is asked
   * again when watching begins or ends.
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

  /** Whether single folders have changed, and have been quiet for a moment. */
  get isDue(): boolean {
    return this.#changed.size > 0 && this.#quietInMs() <= 0
  }

  /** The single folders that have changed, to be walked now. That anything may have changed is left to `next`. */
  take(): string[] {
    const folders = outermost(this.#changed)
    this.#changed.clear()
    return folders
  }

  async #watch(onBegun: () => void, signal: AbortSignal): Promise<void> {
    const tell = (folder: string): void => {
      this.#note(folder)
      onBegun()
    }
    try {
      await this.#options.storage.watch(tell, signal)
    } catch (error) {
      this.#options.onEnded(error)
    }
    this.#isOn = false
    // whatever ended it, what happened since is not known
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

/** Folders of the set that lie in no other of the set; the root is not among them. */
function outermost(folders: ReadonlySet<string>): string[] {
  return [...folders].filter((folder) => {
    for (let end = folder.lastIndexOf('/'); end > 0; end = folder.lastIndexOf('/', end - 1)) {
      if (folders.has(folder.slice(0, end))) return false
    }
    return true
  })
}
