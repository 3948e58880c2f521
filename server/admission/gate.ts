// Admission to a resource of the process: what fits is admitted, some more waits, the rest is
// refused.
import { AppError } from '../errors.ts'

export interface GateBounds {
  /** Sum of the costs that are admitted at once. */
  limit: number
  /** Entries that may wait. */
  waiting: number
  /** Longest wait. Default unlimited: the entries before it have limits of their own. */
  waitMs?: number
  /** Message of the `busy` error. */
  busyMessage: string
}

export interface GateFigures {
  /** Sum of the admitted costs. */
  used: number
  /** Entries that wait. */
  waiting: number
  /** Entries so far. */
  admitted: number
  /** Entries so far that were refused, or waited too long. */
  refused: number
}

/** Gives back what was admitted. Later calls do nothing. */
export type Release = () => void

interface Waiting {
  cost: number
  admit: () => void
}

/** First in, first out: a large cost is not overtaken by smaller ones. */
export class Gate {
  readonly #bounds: GateBounds
  readonly #queue: Waiting[] = []
  #used = 0
  #admitted = 0
  #refused = 0

  constructor(bounds: GateBounds) {
    this.#bounds = bounds
  }

  get figures(): GateFigures {
    const { length: waiting } = this.#queue
    return { used: this.#used, waiting, admitted: this.#admitted, refused: this.#refused }
  }

  /**
   * Waits for admission. A cost above the limit counts as the limit.
   *
   * @throws AppError `busy` if too many wait, or after the time limit; the signal's reason
   */
  async enter(signal: AbortSignal, cost = 1): Promise<Release> {
    signal.throwIfAborted()
    const charged = Math.min(cost, this.#bounds.limit)
    if (this.#queue.length > 0 || !this.#fits(charged)) await this.#wait(charged, signal)
    else this.#used += charged
    this.#admitted += 1
    return this.#releaseOf(charged)
  }

  /** Runs work while it is admitted. @throws as `enter`, and what the work throws */
  async run<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const release = await this.enter(signal)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** Counts a cost of something that was admitted already, even above the limit. */
  add(cost: number): Release {
    this.#used += cost
    return this.#releaseOf(cost)
  }

  #fits(cost: number): boolean {
    return this.#used + cost <= this.#bounds.limit
  }

  /** Resolves when the cost is charged. */
  #wait(cost: number, signal: AbortSignal): Promise<void> {
    const { waiting, waitMs } = this.#bounds
    if (this.#queue.length >= waiting) throw this.#refuse()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = new AbortController()
    const entry: Waiting = { cost, admit: resolve }
    const leave = (reason: () => unknown): void => {
      const position = this.#queue.indexOf(entry)
      if (position === -1) return
      this.#queue.splice(position, 1)
      reject(reason())
      // It may have been too large, and smaller ones are next.
      this.#admitWaiting()
    }
    signal.addEventListener('abort', () => leave(() => signal.reason), { signal: stop.signal })
    const timer =
      waitMs === undefined ? undefined : setTimeout(() => leave(() => this.#refuse()), waitMs)
    this.#queue.push(entry)
    return promise.finally(() => {
      clearTimeout(timer)
      stop.abort()
    })
  }

  #refuse(): AppError {
    this.#refused += 1
    return new AppError('busy', this.#bounds.busyMessage)
  }

  #releaseOf(cost: number): Release {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#used -= cost
      this.#admitWaiting()
    }
  }

  #admitWaiting(): void {
    for (;;) {
      const next = this.#queue[0]
      if (next === undefined || !this.#fits(next.cost)) return
      this.#queue.shift()
      this.#used += next.cost
      next.admit()
    }
  }
}
