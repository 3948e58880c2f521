// Counts log lines by cause, so that a cause that repeats fills neither disk nor terminal.

export interface RepeatLimitOptions {
  intervalMs: number
  /** Monotonic, in milliseconds. */
  now: () => number
}

/** Whether a line is the first of its cause within the interval, another one, or too many. */
export type Repetition = 'first' | 'repeated' | 'excess'

/** Further causes count as one. */
const MAX_CAUSES = 200
const OTHER_CAUSES = 'other causes'

interface Interval {
  startMs: number
  lines: number
}

export class RepeatLimit {
  readonly #options: RepeatLimitOptions
  readonly #intervals = new Map<string, Interval>()

  constructor(options: RepeatLimitOptions) {
    this.#options = options
  }

  /** Counts one line; more than `maxLines` of one cause within an interval are in excess. */
  count(cause: string, maxLines: number): Repetition {
    const interval = this.#findOrStart(cause)
    interval.lines += 1
    if (interval.lines === 1) return 'first'
    return interval.lines <= maxLines ? 'repeated' : 'excess'
  }

  #findOrStart(cause: string): Interval {
    const nowMs = this.#options.now()
    if (!this.#intervals.has(cause) && this.#intervals.size >= MAX_CAUSES) this.#deleteEnded(nowMs)
    const isKnown = this.#intervals.has(cause) || this.#intervals.size < MAX_CAUSES
    const key = isKnown ? cause : OTHER_CAUSES
    const known = this.#intervals.get(key)
    if (known !== undefined && !this.#isEnded(known, nowMs)) return known
    const started = { startMs: nowMs, lines: 0 }
    this.#intervals.set(key, started)
    return started
  }

  #deleteEnded(nowMs: number): void {
    for (const [cause, interval] of this.#intervals) {
      if (this.#isEnded(interval, nowMs)) this.#intervals.delete(cause)
    }
  }

  #isEnded({ startMs }: Interval, nowMs: number): boolean {
    return nowMs - startMs >= this.#options.intervalMs
  }
}
