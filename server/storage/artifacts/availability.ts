// Whether a shared store is worth a try: after a failure it is left alone for a while, so that it
// slows no request.
import { withTimeout } from '../../../shared/with-timeout.ts'
import type { TimeLimit } from '../../../shared/with-timeout.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

export type Attempt<Value> =
  | { status: 'done'; value: Value }
  | { status: 'failed'; error: unknown }
  /** It was not made. */
  | { status: 'paused' }

export interface AvailabilityOptions {
  /** Called once per pause, with the failure that began it. */
  onFailure: (error: unknown) => void
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/** After a pause, one attempt decides whether the next pause begins, of twice the length. */
export class Availability {
  readonly #options: AvailabilityOptions
  #failures = 0
  #pausedUntilMs = -Infinity
  #running = 0
  /** Attempts that ignore that their time is over, such as reads of a mount that hangs. */
  #overdue = 0

  constructor(options: AvailabilityOptions) {
    this.#options = options
  }

  /** Time until the next attempt may start. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#options.now())
  }

  /** Does nothing during a pause. Rejects only with the reason of the limit's signal. */
  async run<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    limit: TimeLimit,
  ): Promise<Attempt<Value>> {
    if (!this.#mayStart()) return { status: 'paused' }
    this.#running += 1
    try {
      const value = await this.#runInTime(work, limit)
      this.#failures = 0
      return { status: 'done', value }
    } catch (error) {
      limit.signal?.throwIfAborted()
      this.#noteFailure(error)
      return { status: 'failed', error }
    } finally {
      this.#running -= 1
    }
  }

  #mayStart(): boolean {
    if (this.#overdue > 0) return false
    return this.#failures === 0 || (this.#running === 0 && this.pauseMs === 0)
  }

  async #runInTime<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    limit: TimeLimit,
  ): Promise<Value> {
    let working: Promise<unknown> | undefined
    const settle = (): void => void (working = undefined)
    const start = async (signal: AbortSignal): Promise<Value> => {
      const promise = work(signal)
      working = promise.then(settle, settle)
      return promise
    }
    try {
      return await withTimeout(start, limit)
    } catch (error) {
      if (working !== undefined && limit.signal?.aborted !== true) this.#countOverdue(working)
      throw error
    }
  }

  #countOverdue(working: Promise<unknown>): void {
    this.#overdue += 1
    void working.then(() => (this.#overdue -= 1))
  }

  /** Attempts that ran at the same time fail for the same reason. */
  #noteFailure(error: unknown): void {
    if (this.pauseMs > 0) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    this.#failures += 1
    this.#pausedUntilMs = this.#options.now() + pauseMs
    this.#options.onFailure(error)
  }
}
