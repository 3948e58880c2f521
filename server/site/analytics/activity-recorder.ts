// Counts events in memory and writes them to disk about every second. Never throws and never delays
// a request.
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../base/errors.ts'
import type { CountedEvent } from '../../../shared/contract.ts'
import { countOf } from './activity-count.ts'
import type { ActivityCount, IsKnownSubject } from './activity-count.ts'
import { openActivityStore } from './activity-store.ts'
import type { ActivityStore, DailyCount } from './activity-store.ts'

export interface RecorderOptions {
  /** Path of the SQLite file, opened with the first write. */
  path: string
  isKnownSubject: IsKnownSubject
  /** Milliseconds since 1970. */
  now: () => number
  /** Called once when writing starts to fail, and again only after it has worked in between. */
  onFailure: (error: unknown) => void
}

const FLUSH_MS = 1000
/** With this many distinct counters they are written at once; writing as many takes about 10 ms. */
const FLUSH_COUNT = 500
/** Pause between two writes, in which requests are served. */
const NEXT_FLUSH_MS = 20
/** Most distinct counters in memory while writing fails; further ones are dropped. */
const MAX_WAITING = 20_000
/** Attempts while another process holds the lock. */
const PATIENCE = 30
const LAST_TRIES = 20
const LAST_PAUSE_MS = 50

/** Call `close` at the end: it writes the remaining counters. */
export class ActivityRecorder {
  readonly #options: RecorderOptions
  readonly #waiting = new Map<string, DailyCount>()
  #store: ActivityStore | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #wasReported = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Counts one event for today (UTC). */
  readonly record = (event: CountedEvent): void => {
    const count = this.#countOf(event)
    if (count === undefined || count.amount === 0) return
    this.#add({ ...count, day: new Date(this.#options.now()).toISOString().slice(0, 10) })
    if (this.#waiting.size >= FLUSH_COUNT && this.#failures === 0) this.#flush()
    else this.#wake(FLUSH_MS)
  }

  /** Writes the remaining counters, with retries while other processes do the same. */
  async close(): Promise<void> {
    this.#failures = 0
    while (this.#waiting.size > 0 && this.#failures < LAST_TRIES) {
      this.#flush()
      if (this.#failures > 0) await sleep(LAST_PAUSE_MS)
    }
    clearTimeout(this.#timer)
    this.#store?.close()
    this.#store = undefined
  }

  #wake(afterMs: number): void {
    this.#timer ??= setTimeout(() => this.#flush(), afterMs).unref()
  }

  #countOf(event: CountedEvent): ActivityCount | undefined {
    try {
      return countOf(event, this.#options.isKnownSubject)
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }

  #add(count: DailyCount): void {
    const key = keyOf(count)
    const known = this.#waiting.get(key)
    if (known) known.amount += count.amount
    else if (this.#waiting.size < MAX_WAITING) this.#waiting.set(key, count)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      this.#store ??= openActivityStore(this.#options.path)
      const batch = [...this.#waiting.entries()].slice(0, FLUSH_COUNT)
      this.#store.add(batch.map(([, count]) => count))
      for (const [key] of batch) this.#waiting.delete(key)
      this.#failures = 0
      this.#wasReported = false
      if (this.#waiting.size > 0) this.#wake(NEXT_FLUSH_MS)
    } catch (error) {
      this.#failures += 1
      if (!codeOf(error).startsWith('SQLITE_BUSY') || this.#failures > PATIENCE) this.#report(error)
      this.#wake(FLUSH_MS)
    }
  }

  #report(error: unknown): void {
    if (!this.#wasReported) this.#options.onFailure(error)
    this.#wasReported = true
  }
}

function keyOf(count: ActivityCount & { day: string }): string {
  const { amount: _, ...names } = count
  return JSON.stringify(Object.values(names))
}
