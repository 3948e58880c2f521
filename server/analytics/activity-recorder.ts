// Counts what visitors do: in memory at once, on disk about every second. It never throws and never holds up a request.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ActivityEvent } from '../../shared/contract.ts'
import { countOf } from './activity-count.ts'
import type { ActivityCount, KnowsSubject } from './activity-count.ts'
import { openActivityStore } from './activity-store.ts'
import type { ActivityStore, DailyCount } from './activity-store.ts'

export interface RecorderOptions {
  /** Path of the SQLite file; opened when there is first something to write. */
  path: string
  knows: KnowsSubject
  /** Milliseconds since 1970. */
  now: () => number
  /** Told once when writing begins to fail, and not again before it has worked in between. */
  onFailure: (error: unknown) => void
}

const FLUSH_MS = 1000
/** With so many distinct counters waiting they are written at once. */
const FLUSH_COUNT = 2000
/** Distinct counters that wait at most while writing fails; what comes on top is lost. */
const MAX_WAITING = 20_000
/** The file may be locked for a moment by another process; after so many tries it is no moment. */
const PATIENCE = 30
const LAST_TRIES = 20
const LAST_PAUSE_MS = 50

/** Call `close` at the end: it writes what still waits. */
export class ActivityRecorder {
  readonly #options: RecorderOptions
  readonly #waiting = new Map<string, DailyCount>()
  #store: ActivityStore | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Counts one event for today (UTC). */
  readonly record = (event: ActivityEvent): void => {
    const count = countOf(event, this.#options.knows)
    if (count === undefined || count.amount === 0) return
    this.#add({ ...count, day: new Date(this.#options.now()).toISOString().slice(0, 10) })
    if (this.#waiting.size >= FLUSH_COUNT && this.#failures === 0) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref()
  }

  /** Writes what waits, with some patience for other processes that do the same at the same moment. */
  async close(): Promise<void> {
    for (let tries = 0; tries < LAST_TRIES && this.#waiting.size > 0; tries += 1) {
      if (tries > 0) await sleep(LAST_PAUSE_MS)
      this.#flush()
    }
    clearTimeout(this.#timer)
    this.#store?.close()
    this.#store = undefined
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
      this.#store.add([...this.#waiting.values()])
      this.#waiting.clear()
      this.#failures = 0
    } catch (error) {
      this.#failures += 1
      if (this.#failures === (isBusy(error) ? PATIENCE : 1)) this.#options.onFailure(error)
      this.#timer = setTimeout(() => this.#flush(), FLUSH_MS).unref()
    }
  }
}

function keyOf(count: ActivityCount & { day: string }): string {
  const { amount: _, ...names } = count
  return JSON.stringify(Object.values(names))
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
