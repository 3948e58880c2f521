// A position in a run-length table (count, value), such as stts and ctts (ISO/IEC 14496-12 8.6.1).
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { MAX_EMPTY_RUNS } from '../mp4-limits.ts'
import { checkLimit } from '../../../base/errors.ts'
import type { Table } from './sample-tables.ts'
import { TableReader } from './table-reader.ts'

/**
 * Advances through the runs. The next `left` samples have the current `value`; after the last run,
 * all have 0.
 */
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

  /** Call once, before any other method. */
  async open(): Promise<void> {
    await this.#reader.load(0)
    this.#enter()
    await this.advance()
  }

  /** Consumes `count` samples of the current run (at most `left`). */
  consume(count: number): void {
    this.used += count
    this.left -= count
  }

  /**
   * Advances to the next non-empty run, as far as possible without a read; returns whether it got
   * there.
   */
  advanceBuffered(): boolean {
    while (this.left === 0) {
      const next = this.run + 1
      if (next < this.#reader.table.count && !this.#reader.has(next)) return false
      this.run = next
      this.used = 0
      this.#enter()
    }
    return true
  }

  /** Advances to the next non-empty run, with reads if necessary. */
  async advance(): Promise<void> {
    while (!this.advanceBuffered()) await this.#reader.load(this.run + 1)
  }

  /**
   * Words (count, value) of the buffered runs after the current one, for a fast loop over short
   * runs. `skipRuns` then takes the number of runs consumed.
   */
  bufferedRuns(): Uint32Array {
    const { words, from, to } = this.#reader
    return words.subarray((this.run + 1 - from) * 2, (to - from) * 2)
  }

  /** Skips `count` of the buffered runs, all consumed completely. */
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
    checkLimit('empty-table-runs', MAX_EMPTY_RUNS, this.#emptyRuns)
  }
}

/**
 * Ticks of an stts entry. Negative numbers, which 8.6.1.2 forbids, become 0: decode times never
 * decrease.
 */
export function durationTicks(value: number): number {
  return value < 2 ** 31 ? value : 0
}

/**
 * Ticks of a ctts entry, always as a signed number: version 0 is unsigned in 8.6.1.3, but files use
 * it with negative offsets, and no real offset is that large. Beyond `maxTicks` in either direction
 * it is corrupt and counts as 0.
 */
export function compositionTicks(value: number, maxTicks: number): number {
  const ticks = value | 0
  return ticks <= maxTicks && ticks >= -maxTicks ? ticks : 0
}
