// A position in a table of runs (count, value), as stts and ctts are (ISO/IEC 14496-12 8.6.1).
import type { OpenFile } from '../../../storage/storage.ts'
import { AppError } from '../../../errors.ts'
import { MAX_EMPTY_RUNS } from '../mp4-limits.ts'
import type { Table } from './sample-tables.ts'
import { TableReader } from './table-reader.ts'

/** Steps through runs from the first on. `left` samples have the current `value`; behind the last run all have 0. */
export class RunCursor {
  run = 0
  used = 0
  left = 0
  value = 0
  #emptyRuns = 0
  readonly #reader: TableReader

  constructor(file: OpenFile, table: Table, signal: AbortSignal) {
    this.#reader = new TableReader(file, table, { expected: table.count, signal })
  }

  /** Must be called once, before anything else. */
  async open(): Promise<void> {
    await this.#reader.load(0)
    this.#enter()
    await this.settle()
  }

  /** Passes `count` samples of the current run (at most `left`). */
  pass(count: number): void {
    this.used += count
    this.left -= count
  }

  /** Goes on to the next run that is not empty, as far as that needs no read; answers whether it got there. */
  settleNow(): boolean {
    while (this.left === 0) {
      const next = this.run + 1
      if (next < this.#reader.table.count && !this.#reader.has(next)) return false
      this.run = next
      this.used = 0
      this.#enter()
    }
    return true
  }

  /** Goes on to the next run that is not empty, reading where needed. */
  async settle(): Promise<void> {
    while (!this.settleNow()) await this.#reader.load(this.run + 1)
  }

  /**
   * Words (count, value) of the runs behind the current one that are in view: for those who hurry through many
   * short runs. They call `skipRuns` with the number of runs they passed whole.
   */
  runsAhead(): Uint32Array {
    const { words, from, to } = this.#reader
    return words.subarray((this.run + 1 - from) * 2, (to - from) * 2)
  }

  /** Puts the cursor behind `count` runs of those ahead, all passed whole. */
  skipRuns(count: number): void {
    this.run += count
    this.left = 0
  }

  #enter(): void {
    if (this.run >= this.#reader.table.count) {
      this.left = Infinity
      this.value = 0
      return
    }
    this.left = this.#reader.field(this.run, 0)
    this.value = this.#reader.field(this.run, 1)
    if (this.left === 0) this.#emptyRuns += 1
    if (this.#emptyRuns > MAX_EMPTY_RUNS) {
      throw new AppError('unplayable', 'the file is damaged: a table of times is full of nothing')
    }
  }
}

/** Ticks of an stts entry. What is written as a negative number (against 8.6.1.2) counts as 0: decode times never run back. */
export function durationTicks(value: number): number {
  return value < 2 ** 31 ? value : 0
}

/** Ticks of a ctts entry. Version 0 is unsigned by 8.6.1.3, but negative offsets are found in it, and no real one is that large. */
export function compositionTicks(value: number): number {
  return value | 0
}
