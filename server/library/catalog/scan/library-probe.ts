// Whether this node can read the recordings: a node whose mount is missing, empty or hanging must
// neither scan nor inspect.
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError } from '../../../base/errors.ts'

export interface LibraryProbeOptions {
  /** Reads as little as possible. Rejects if the library cannot be read. */
  hasContent: () => Promise<boolean>
  /** Whether the catalog has recordings: then an empty library is more likely a missing mount. */
  isExpected: () => boolean
  /** Called with each change: the problem, undefined when there is none any more. */
  onChange: (problem: AppError | undefined) => void
}

/** A result is valid for this long. */
const FRESH_MS = 5000
/** How long `check` waits. */
const TIMEOUT_MS = 10_000
/** A library that fails for less time stays usable: another scan would begin with a full walk. */
const GRACE_MS = 15_000

export class LibraryProbe {
  readonly #options: LibraryProbeOptions
  #state: 'unknown' | 'usable' | 'hanging' | 'unusable' = 'unknown'
  #problem: AppError | undefined
  #atMs = -Infinity
  #failingSinceMs: number | undefined
  #running: Promise<void> | undefined
  /** From then on, an empty library is one whose recordings were deleted. */
  #hadContent = false

  constructor(options: LibraryProbeOptions) {
    this.#options = options
  }

  /** The result is at most half a minute old; false before the first one. */
  get isUsable(): boolean {
    void this.#refresh()
    this.#refuseOddlyEmpty()
    return this.#state === 'usable'
  }

  /** The same as of the last seconds. */
  get isReady(): boolean {
    return this.isUsable && this.#failingSinceMs === undefined
  }

  /** Whether it is usable and has had no recordings since the start of this process. */
  get isEmpty(): boolean {
    return this.isReady && !this.#hadContent
  }

  /** Why it is not usable. */
  get problem(): AppError | undefined {
    return this.#problem
  }

  /** Waits for a result at most for the time limit, and not at all while a call hangs. */
  async check(): Promise<boolean> {
    const running = this.#refresh()
    if (this.#state === 'hanging') return false
    try {
      await withTimeout(async () => running, { timeoutMs: TIMEOUT_MS })
    } catch {
      return false
    }
    return this.isReady
  }

  /** Never rejects. A call that hangs is the only one until it ends. */
  async #refresh(): Promise<void> {
    if (this.#running === undefined && performance.now() - this.#atMs < FRESH_MS) return
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    await this.#running
  }

  async #run(): Promise<void> {
    const startedMs = performance.now()
    const limit = setTimeout(() => {
      this.#change('hanging', new AppError('busy', 'the recordings do not respond'))
    }, GRACE_MS)
    limit.unref()
    try {
      const hasContent = await this.#options.hasContent()
      this.#hadContent ||= hasContent
      this.#failingSinceMs = undefined
      if (!this.#refuseOddlyEmpty()) this.#change('usable', undefined)
    } catch (cause) {
      this.#failingSinceMs ??= startedMs
      if (this.#state === 'usable' && startedMs - this.#failingSinceMs < GRACE_MS) return
      const message = 'the recordings cannot be read'
      this.#change(
        'unusable',
        cause instanceof AppError ? cause : new AppError('failed', message, { cause }),
      )
    } finally {
      clearTimeout(limit)
      this.#atMs = performance.now()
    }
  }

  /** Also between two results: the catalog of others arrives later than the first one. */
  #refuseOddlyEmpty(): boolean {
    if (this.#state === 'unknown' || this.#state === 'hanging') return false
    const isEmpty = !this.#hadContent && this.#failingSinceMs === undefined
    if (!isEmpty || !this.#options.isExpected()) return false
    const message = 'the library is empty although the catalog has recordings'
    this.#change('unusable', new AppError('failed', message))
    return true
  }

  #change(state: 'usable' | 'hanging' | 'unusable', problem: AppError | undefined): void {
    const hadProblem = this.#problem !== undefined
    this.#state = state
    this.#problem = problem
    if (hadProblem !== (problem !== undefined)) this.#options.onChange(problem)
  }
}
