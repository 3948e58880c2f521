// A position in a table of runs (count, value), as stts and ctts are (ISO/IEC 14496-12 8.6.1).
import type { OpenFile } from '../../storage/storage.ts'
import { AppError } from '../../errors.ts'
import { MAX_EMPTY_RUNS } from './mp4-limits.ts'
import type { Table } from './sample-tables.ts'
import { type ReadPlan, TableReader } from './table-reader.ts'

/** Where a cursor starts: a run, and how many of its samples come before. */
export interface RunPlan extends ReadPlan {
  used: number
}

/** Steps through runs. `left` samples have the current `value`; behind the last run all have 0. */
export class RunCursor {
  run: number
  used: number
  left = 0
  value = 0
  #emptyRuns = 0
  readonly #reader: TableReader

  constructor(file: OpenFile, table: Table, plan: RunPlan) {
    this.#reader = new TableReader(file, table, plan)
    this.run = plan.from
    this.used = plan.used
  }

  /** Must be called once, before anything else. */
  async open(): Promise<void> {
    await this.#reader.load(this.run)
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

  #enter(): void {
    if (this.run >= this.#reader.table.count) {
      this.left = Infinity
      this.value = 0
      return
    }
    const count = this.#reader.field(this.run, 0)
    this.left = Math.max(count - this.used, 0)
    this.value = this.#reader.field(this.run, 1)
    if (count === 0) this.#emptyRuns += 1
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
